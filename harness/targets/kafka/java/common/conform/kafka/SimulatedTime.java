package conform.kafka;

import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.util.timer.Timer;
import org.apache.kafka.server.util.timer.TimerTask;
import org.apache.kafka.server.util.timer.TimerTaskEntry;

import java.util.IdentityHashMap;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Kafka's clock and timer, simulated: time moves by `advance` only, and tasks run in the order of their deadlines. */
public final class SimulatedTime implements Time, Timer {
    private record Due(long deadlineMs, long sequence, TimerTaskEntry entry) implements Comparable<Due> {
        @Override public int compareTo(Due other) {
            int order = Long.compare(deadlineMs, other.deadlineMs);
            return order != 0 ? order : Long.compare(sequence, other.sequence);
        }
    }

    private final PriorityQueue<Due> queue = new PriorityQueue<>();
    private long nowMs;
    private long sequence;

    SimulatedTime(long nowMs) {
        this.nowMs = nowMs;
    }

    @Override public long milliseconds() {
        return nowMs;
    }

    @Override public long nanoseconds() {
        return nowMs * 1_000_000;
    }

    @Override public void sleep(long ms) {
        throw new UnsupportedOperationException("nothing sleeps on a simulated clock");
    }

    @Override public void waitObject(Object object, Supplier<Boolean> condition, long deadlineMs) {
        throw new UnsupportedOperationException("nothing waits on a simulated clock");
    }

    @Override public void add(TimerTask task) {
        if (task.delayMs <= 0) task.run();
        else add(task, nowMs + task.delayMs);
    }

    private void add(TimerTask task, long deadlineMs) {
        if (sequence % 1024 == 0) forgetCancelled();
        queue.add(new Due(deadlineMs, sequence++, new TimerTaskEntry(task, deadlineMs)));
    }

    private void forgetCancelled() {
        queue.removeIf(due -> due.entry.cancelled());
    }

    @Override public boolean advanceClock(long ms) {
        throw new UnsupportedOperationException("only the line protocol advances this clock");
    }

    @Override public int size() {
        return deadlinesMs().size();
    }

    @Override public void close() { }

    /** Move the clock and run what is due; `before` is told of each task before it runs. */
    void advance(long ms, Consumer<TimerTask> before) {
        long endMs = nowMs + ms;
        while (!queue.isEmpty() && queue.peek().deadlineMs <= endMs) {
            Due due = queue.poll();
            if (due.entry.cancelled()) continue;
            nowMs = Math.max(nowMs, due.deadlineMs);
            before.accept(due.entry.timerTask);
            due.entry.timerTask.run();
        }
        nowMs = endMs;
    }

    /** Do something at another time, as far as it asks for the time, and come back. */
    void at(long ms, Runnable action) {
        long backMs = nowMs;
        nowMs = ms;
        try {
            action.run();
        } finally {
            nowMs = backMs;
        }
    }

    /** Give a waiting task another deadline, not before now. */
    void move(TimerTask task, long deadlineMs) {
        queue.removeIf(due -> due.entry.timerTask == task);
        add(task, Math.max(deadlineMs, nowMs));
    }

    /** The tasks that wait, with their deadlines. */
    Map<TimerTask, Long> deadlinesMs() {
        forgetCancelled();
        Map<TimerTask, Long> deadlines = new IdentityHashMap<>();
        queue.forEach(due -> deadlines.put(due.entry.timerTask, due.deadlineMs));
        return deadlines;
    }
}
