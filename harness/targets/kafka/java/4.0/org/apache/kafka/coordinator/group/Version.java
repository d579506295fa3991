package org.apache.kafka.coordinator.group;

import conform.kafka.Parts;
import conform.kafka.Private;

import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.Record;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.common.runtime.CoordinatorResult;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRuntime;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRuntimeMetrics;
import org.apache.kafka.coordinator.group.metrics.GroupCoordinatorMetrics;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.TopicImage;
import org.apache.kafka.storage.internals.log.VerificationGuard;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** What is particular to Kafka 4.0: how a coordinator is put together and told of new metadata. */
public final class Version {
    public static final String DIALECT = "kafka-4.0";
    private static final GroupCoordinatorMetrics METRICS = new GroupCoordinatorMetrics();
    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    private final CoordinatorRuntime<GroupCoordinatorShard, CoordinatorRecord> runtime;
    public final GroupCoordinatorService service;

    public Version(Parts parts) {
        LogContext context = new LogContext();
        GroupConfigManager groups = new GroupConfigManager(Map.of());
        runtime = new CoordinatorRuntime.Builder<GroupCoordinatorShard, CoordinatorRecord>()
            .withTime(parts.time).withTimer(parts.time).withLogPrefix("").withLogContext(context)
            .withEventProcessor(parts.events).withPartitionWriter(new Writer(parts)).withLoader(parts.log)
            .withCoordinatorShardBuilderSupplier(() -> parts.shard(groups).withAuthorizer(Optional.empty()))
            .withDefaultWriteTimeOut(TIMEOUT)
            .withCoordinatorRuntimeMetrics(Private.idle(CoordinatorRuntimeMetrics.class)).withCoordinatorMetrics(METRICS)
            .withSerializer(new GroupCoordinatorRecordSerde()).withCompression(Compression.NONE)
            .withAppendLingerMs(0).withExecutorService(parts.background).build();
        service = new GroupCoordinatorService(context, parts.config, runtime, METRICS, groups);
    }

    /** As a broker does: the offsets of deleted topics first, then the new image. */
    public void update(MetadataDelta delta, MetadataImage image) {
        List<TopicPartition> deleted = new ArrayList<>();
        if (delta.topicsDelta() != null)
            for (var id : delta.topicsDelta().deletedTopicIds()) {
                var topic = delta.topicsDelta().image().getTopic(id);
                topic.partitions().keySet().forEach(index -> deleted.add(new TopicPartition(topic.name(), index)));
            }
        try {
            if (!deleted.isEmpty()) service.onPartitionsDeleted(deleted, null);
        } catch (Exception e) {
            throw new IllegalStateException("Kafka could not delete the offsets of " + deleted, e);
        }
        service.onNewMetadataImage(image, delta);
    }

    /** What stands for a topic's metadata, of which Kafka 4.0 has no hash. */
    public static long hash(String topic, MetadataImage image) {
        TopicImage known = image.topics().getTopic(topic);
        return hash(topic, known.id(), known.partitions().size());
    }

    static long hash(String topic, Uuid id, int partitions) {
        return Internals.number(topic + " " + id + " " + partitions);
    }

    /** Run an operation of the shard that writes records. */
    public void write(Function<GroupCoordinatorShard, CoordinatorResult<Void, CoordinatorRecord>> operation) {
        runtime.scheduleWriteOperation("conform", Parts.LOG, TIMEOUT, operation::apply).join();
    }

    /** The writer to the log, which differs by the package of Kafka's batches. */
    private static final class Writer extends Parts.Writer {
        Writer(Parts parts) {
            super(parts);
        }

        @Override public long append(TopicPartition partition, VerificationGuard guard, MemoryRecords batch) {
            for (Record record : batch.records()) add(record.key(), record.value());
            return written();
        }
    }
}
