package org.apache.kafka.coordinator.group;

import com.fasterxml.jackson.databind.JsonNode;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.group.generated.CoordinatorRecordJsonConverters;
import org.apache.kafka.coordinator.group.generated.CoordinatorRecordType;
import org.apache.kafka.coordinator.group.modern.ModernGroup;
import org.apache.kafka.coordinator.group.modern.share.ShareGroupConfig;
import org.apache.kafka.server.common.ApiMessageAndVersion;

import java.util.Map;

/** What Kafka 4.1 and later have alike. Kafka 4.0 has it otherwise: its file of this name takes the place of this one. */
public final class Internals {
    /** Whether a group records the metadata of its topics themselves, and not a hash of it. */
    public static final boolean RECORDS_METADATA = false;

    private Internals() { }

    /** All that can be configured. */
    public static ConfigDef configuration() {
        ConfigDef known = new ConfigDef(GroupCoordinatorConfig.CONFIG_DEF);
        ShareGroupConfig.CONFIG_DEF.configKeys().values().forEach(known::define);
        return known;
    }

    /** The key of a member's rebalance timer. */
    public static String rebalanceTimer(String group, String member) {
        return GroupMetadataManager.groupRebalanceTimeoutKey(group, member);
    }

    // ---- records ----

    public static ApiMessage key(CoordinatorRecord record) {
        return record.key();
    }

    public static JsonNode keyJson(CoordinatorRecord record) {
        return CoordinatorRecordJsonConverters.writeRecordKeyAsJson(record.key());
    }

    /** Of a record that is no tombstone. */
    public static JsonNode valueJson(CoordinatorRecord record) {
        return CoordinatorRecordJsonConverters.writeRecordValueAsJson(record.value().message(), record.value().version());
    }

    /** The record of a type, like ConsumerGroupMetadata; a tombstone if `value` is null. */
    public static CoordinatorRecord record(String type, JsonNode key, JsonNode value, short version) {
        short id = CoordinatorRecordType.valueOf(type.replaceAll("(?<=.)([A-Z])", "_$1").toUpperCase()).id();
        ApiMessage name = CoordinatorRecordJsonConverters.readRecordKeyFromJson(key, id);
        if (value == null) return CoordinatorRecord.tombstone(name);
        ApiMessage content = CoordinatorRecordJsonConverters.readRecordValueFromJson(value, id, version);
        return CoordinatorRecord.record(name, new ApiMessageAndVersion(content, version));
    }

    // ---- the metadata of subscribed topics ----

    /** The hash of topics, from theirs by name. */
    public static long hash(Map<String, Long> topics) {
        return Utils.computeGroupHash(topics);
    }

    /** The hash of what a group has recorded. */
    public static long hash(ModernGroup<?> group) {
        return group.metadataHash();
    }
}
