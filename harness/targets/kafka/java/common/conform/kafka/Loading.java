package conform.kafka;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.group.Internals;
import org.apache.kafka.coordinator.group.modern.MemberState;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Records in the normal form, and what they do not hold (`volatile`), as Kafka's records.
 *
 * A record of partition metadata becomes the hash in the group's record, where Kafka has that; a member's assignment is split into what is
 * assigned and what is to be revoked; a regular expression counts as resolved to the recorded topics that match it.
 */
final class Loading {
    /** How old a resolution is: Kafka looks again after 10 s if there are new topics, and after 10 min if not. */
    private static final long RESOLVED_MS = 10_001;
    private static final long TO_RESOLVE_MS = 600_001;
    private static final int AWAY = -2;
    private static final String CLASSIC = "GroupMetadata";

    private static final class GroupRecords {
        final Map<String, Map<Uuid, Set<Integer>>> targets = new HashMap<>();
        final Set<String> members = new HashSet<>();
        final Set<String> regexes = new HashSet<>();
        List<Topics.Topic> metadata = List.of();
        int assignmentEpoch;
        JsonNode known = Json.object();
    }

    private final Map<String, GroupRecords> groups = new HashMap<>();
    private final Topics topics;
    private final long nowMs;

    private Loading(Topics topics, long nowMs) {
        this.topics = topics;
        this.nowMs = nowMs;
    }

    /** The log that these records are; `raw`: they are Kafka's own. BadInput where they are none. */
    static MemoryLog log(JsonNode records, boolean raw, JsonNode volatiles, Topics topics, long nowMs) {
        Loading loading = new Loading(topics, nowMs);
        for (JsonNode record : records) loading.collect(record, raw);
        JsonNode known = Json.has(volatiles, "groups") ? Json.object(volatiles, "groups", "volatile") : Json.object();
        known.properties().forEach(group -> loading.remember(group.getKey(), group.getValue()));
        MemoryLog log = new MemoryLog();
        for (JsonNode record : records) log.append(raw ? List.of(kafkas(record)) : loading.kafkas(type(record), record));
        return log;
    }

    private void remember(String id, JsonNode known) {
        GroupRecords group = groups.get(id);
        if (group == null) throw new BadInput("volatile names the group '" + id + "', which the records do not have");
        group.known = known;
        known.path("members").fieldNames().forEachRemaining(member -> {
            if (!group.members.contains(member))
                throw new BadInput("volatile names the member '" + member + "', which the records do not have");
        });
    }

    private GroupRecords group(String id) {
        return groups.computeIfAbsent(id, none -> new GroupRecords());
    }

    private static String type(JsonNode record) {
        if (!record.isObject()) throw new BadInput("a record must be an object, not " + record);
        Json.known(record, Set.of("offset", "key", "value"), "a record");
        if (!record.has("value")) throw new BadInput("a record needs the field 'value', null for a tombstone");
        return Json.text(Json.object(record, "key", "a record"), "type", "a record's key");
    }

    /** What other records of the group need to know of this one. */
    private void collect(JsonNode record, boolean raw) {
        String type = type(record);
        String name = raw && type.equals("OffsetCommit") || type.equals(CLASSIC) ? "group" : "groupId";
        GroupRecords group = group(Json.text(record.path("key"), name, "a record's key"));
        JsonNode value = record.path("value");
        if (value.isNull()) return;
        if (type.equals("ConsumerGroupMemberMetadata")) group.members.add(Json.text(record.path("key"), "memberId", type));
        if (raw) return;
        switch (type) {
            case "ConsumerGroupTargetAssignmentMetadata" ->
                group.assignmentEpoch = Json.integer(value, "assignmentEpoch", type);
            case "ConsumerGroupTargetAssignmentMember" ->
                group.targets.put(Json.text(record.path("key"), "memberId", type), Json.partitions(value, "topicPartitions", type));
            case "ConsumerGroupPartitionMetadata" -> {
                group.metadata = new ArrayList<>();
                for (JsonNode topic : Json.list(value, "topics", type))
                    group.metadata.add(new Topics.Topic(Json.text(topic, "topicName", type),
                        Json.uuid(Json.text(topic, "topicId", type)), Json.integer(topic, "numPartitions", type)));
            }
            default -> { }
        }
    }

