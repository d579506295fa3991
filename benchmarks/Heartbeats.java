import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;

/**
 * Members of consumer groups that do nothing but join and send heartbeats, version 1, over a few connections, each
 * with one request in flight. Arguments: PORT TOPIC CONNECTIONS GROUPS MEMBERS INTERVAL_MS WARM_S SECONDS. With the
 * interval 0 a connection sends the next heartbeat as soon as one is answered; else each member sends one an interval.
 * A member joins, repeats what it is given until it is given nothing more, and then sends its epoch alone. Prints
 * one JSON object: seconds until all had their partitions, heartbeats in the seconds after warming, their latencies in
 * microseconds, all heartbeats, and how many after the partitions were there were answered with something new. An error in an answer ends the program.
 */
public final class Heartbeats {
    private static final int MOST_ROUNDS = 200;
    private static final byte[] NOTHING = {0};
    private static final byte[] EMPTY = {1};

    private static final class Member {
        final String group;
        final String id;
        int epoch = 0;
        byte[] owned = EMPTY;
        byte[] frame;
        boolean news = true;

        Member(String group, String id) {
            this.group = group;
            this.id = id;
        }
    }

    private final List<Member> members = new ArrayList<>();
    private final DataInputStream in;
    private final DataOutputStream out;
    private final String topic;
    private final long[] latencies = new long[1 << 22];
    private int measured;
    private int all;
    private int changes;

    private Heartbeats(int port, String topic) throws IOException {
        Socket socket = new Socket("127.0.0.1", port);
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(60_000);
        in = new DataInputStream(new java.io.BufferedInputStream(socket.getInputStream(), 1 << 16));
        out = new DataOutputStream(socket.getOutputStream());
        this.topic = topic;
    }

