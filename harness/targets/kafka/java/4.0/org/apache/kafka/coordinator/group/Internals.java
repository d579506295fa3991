package org.apache.kafka.coordinator.group;

import com.fasterxml.jackson.databind.JsonNode;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.group.modern.ModernGroup;
import org.apache.kafka.server.common.ApiMessageAndVersion;

import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;

/** What Kafka 4.0 has otherwise than all later versions, in the place of the file of this name that fits those. */
public final class Internals {
    /** Whether a group records the metadata of its topics themselves, and not a hash of it. */
    public static final boolean RECORDS_METADATA = true;

    private static final GroupCoordinatorRecordSerde SERDE = new GroupCoordinatorRecordSerde();
    private static final String GENERATED = "org.apache.kafka.coordinator.group.generated.";
    private static final Map<String, Short> TYPES = Map.of("OffsetCommit", (short) 1, "GroupMetadata", (short) 2,
        "ConsumerGroupMetadata", (short) 3, "ConsumerGroupPartitionMetadata", (short) 4,
        "ConsumerGroupMemberMetadata", (short) 5, "ConsumerGroupTargetAssignmentMetadata", (short) 6,
        "ConsumerGroupTargetAssignmentMember", (short) 7, "ConsumerGroupCurrentMemberAssignment", (short) 8,
        "ConsumerGroupRegularExpression", (short) 16);

    private Internals() { }

    /** All that can be configured. */
    public static ConfigDef configuration() {
        ConfigDef known = new ConfigDef();
        for (ConfigDef part : List.of(GroupCoordinatorConfig.GROUP_COORDINATOR_CONFIG_DEF,
                GroupCoordinatorConfig.OFFSET_MANAGEMENT_CONFIG_DEF, GroupCoordinatorConfig.CLASSIC_GROUP_CONFIG_DEF,
                GroupCoordinatorConfig.CONSUMER_GROUP_CONFIG_DEF, GroupCoordinatorConfig.SHARE_GROUP_CONFIG_DEF))
            part.configKeys().values().forEach(known::define);
        return known;
    }

    /** The key of a member's rebalance timer. */
    public static String rebalanceTimer(String group, String member) {
        return GroupMetadataManager.consumerGroupRebalanceTimeoutKey(group, member);
    }

    // ---- records ----

    public static ApiMessage key(CoordinatorRecord record) {
        return record.key().message();
    }

    public static JsonNode keyJson(CoordinatorRecord record) {
        return json(record.key());
    }

    /** Of a record that is no tombstone. */
    public static JsonNode valueJson(CoordinatorRecord record) {
        return json(record.value());
    }

    private static JsonNode json(ApiMessageAndVersion message) {
        ApiMessage content = message.message();
        return (JsonNode) convert(content.getClass().getSimpleName(), "write", content.getClass(), content, message.version());
    }

    /** The record of a type, like ConsumerGroupMetadata; a tombstone if `value` is null. */
    public static CoordinatorRecord record(String type, JsonNode key, JsonNode value, short version) {
        if (!TYPES.containsKey(type)) throw new IllegalArgumentException("there is no such type");
        return new CoordinatorRecord(message(type + "Key", key, TYPES.get(type)),
            value == null ? null : message(type + "Value", value, version));
    }

    private static ApiMessageAndVersion message(String name, JsonNode json, short version) {
        return new ApiMessageAndVersion((ApiMessage) convert(name, "read", JsonNode.class, json, version), version);
    }

    /** Calls the method of a generated class that reads or writes a message's JSON. */
    private static Object convert(String message, String method, Class<?> type, Object argument, short version) {
        try {
            return Class.forName(GENERATED + message + "JsonConverter").getMethod(method, type, short.class)
                .invoke(null, argument, version);
        } catch (InvocationTargetException e) {
            throw e.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(e.getCause());
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("this Kafka has no JSON of " + message, e);
        }
    }

    // ---- the metadata of subscribed topics ----

    /** A number for topics, from theirs by name: Kafka 4.0 has the metadata itself, and no hash. */
    public static long hash(Map<String, Long> topics) {
        return number(new TreeMap<>(topics).toString());
    }

    /** Of 64 mixed bits: in sums of hash codes, two topics that grow may weigh what they weighed before. */
    static long number(String text) {
        return UUID.nameUUIDFromBytes(text.getBytes(StandardCharsets.UTF_8)).getMostSignificantBits();
    }

    /** The number for what a group has recorded. */
    public static long hash(ModernGroup<?> group) {
        Map<String, Long> topics = new HashMap<>();
        group.subscriptionMetadata().forEach((name, topic) -> topics.put(name, Version.hash(name, topic.id(), topic.numPartitions())));
        return hash(topics);
    }
}