    // ---- one record ----

    private List<CoordinatorRecord> kafkas(String type, JsonNode record) {
        ObjectNode key = record.path("key").deepCopy();
        GroupRecords group = group(key.path("groupId").asText());
        JsonNode value = record.path("value");
        if (type.equals("ConsumerGroupPartitionMetadata") && !Internals.RECORDS_METADATA) return List.of();
        if (type.equals("OffsetCommit")) key.set("group", key.path("groupId"));
        if (value.isNull()) return List.of(kafkas(type, key, null));
        if (!value.isObject()) throw new BadInput("the value of a " + type + " record must be an object or null, not " + value);
        List<CoordinatorRecord> records = new ArrayList<>();
        records.add(kafkas(type, key, switch (type) {
            case "ConsumerGroupMetadata" -> value(value).put("metadataHash", topics.hash(group.metadata));
            case "ConsumerGroupPartitionMetadata" -> topics(value);
            case "ConsumerGroupMemberMetadata" -> metadata(value);
            case "ConsumerGroupCurrentMemberAssignment" -> assignment(Json.text(key, "memberId", type), group, value);
            case "ConsumerGroupTargetAssignmentMetadata" ->
                value(value).put("assignmentTimestamp", group.known.path("targetComputedMs").asLong(0));
            default -> value(value);
        }));
        String regex = value.path("subscribedTopicRegex").asText("");
        if (type.equals("ConsumerGroupMemberMetadata") && !value.path("subscribedTopicRegex").isNull()
                && !regex.isEmpty() && group.regexes.add(regex))
            records.add(resolved(key.path("groupId").asText(), regex, group));
        return records;
    }

    private static ObjectNode value(JsonNode value) {
        return (ObjectNode) Json.toKafka(value);
    }

    private static ObjectNode topics(JsonNode value) {
        ObjectNode topics = value(value);
        topics.path("topics").forEach(topic -> ((ObjectNode) topic).putArray("partitionMetadata"));
        return topics;
    }

    private static ObjectNode metadata(JsonNode value) {
        ObjectNode metadata = value(value);
        if (!Json.has(value, "subscribedTopicRegex")) metadata.put("subscribedTopicRegex", "");
        if (!Json.has(value, "classicMemberMetadata")) metadata.putNull("classicMemberMetadata");
        return metadata;
    }

    private static ObjectNode assignment(String member, GroupRecords group, JsonNode value) {
        String where = "the current assignment of '" + member + "'";
        int epoch = Json.integer(value, "memberEpoch", where);
        Map<Uuid, Set<Integer>> target = group.targets.getOrDefault(member, Map.of());
        boolean split = value.has("assignedPartitions");
        Map<Uuid, Set<Integer>> assigned = Json.partitions(value, split ? "assignedPartitions" : "topicPartitions", where);
        JsonNode known = split ? value : group.known.path("members").path(member);
        Map<Uuid, Set<Integer>> revoking = split ? Json.partitions(value, "partitionsPendingRevocation", where)
            : known.has("pendingRevocation")
            ? Json.partitions(known, "pendingRevocation", "volatile member '" + member + "'")
            : epoch == AWAY ? Map.of() : without(assigned, target);
        if (!split && !without(revoking, assigned).isEmpty())
            throw new BadInput("pendingRevocation of '" + member + "' has partitions that the records do not give it");
        assigned = without(assigned, revoking);
        boolean waits = epoch == group.assignmentEpoch && !Json.partitions(assigned).equals(Json.partitions(target));
        MemberState state = !revoking.isEmpty() ? MemberState.UNREVOKED_PARTITIONS
            : waits ? MemberState.UNRELEASED_PARTITIONS : MemberState.STABLE;
        ObjectNode json = Json.object().put("memberEpoch", epoch).put("state", state.value())
            .put("previousMemberEpoch", known.has("previousMemberEpoch") ? Json.integer(known, "previousMemberEpoch", where) : 0);
        json.set("assignedPartitions", given(value, Json.partitions(assigned), where));
        json.set("partitionsPendingRevocation", given(value, Json.partitions(revoking), where));
        return json;
    }

