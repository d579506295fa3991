package conform.kafka;

import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.coordinator.common.runtime.CoordinatorLoader;
import org.apache.kafka.coordinator.common.runtime.CoordinatorPlayback;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.group.GroupCoordinatorRecordSerde;
import org.apache.kafka.coordinator.group.Internals;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupCurrentMemberAssignmentKey;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupMemberMetadataKey;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupMetadataKey;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupPartitionMetadataKey;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupTargetAssignmentMemberKey;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupTargetAssignmentMetadataKey;
import org.apache.kafka.coordinator.group.generated.GroupMetadataKey;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;

/**
 * One partition of __consumer_offsets in memory, from which a coordinator loads, too.
 *
 * A record's offset is the one that the line protocol shows: records that only Kafka has take none. When a static
 * member returns, Kafka removes the former one, writes a copy of it, and then what changed: of several records of one
 * key in a batch the last value is shown, and the batch in the order that all others have, removals first.
 */
public final class MemoryLog implements CoordinatorLoader<CoordinatorRecord> {
    /** `end` is the offset after the batch that the record is in. */
    record Entry(long offset, boolean shown, long end, byte[] key, byte[] value) { }

    private static final GroupCoordinatorRecordSerde SERDE = new GroupCoordinatorRecordSerde();
    private static final List<Class<?>> KINDS = List.of(ConsumerGroupMemberMetadataKey.class, ConsumerGroupPartitionMetadataKey.class,
        ConsumerGroupMetadataKey.class, ConsumerGroupTargetAssignmentMemberKey.class,
        ConsumerGroupTargetAssignmentMetadataKey.class, ConsumerGroupCurrentMemberAssignmentKey.class);

    private final List<Entry> entries = new ArrayList<>();
    private long end;
    private RuntimeException failure;

    /** The offset of the next record. */
    long end() {
        return end;
    }

    /** How many records there are, hidden ones too: the log's end, as Kafka counts. */
    int size() {
        return entries.size();
    }

    /** Whether a classic group of this id was ever written. */
    boolean names(String group) {
        return entries.stream().anyMatch(entry ->
            Internals.key(read(entry.key, entry.value)) instanceof GroupMetadataKey key && key.group().equals(group));
    }

    /** The records from an offset on; `all`: hidden ones, too. */
    List<Entry> since(long offset, boolean all) {
        int from = entries.size();
        while (from > 0 && entries.get(from - 1).offset >= offset) from--;
        List<Entry> found = entries.subList(from, entries.size());
        if (all) return found;
        return found.stream().filter(Entry::shown).sorted(Comparator.comparingLong(Entry::offset)).toList();
    }

    /** Append one batch. */
    void append(List<CoordinatorRecord> records) {
        Map<Object, CoordinatorRecord> place = new HashMap<>();
        Map<Object, CoordinatorRecord> latest = new HashMap<>();
        for (CoordinatorRecord record : records) {
            place.merge(record.key(), record, (first, next) -> first.value() == null ? next : first);
            latest.put(record.key(), record);
        }
        Predicate<CoordinatorRecord> counts = record -> Records.shown(record) && place.get(record.key()) == record;
        List<CoordinatorRecord> order = new ArrayList<>(records.stream().filter(counts).toList());
        if (latest.size() < records.size()) order.sort(Comparator.comparingInt(MemoryLog::rank));
        long last = end + order.size();
        for (CoordinatorRecord record : records) {
            boolean shown = counts.test(record);
            CoordinatorRecord kept = shown ? latest.get(record.key()) : record;
            long offset = shown ? end + order.indexOf(record) : end;
            entries.add(new Entry(offset, shown, last, SERDE.serializeKey(kept), SERDE.serializeValue(kept)));
        }
        end = last;
    }

    /** P1: removals, members, topics (4.0), the group's epoch, its target, its target's epoch, what a member has now. */
    private static int rank(CoordinatorRecord record) {
        return record.value() == null ? 0 : 1 + KINDS.indexOf(Internals.key(record).getClass());
    }

    /** The log of the whole batches among the first `count` records. */
    MemoryLog kept(long count) {
        MemoryLog kept = new MemoryLog();
        for (Entry entry : entries) {
            if (entry.end > count) return kept;
            kept.entries.add(entry);
            kept.end = entry.end;
        }
        return kept;
    }

    static CoordinatorRecord read(byte[] key, byte[] value) {
        return SERDE.deserialize(ByteBuffer.wrap(key), value == null ? null : ByteBuffer.wrap(value));
    }

    static CoordinatorRecord read(ByteBuffer key, ByteBuffer value) {
        return SERDE.deserialize(key, value);
    }

    /** What went wrong when a coordinator loaded this log, or null. */
    RuntimeException failure() {
        return failure;
    }

    @Override public CompletableFuture<LoadSummary> load(TopicPartition partition, CoordinatorPlayback<CoordinatorRecord> playback) {
        try {
            long offset = 0;
            for (Entry entry : entries) playback.replay(offset++, -1L, (short) -1, read(entry.key, entry.value));
            if (offset > 0) {
                playback.updateLastWrittenOffset(offset);
                playback.updateLastCommittedOffset(offset);
            }
            return CompletableFuture.completedFuture(new LoadSummary(0, 0, 0, offset, 0));
        } catch (RuntimeException e) {
            failure = e;
            return CompletableFuture.failedFuture(e);
        }
    }

    @Override public void close() { }
}