    /** The frame of a heartbeat: with the subscription and what is owned, or with the epoch alone. */
    private byte[] frame(Member member, boolean full) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream to = new DataOutputStream(bytes);
        to.writeInt(0);
        to.writeShort(68);
        to.writeShort(1);
        to.writeInt(7);
        to.writeShort(1);
        to.write("b".getBytes(StandardCharsets.UTF_8));
        to.write(0);
        text(to, member.group);
        text(to, member.id);
        to.writeInt(member.epoch);
        to.write(0); // instance id
        to.write(0); // rack
        to.writeInt(full ? 300_000 : -1);
        if (full) {
            to.write(2);
            text(to, topic);
        } else {
            to.write(0);
        }
        to.write(0); // regular expression
        to.write(0); // assignor
        to.write(full ? member.owned : NOTHING);
        to.write(0);
        byte[] frame = bytes.toByteArray();
        ByteBuffer.wrap(frame).putInt(0, frame.length - 4);
        return frame;
    }

    private static void text(DataOutputStream to, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        to.write(bytes.length + 1);
        to.write(bytes);
    }

    /** Sends a frame; true if the answer says nothing new. */
    private boolean beat(Member member, byte[] frame) throws IOException {
        all++;
        out.write(frame);
        byte[] answer = new byte[in.readInt()];
        in.readFully(answer);
        ByteBuffer read = ByteBuffer.wrap(answer);
        read.position(9); // correlation id, tags, throttle time
        int error = read.getShort();
        skipText(read);
        skipText(read);
        if (error != 0) {
            throw new IOException("heartbeat of " + member.id + " was answered with error " + error);
        }
        int epoch = read.getInt();
        read.getInt();
        boolean quiet = epoch == member.epoch;
        member.epoch = epoch;
        if (read.get() >= 0) {
            // Tags of the assignment and of the answer are the last two bytes.
            byte[] owned = Arrays.copyOfRange(answer, read.position(), answer.length - 2);
            quiet &= Arrays.equals(owned, member.owned);
            member.owned = owned;
        }
        member.news = !quiet;
        return quiet;
    }

    private static void skipText(ByteBuffer read) {
        int size = 0;
        for (int shift = 0, part = 0x80; part >= 0x80; shift += 7) {
            part = read.get() & 0xff;
            size |= (part & 0x7f) << shift;
        }
        read.position(read.position() + Math.max(0, size - 1));
    }

    /** A round in which who was told something new repeats it; true if nobody is told anything new. */
    private boolean settle() throws IOException {
        boolean quiet = true;
        for (Member member : members) {
            quiet &= beat(member, frame(member, member.news));
        }
        return quiet;
    }

    private void prepare() throws IOException {
        for (Member member : members) {
            member.frame = frame(member, false);
        }
    }

    private void run(long intervalNs, long measureAt, long endAt) throws IOException, InterruptedException {
        long began = System.nanoTime();
        for (long round = 0; ; round++) {
            for (int at = 0; at < members.size(); at++) {
                if (intervalNs > 0) {
                    long due = began + round * intervalNs + intervalNs * at / members.size();
                    if (due >= endAt) {
                        return;
                    }
                    while (System.nanoTime() < due) {
                        Thread.sleep(Math.max(0, (due - System.nanoTime()) / 1_000_000), 100_000);
                    }
                }
                long sent = System.nanoTime();
                if (sent >= endAt) {
                    return;
                }
                if (!beat(members.get(at), members.get(at).frame)) {
                    changes++;
                }
                if (sent >= measureAt && measured < latencies.length) {
                    latencies[measured++] = System.nanoTime() - sent;
                }
            }
        }
    }

    public static void main(String[] given) throws Exception {
        int port = Integer.parseInt(given[0]);
        int[] numbers = Arrays.stream(given).skip(2).mapToInt(Integer::parseInt).toArray();
        int groups = numbers[1];
        int size = numbers[2];
        Heartbeats[] connections = new Heartbeats[numbers[0]];
        for (int at = 0; at < connections.length; at++) {
            connections[at] = new Heartbeats(port, given[1]);
        }
        for (int at = 0; at < groups * size; at++) {
            Member member = new Member("group" + at % groups, "member" + at);
            connections[at % connections.length].members.add(member);
        }
        long began = System.nanoTime();
        boolean[] quiet = new boolean[connections.length];
        long[] times = new long[2];
        CyclicBarrier barrier = new CyclicBarrier(connections.length, () -> {
            times[0] = System.nanoTime();
            times[1] = 1;
            for (boolean one : quiet) {
                times[1] &= one ? 1 : 0;
            }
        });
        Thread[] threads = new Thread[connections.length];
        Throwable[] failed = new Throwable[1];
        for (int at = 0; at < threads.length; at++) {
            int mine = at;
            threads[at] = new Thread(() -> {
                try {
                    for (int round = 0; times[1] == 0; round++) {
                        if (round == MOST_ROUNDS) {
                            throw new IOException("after so many rounds members are still told something new");
                        }
                        quiet[mine] = connections[mine].settle();
                        barrier.await();
                    }
                    connections[mine].prepare();
                    barrier.await();
                    long measureAt = times[0] + numbers[4] * 1_000_000_000L;
                    connections[mine].run(numbers[3] * 1_000_000L, measureAt, measureAt + numbers[5] * 1_000_000_000L);
                } catch (Exception error) {
                    synchronized (failed) { // a broken barrier is only what another failure causes
                        if (failed[0] == null || failed[0] instanceof BrokenBarrierException) {
                            failed[0] = error;
                        }
                    }
                    barrier.reset();
                }
            });
            threads[at].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        if (failed[0] != null) {
            throw new IOException("the server did not do as it should", failed[0]);
        }
        report(connections, (times[0] - began) / 1e9, numbers[5]);
    }

    private static void report(Heartbeats[] connections, double joined, int seconds) {
        long[] all = Arrays.stream(connections).flatMapToLong(one -> Arrays.stream(one.latencies, 0, one.measured))
            .sorted().toArray();
        int changes = Arrays.stream(connections).mapToInt(one -> one.changes).sum();
        StringBuilder text = new StringBuilder();
        text.append(String.format("{\"joined_s\": %.1f, \"heartbeats\": %d, \"seconds\": %d", joined, all.length, seconds));
        int answered = Arrays.stream(connections).mapToInt(one -> one.all).sum();
        text.append(String.format(", \"all\": %d, \"changes\": %d", answered, changes));
        for (double part : new double[] {50, 90, 99, 99.9, 100}) {
            int at = (int) Math.min(all.length - 1, Math.floor(all.length * part / 100));
            text.append(String.format(", \"p%s_us\": %d", String.format("%.1f", part).replace(".0", ""), at < 0 ? 0 : all[at] / 1000));
        }
        System.out.println(text.append("}"));
    }
}
