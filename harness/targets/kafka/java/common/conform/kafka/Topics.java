package conform.kafka;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.metadata.PartitionRecord;
import org.apache.kafka.common.metadata.RemoveTopicRecord;
import org.apache.kafka.common.metadata.TopicRecord;
import org.apache.kafka.coordinator.group.Internals;
import org.apache.kafka.coordinator.group.Version;
import org.apache.kafka.coordinator.group.modern.ModernGroup;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.MetadataProvenance;
import org.apache.kafka.image.TopicImage;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiConsumer;

/**
 * The cluster's topics, and what the metadata was of which a group has recorded only a hash.
 *
 * Kafka keeps a hash of its subscribed topics' metadata. Which metadata that was is told by trying: the group's own
 * topics, and every subset of the topics that there were at a time, while those were few.
 */
final class Topics {
    record Topic(String name, Uuid id, int partitions) { }

    private static final int FEW = 6;

    private final Map<Long, Map<String, Topic>> hashed = new HashMap<>();
    private MetadataImage image = MetadataImage.EMPTY;
    private long version;

    MetadataImage image() {
        return image;
    }

    /** The topics of a list [{"name", "id", "partitions"}]. */
    static List<Topic> read(JsonNode operation, String name, String where) {
        List<Topic> topics = new ArrayList<>();
        for (JsonNode topic : Json.list(operation, name, where)) {
            Json.known(topic, Set.of("name", "id", "partitions"), "a topic");
            int partitions = Json.integer(topic, "partitions", "a topic");
            if (partitions < 1) throw new BadInput("a topic has at least 1 partition, not " + partitions);
            topics.add(new Topic(Json.text(topic, "name", "a topic"), Json.uuid(Json.text(topic, "id", "a topic")), partitions));
        }
        return topics;
    }

    /** Delete topics by name, then create, grow or recreate others; each is a step that `publish` tells Kafka of. */
    void change(List<Topic> upsert, List<String> delete, BiConsumer<MetadataDelta, MetadataImage> publish) {
        check(upsert, delete);
        for (String name : delete) remove(image.topics().getTopic(name), publish);
        for (Topic topic : upsert) {
            TopicImage known = image.topics().getTopic(topic.name);
            if (known != null && !known.id().equals(topic.id)) remove(known, publish);
            boolean created = known == null || !known.id().equals(topic.id);
            int first = created ? 0 : known.partitions().size();
            if (!created && first == topic.partitions) continue;
            MetadataDelta delta = new MetadataDelta.Builder().setImage(image).build();
            if (created) delta.replay(new TopicRecord().setTopicId(topic.id).setName(topic.name));
            for (int index = first; index < topic.partitions; index++) delta.replay(partition(topic.id, index));
            apply(delta, publish);
        }
    }

    private void check(List<Topic> upsert, List<String> delete) {
        for (String name : delete)
            if (image.topics().getTopic(name) == null) throw new BadInput("there is no topic '" + name + "' to delete");
        if (Set.copyOf(delete).size() < delete.size()) throw new BadInput("a topic is deleted twice");
        for (Topic topic : upsert) {
            TopicImage holder = image.topics().getTopic(topic.id);
            if (holder != null && !holder.name().equals(topic.name) && !delete.contains(holder.name()))
                throw new BadInput("the id of topic '" + topic.name + "' is that of topic '" + holder.name() + "'");
            TopicImage known = image.topics().getTopic(topic.name);
            boolean same = known != null && known.id().equals(topic.id) && !delete.contains(topic.name);
            if (same && known.partitions().size() > topic.partitions)
                throw new BadInput("topic '" + topic.name + "' cannot shrink to " + topic.partitions + " partitions");
        }
    }

    private static PartitionRecord partition(Uuid topic, int index) {
        return new PartitionRecord().setTopicId(topic).setPartitionId(index).setReplicas(List.of(1)).setIsr(List.of(1))
            .setLeader(1).setLeaderEpoch(0).setPartitionEpoch(0);
    }

    private void remove(TopicImage topic, BiConsumer<MetadataDelta, MetadataImage> publish) {
        MetadataDelta delta = new MetadataDelta.Builder().setImage(image).build();
        delta.replay(new RemoveTopicRecord().setTopicId(topic.id()));
        apply(delta, publish);
    }

    private void apply(MetadataDelta delta, BiConsumer<MetadataDelta, MetadataImage> publish) {
        MetadataImage before = image;
        image = delta.apply(new MetadataProvenance(++version, 0, 0, true));
        try {
            publish.accept(delta, image);
        } catch (RuntimeException e) {
            image = before;
            throw e;
        }
        Map<String, Topic> topics = new TreeMap<>();
        image.topics().topicsByName().forEach((name, topic) -> topics.put(name, new Topic(name, topic.id(), topic.partitions().size())));
        hash(topics.values());
    }

    /** Kafka's hash of the metadata of all these topics; that of their subsets is remembered, too. */
    long hash(Collection<Topic> topics) {
        Topics of = new Topics();
        MetadataDelta delta = new MetadataDelta.Builder().setImage(of.image).build();
        for (Topic topic : topics) {
            delta.replay(new TopicRecord().setTopicId(topic.id).setName(topic.name));
            for (int index = 0; index < topic.partitions; index++) delta.replay(partition(topic.id, index));
        }
        MetadataImage metadata = delta.apply(MetadataProvenance.EMPTY);
        Map<String, Long> hashes = new HashMap<>();
        topics.forEach(topic -> hashes.put(topic.name, Version.hash(topic.name, metadata)));
        List<Topic> list = List.copyOf(topics);
        int all = 1 << Math.min(list.size(), FEW);
        for (int chosen = 0; chosen < all && list.size() <= FEW; chosen++) {
            Map<String, Topic> subset = new TreeMap<>();
            for (int i = 0; i < list.size(); i++) if ((chosen >> i & 1) == 1) subset.put(list.get(i).name, list.get(i));
            remember(subset, hashes);
        }
        Map<String, Topic> whole = new TreeMap<>();
        topics.forEach(topic -> whole.put(topic.name, topic));
        return remember(whole, hashes);
    }

    private long remember(Map<String, Topic> topics, Map<String, Long> hashes) {
        Map<String, Long> chosen = new HashMap<>(hashes);
        chosen.keySet().retainAll(topics.keySet());
        long hash = Internals.hash(chosen);
        hashed.put(hash, topics);
        return hash;
    }

    /** The metadata that a group has recorded, by topic name; null if it cannot be told. */
    ArrayNode recorded(ModernGroup<?> group) {
        if (!hashed.containsKey(Internals.hash(group))) {
            List<Topic> topics = new ArrayList<>();
            group.subscribedTopicNames().keySet().forEach(name -> {
                TopicImage topic = image.topics().getTopic(name);
                if (topic != null) topics.add(new Topic(name, topic.id(), topic.partitions().size()));
            });
            hash(topics);
        }
        Map<String, Topic> topics = hashed.get(Internals.hash(group));
        if (topics == null) return null;
        ArrayNode json = Json.array();
        topics.values().forEach(topic -> json.addObject().put("topicId", Json.rfc4122(topic.id))
            .put("topicName", topic.name).put("numPartitions", topic.partitions));
        return json;
    }
}
