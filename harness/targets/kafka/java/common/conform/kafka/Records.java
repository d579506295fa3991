package conform.kafka;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.group.Internals;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupRegularExpressionKey;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Kafka's records in the normal form of KIP-848's records. The only place where something of Kafka's is left out:
 * FIELDS are the fields that both have; the records of resolved regular expressions are Kafka's own.
 */
final class Records {
    /** What the normal form has and Kafka has not, as the line protocol's `unobserved` names it. */
    static final List<String> UNOBSERVED = List.of(
        "records.ConsumerGroupPartitionMetadata",  // a hash in the group's record instead; in 4.0 without the epoch
        "records.groupEpoch", "records.assignors",  // of a member's metadata
        "records.currentStateTimestamp",  // of a classic group: Kafka's is that of its state, and not of the record
        "records.error", "records.metadataVersion", "records.metadataBytes"  // of client side assignors
    );

    private static final Map<String, List<String>> FIELDS = Map.of(
        "OffsetCommit", List.of("offset", "leaderEpoch", "metadata", "commitTimestamp", "topicId"),
        "ConsumerGroupMetadata", List.of("epoch"),
        "ConsumerGroupPartitionMetadata", List.of("topics"),
        "ConsumerGroupMemberMetadata", List.of("instanceId", "rackId", "clientId", "clientHost", "subscribedTopicNames",
            "subscribedTopicRegex", "rebalanceTimeoutMs", "serverAssignor", "classicMemberMetadata"),
        "ConsumerGroupTargetAssignmentMetadata", List.of("assignmentEpoch"),
        "ConsumerGroupTargetAssignmentMember", List.of("topicPartitions"),
        "ConsumerGroupCurrentMemberAssignment",
            List.of("memberEpoch", "previousMemberEpoch", "assignedPartitions", "partitionsPendingRevocation")
    );

    private Records() { }

    /** Whether the normal form has such a record. */
    static boolean shown(CoordinatorRecord record) {
        return !(Internals.key(record) instanceof ConsumerGroupRegularExpressionKey);
    }

    /** {"offset", "key", "value"}; `raw`: with Kafka's own JSON, unchanged but for the key's type. */
    static ObjectNode json(MemoryLog.Entry entry, boolean raw) {
        CoordinatorRecord record = MemoryLog.read(entry.key(), entry.value());
        ObjectNode key = Json.object().put("type", Internals.key(record).getClass().getSimpleName().replaceFirst("Key$", ""));
        key.setAll((ObjectNode) Internals.keyJson(record));
        JsonNode kafkas = record.value() == null ? null : Internals.valueJson(record);
        ObjectNode json = Json.object().put("offset", entry.offset());
        json.set("key", raw || key.path("type").asText().equals("GroupMetadata") ? key : key(key));
        json.set("value", raw || kafkas == null ? kafkas : value(key.path("type").asText(), (ObjectNode) Json.fromKafka(kafkas)));
        return json;
    }

    private static ObjectNode key(ObjectNode key) {
        if (key.has("group")) key.set("groupId", key.remove("group"));
        return key;
    }

    private static JsonNode value(String type, ObjectNode json) {
        if (!FIELDS.containsKey(type)) return json;
        if (json.path("subscribedTopicRegex").asText("none").isEmpty()) json.putNull("subscribedTopicRegex");
        if (json.path("classicMemberMetadata").isNull()) json.remove("classicMemberMetadata");
        json.path("topics").forEach(topic -> ((ObjectNode) topic).remove("partitionMetadata"));
        if (json.has("subscribedTopicNames")) json.set("subscribedTopicNames", sorted(json.get("subscribedTopicNames")));
        for (String part : List.of("topicPartitions", "assignedPartitions", "partitionsPendingRevocation"))
            if (json.has(part)) json.set(part, Json.partitions(Json.partitions(json, part, "a record")));
        return json.retain(FIELDS.get(type));
    }

    private static ArrayNode sorted(JsonNode names) {
        ArrayNode sorted = Json.array();
        List<String> texts = new ArrayList<>();
        names.forEach(name -> texts.add(name.asText()));
        texts.stream().sorted().forEach(sorted::add);
        return sorted;
    }
}
