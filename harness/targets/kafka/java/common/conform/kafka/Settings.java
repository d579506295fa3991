package conform.kafka;

import com.fasterxml.jackson.databind.JsonNode;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.config.AbstractConfig;

import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.coordinator.group.GroupCoordinatorConfig;
import org.apache.kafka.coordinator.group.Internals;
import org.apache.kafka.coordinator.group.api.assignor.ConsumerGroupPartitionAssignor;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Kafka's configuration by the names of the line protocol, which are Kafka's but for one. */
final class Settings {
    /** The names of the kit's own, and what is left out of them: Kafka deletes empty groups with their offsets. */
    private static final String EMPTY_RETENTION = "group.empty.retention.ms";
    private static final String RETENTION = "offsets.retention.minutes";
    /** How often Kafka looks for what to delete; an empty group without offsets goes the next time, however new. */
    private static final String RETENTION_CHECK = "offsets.retention.check.interval.ms";
    private static final String INTERVAL = "group.consumer.assignment.interval.ms";
    private static final String LARGEST_BATCH = "message.max.bytes";
    private static final List<String> BOUNDED =
        List.of("group.consumer.session.timeout.ms", "group.consumer.heartbeat.interval.ms");

    private static final ConfigDef KNOWN = Internals.configuration();

    final AbstractConfig values;
    final GroupCoordinatorConfig config;
    final int largestBatch;
    private final Map<String, Object> given;

    private Settings(Map<String, Object> given, int largestBatch, Scripts scripts) {
        this.given = given;
        this.largestBatch = largestBatch;
        List<ConsumerGroupPartitionAssignor> assignors = scripts.assignors();
        try {
            values = new AbstractConfig(KNOWN, given, false);
            List<?> names = values.getList("group.consumer.assignors");
            config = new GroupCoordinatorConfig(values) {
                @Override public List<ConsumerGroupPartitionAssignor> consumerGroupAssignors() {
                    return names.stream().flatMap(name -> assignors.stream().filter(one -> one.name().equals(name))).toList();
                }
            };
        } catch (KafkaException | IllegalArgumentException e) {
            throw new BadInput("Kafka refuses the configuration: " + e.getMessage());
        }
    }

    /** Kafka's defaults, but for targets, which are computed at once (an interval of 0) where there is an interval. */
    static Settings defaults(Scripts scripts) {
        Map<String, Object> given = new TreeMap<>();
        if (KNOWN.names().contains(INTERVAL)) given.put(INTERVAL, 0);
        return new Settings(given, 1 << 20, scripts);
    }

    /** These settings and those of an operation; the bounds of what an administrator may set are moved along. */
    Settings with(JsonNode operation, Scripts scripts) {
        Map<String, Object> changed = new HashMap<>(given);
        int largest = largestBatch;
        for (var field : operation.properties()) {
            String name = field.getKey();
            JsonNode value = field.getValue();
            if (name.equals("op") || name.equals("observe")) continue;
            if (name.equals(EMPTY_RETENTION)) {
                long retention = Json.number(operation, name, "configure");
                changed.put(RETENTION, (int) Math.max(1, retention / 60_000));
                changed.put(RETENTION_CHECK, Math.max(1, retention));
            } else if (name.equals(LARGEST_BATCH))
                largest = Json.integer(operation, name, "configure");
            else if (!KNOWN.names().contains(name))
                throw new BadInput("this Kafka has no configuration '" + name + "'");
            else if (value.isArray())
                changed.put(name, Json.texts(operation, name, "configure"));
            else
                changed.put(name, value.asText());
            if (BOUNDED.contains(name)) bound(name, value.asInt(), changed);
        }
        return new Settings(changed, largest, scripts);
    }

    private static void bound(String name, int value, Map<String, Object> changed) {
        String kind = name.substring("group.consumer.".length());
        for (String bound : List.of("min", "max")) {
            String limit = "group.consumer." + bound + "." + kind;
            int known = (Integer) KNOWN.defaultValues().get(limit);
            changed.put(limit, bound.equals("min") ? Math.min(known, value) : Math.max(known, value));
        }
    }
}
