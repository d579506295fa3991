package org.apache.kafka.coordinator.group;

import conform.kafka.Parts;
import conform.kafka.Private;

import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.utils.internals.LogContext;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.common.runtime.CoordinatorResult;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRuntime;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRuntimeMetrics;
import org.apache.kafka.coordinator.common.runtime.KRaftCoordinatorMetadataImage;
import org.apache.kafka.coordinator.group.metrics.GroupCoordinatorMetrics;
import org.apache.kafka.coordinator.group.modern.share.ShareGroupConfig;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.server.share.persister.NoOpStatePersister;
import org.apache.kafka.server.util.PartitionMetadataClient;
import org.apache.kafka.storage.internals.log.VerificationGuard;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;

/** What is particular to Kafka 4.4: how a coordinator is put together and told of new metadata. */
public final class Version {
    public static final String DIALECT = "kafka-4.4";
    private static final GroupCoordinatorMetrics METRICS = new GroupCoordinatorMetrics();
    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    private final CoordinatorRuntime<GroupCoordinatorShard, CoordinatorRecord> runtime;
    public final GroupCoordinatorService service;

    public Version(Parts parts) {
        LogContext context = new LogContext();
        GroupConfigManager groups = new GroupConfigManager(parts.config, new ShareGroupConfig(parts.values));
        runtime = new CoordinatorRuntime.Builder<GroupCoordinatorShard, CoordinatorRecord>()
            .withTime(parts.time).withTimer(parts.time).withLogPrefix("").withLogContext(context)
            .withEventProcessor(parts.events).withPartitionWriter(new Writer(parts)).withLoader(parts.log)
            .withCoordinatorShardBuilderSupplier(() -> parts.shard(groups).withAuthorizerPlugin(Optional.empty()))
            .withWriteTimeout(TIMEOUT)
            .withCoordinatorRuntimeMetrics(Private.idle(CoordinatorRuntimeMetrics.class)).withCoordinatorMetrics(METRICS)
            .withSerializer(new GroupCoordinatorRecordSerde()).withCompression(Compression.NONE)
            .withAppendLingerMs(OptionalInt.of(0)).withExecutorService(parts.background)
            .withCachedBufferMaxBytesSupplier(parts.config::cachedBufferMaxBytes).build();
        service = new GroupCoordinatorService(context, parts.config, runtime, METRICS, groups,
            new NoOpStatePersister(), parts.time, Private.idle(PartitionMetadataClient.class), Optional.empty(), parts.time);
    }

    /** Tell it of new topics; it deletes the offsets of deleted ones itself. */
    public void update(MetadataDelta delta, MetadataImage image) {
        service.onMetadataUpdate(delta, image);
    }

    /** Kafka's hash of a topic's metadata. */
    public static long hash(String topic, MetadataImage image) {
        return Utils.computeTopicHash(topic, new KRaftCoordinatorMetadataImage(image));
    }

    /** Run an operation of the shard that writes records. */
    public void write(Function<GroupCoordinatorShard, CoordinatorResult<Void, CoordinatorRecord>> operation) {
        runtime.scheduleWriteOperation("conform", Parts.LOG, operation::apply).join();
    }

    /** The writer to the log, which differs by the package of Kafka's batches. */
    private static final class Writer extends Parts.Writer {
        Writer(Parts parts) {
            super(parts);
        }

        @Override public long append(TopicPartition partition, VerificationGuard guard, MemoryRecords batch, short transactionVersion) {
            for (Record record : batch.records()) add(record.key(), record.value());
            return written();
        }
    }
}
