package conform.kafka;

import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.coordinator.common.runtime.CoordinatorEvent;
import org.apache.kafka.coordinator.common.runtime.CoordinatorEventProcessor;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.common.runtime.PartitionWriter;
import org.apache.kafka.coordinator.group.GroupConfigManager;
import org.apache.kafka.coordinator.group.GroupCoordinatorConfig;
import org.apache.kafka.coordinator.group.GroupCoordinatorShard;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.VerificationGuard;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** What Kafka's coordinator runs on: clock, log, configuration, one thread for its events, a queue of background work. */
public final class Parts {
    public static final TopicPartition LOG = new TopicPartition("__consumer_offsets", 0);

    public final SimulatedTime time;
    public final MemoryLog log;
    public final AbstractConfig values;
    public final GroupCoordinatorConfig config;
    public final ExecutorService background;
    public final CoordinatorEventProcessor events = new Events();
    private final int largestBatch;
    private final Consumer<GroupCoordinatorShard> built;

    Parts(SimulatedTime time, MemoryLog log, Settings settings, Background background, Consumer<GroupCoordinatorShard> built) {
        this.time = time;
        this.log = log;
        this.values = settings.values;
        this.config = settings.config;
        this.largestBatch = settings.largestBatch;
        this.background = background;
        this.built = built;
    }

    /** The builder of the one shard, which is then shown to whom these parts belong. */
    public GroupCoordinatorShard.Builder shard(GroupConfigManager groups) {
        return new GroupCoordinatorShard.Builder(config, groups) {
            @Override public GroupCoordinatorShard build() {
                GroupCoordinatorShard shard = super.build();
                built.accept(shard);
                return shard;
            }
        };
    }

    /** Kafka's events, one after the other, on the caller's thread. */
    private static final class Events implements CoordinatorEventProcessor {
        private final ArrayDeque<CoordinatorEvent> queue = new ArrayDeque<>();
        private boolean running;

        @Override public void enqueueLast(CoordinatorEvent event) {
            queue.addLast(event);
            run();
        }

        @Override public void enqueueFirst(CoordinatorEvent event) {
            queue.addFirst(event);
            run();
        }

        private void run() {
            if (running) return;
            running = true;
            try {
                for (CoordinatorEvent event = queue.pollFirst(); event != null; event = queue.pollFirst()) {
                    try {
                        event.run();
                    } catch (RuntimeException e) {
                        event.complete(e);
                    }
                }
            } finally {
                running = false;
            }
        }

        @Override public void close() { }
    }

    /** Kafka's background work waits here until it is asked for. */
    static final class Background extends AbstractExecutorService {
        private final ArrayDeque<Runnable> queue = new ArrayDeque<>();
        private final Scripts scripts;

        Background(Scripts scripts) {
            this.scripts = scripts;
        }

        @Override public void execute(Runnable work) {
            String group = scripts.workingOn();
            queue.addLast(() -> {
                scripts.workOn(group);
                work.run();
            });
        }

        void runAll() {
            for (Runnable work = queue.pollFirst(); work != null; work = queue.pollFirst()) work.run();
        }

        @Override public void shutdown() { }

        @Override public List<Runnable> shutdownNow() {
            return List.of();
        }

        @Override public boolean isShutdown() {
            return false;
        }

        @Override public boolean isTerminated() {
            return false;
        }

        @Override public boolean awaitTermination(long timeout, TimeUnit unit) {
            return true;
        }
    }

    /** Appends Kafka's batches to the log; all of it is committed at once. */
    public abstract static class Writer implements PartitionWriter {
        private final MemoryLog log;
        private final LogConfig config;
        private final List<Listener> listeners = new ArrayList<>();
        private final List<CoordinatorRecord> batch = new ArrayList<>();

        protected Writer(Parts parts) {
            log = parts.log;
            config = new LogConfig(Map.of("max.message.bytes", parts.largestBatch));
        }

        protected final void add(ByteBuffer key, ByteBuffer value) {
            batch.add(MemoryLog.read(key, value));
        }

        /** Write what was added; the log's end. */
        protected final long written() {
            log.append(batch);
            batch.clear();
            for (Listener listener : List.copyOf(listeners)) listener.onHighWatermarkUpdated(LOG, log.size());
            return log.size();
        }

        @Override public void registerListener(TopicPartition partition, Listener listener) {
            listeners.add(listener);
        }

        @Override public void deregisterListener(TopicPartition partition, Listener listener) {
            listeners.remove(listener);
        }

        @Override public LogConfig config(TopicPartition partition) {
            return config;
        }

        // Its last parameter is an int from Kafka 4.1 on, and a short before.
        public CompletableFuture<VerificationGuard> maybeStartTransactionVerification(
                TopicPartition partition, String transactionalId, long producerId, short producerEpoch, int version) {
            return CompletableFuture.completedFuture(VerificationGuard.SENTINEL);
        }

        public CompletableFuture<VerificationGuard> maybeStartTransactionVerification(
                TopicPartition partition, String transactionalId, long producerId, short producerEpoch, short version) {
            return maybeStartTransactionVerification(partition, transactionalId, producerId, producerEpoch, (int) version);
        }

        @Override public CompletableFuture<Void> deleteRecords(TopicPartition partition, long offset) {
            return CompletableFuture.completedFuture(null);
        }
    }
}