    /** Partitions with the member epoch at which the member was given each, where the record has these epochs (O2). */
    private static JsonNode given(JsonNode value, ArrayNode partitions, String where) {
        if (!value.has("assignmentEpochs")) return Json.toKafka(partitions);
        Map<Uuid, Map<Integer, Integer>> epochs = new HashMap<>();
        for (JsonNode entry : Json.list(value, "assignmentEpochs", where)) {
            int epoch = Json.integer(entry, "assignmentEpoch", where);
            Json.partitions(entry, "topicPartitions", where).forEach((id, indexes) ->
                indexes.forEach(index -> epochs.computeIfAbsent(id, key -> new HashMap<>()).put(index, epoch)));
        }
        for (JsonNode topic : partitions) {
            Map<Integer, Integer> since = epochs.getOrDefault(Json.uuid(topic.path("topicId").asText()), Map.of());
            ArrayNode each = ((ObjectNode) topic).putArray("assignmentEpochs");
            topic.path("partitions").forEach(index -> each.add(since.getOrDefault(index.asInt(), 0)));
        }
        return Json.toKafka(partitions);
    }

    private static Map<Uuid, Set<Integer>> without(Map<Uuid, Set<Integer>> partitions, Map<Uuid, Set<Integer>> others) {
        Map<Uuid, Set<Integer>> rest = new HashMap<>();
        partitions.forEach((id, indexes) -> {
            Set<Integer> left = new TreeSet<>(indexes);
            left.removeAll(others.getOrDefault(id, Set.of()));
            if (!left.isEmpty()) rest.put(id, left);
        });
        return rest;
    }

    private CoordinatorRecord resolved(String groupId, String regex, GroupRecords group) {
        Pattern pattern;
        try {
            pattern = Pattern.compile(regex);
        } catch (PatternSyntaxException e) {
            throw new BadInput("the subscribedTopicRegex '" + regex + "' is not valid: " + e.getMessage());
        }
        Set<String> recorded = new TreeSet<>();
        Set<String> now = new TreeSet<>();
        for (Topics.Topic topic : group.metadata) if (pattern.matches(topic.name())) recorded.add(topic.name());
        for (String name : topics.image().topics().topicsByName().keySet()) if (pattern.matches(name)) now.add(name);
        ObjectNode value = Json.object().put("version", 0)
            .put("timestamp", nowMs - (recorded.equals(now) ? RESOLVED_MS : TO_RESOLVE_MS));
        ArrayNode names = value.putArray("topics");
        recorded.forEach(names::add);
        return kafkas("ConsumerGroupRegularExpression",
            Json.object().put("groupId", groupId).put("regularExpression", regex), value);
    }

    // ---- Kafka's JSON to records ----

    private static CoordinatorRecord kafkas(JsonNode record) {
        JsonNode value = record.path("value");
        return kafkas(type(record), record.path("key"), value.isNull() ? null : value);
    }

    private static CoordinatorRecord kafkas(String type, JsonNode key, JsonNode value) {
        try {
            return Internals.record(type, key, value, (short) (type.equals("OffsetCommit") ? 4 : type.equals(CLASSIC) ? 3 : 0));
        } catch (RuntimeException e) {
            throw new BadInput("Kafka has no such " + type + " record: " + e.getMessage());
        }
    }

    // ---- timers ----

    /** Give the timers that Kafka armed on loading the deadlines that they had; of classic groups, all that no record holds. */
    static void setDeadlines(Coordinator coordinator, JsonNode volatiles) {
        ClassicLoading.restore(coordinator, volatiles.path("classic"));
        volatiles.path("groups").properties().forEach(group -> {
            for (Coordinator.MemberTimer timer : coordinator.timers(group.getKey())) {
                JsonNode known = group.getValue().path("members").path(timer.member());
                String name = timer.kind() + "DeadlineMs";
                if (Json.has(known, name))
                    coordinator.time.move(coordinator.task(timer), Json.number(known, name, "volatile member '" + timer.member() + "'"));
            }
        });
    }
}
