package conform.kafka;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.common.runtime.CoordinatorResult;
import org.apache.kafka.coordinator.group.Group;
import org.apache.kafka.coordinator.group.GroupCoordinatorService;
import org.apache.kafka.coordinator.group.GroupCoordinatorShard;
import org.apache.kafka.coordinator.group.GroupMetadataManager;
import org.apache.kafka.coordinator.group.Internals;
import org.apache.kafka.coordinator.group.OffsetMetadataManager;
import org.apache.kafka.coordinator.group.Version;
import org.apache.kafka.coordinator.group.classic.ClassicGroup;
import org.apache.kafka.coordinator.group.classic.ClassicGroupMember;
import org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroup;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.server.util.timer.TimerTask;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;

/** Kafka's group coordinator on a log, a clock and a cluster's topics. */
final class Coordinator {
    /** A timer of a member that the line protocol shows, under the key that Kafka gives it. */
    record MemberTimer(String kind, String group, String member, String key) {
        ObjectNode json() {
            return Json.object().put("timer", kind).put("group", group).put("member", member);
        }
    }

    /** A request whose response is not there yet, as a JoinGroup's that waits for others, by the ids of its client and its static member ("" without one). */
    record Waiting(JsonNode id, String api, String client, String instance, CompletableFuture<JsonNode> response) { }

    final List<Waiting> waiting = new ArrayList<>();
    final SimulatedTime time;
    final MemoryLog log;
    final Topics topics;
    final GroupCoordinatorService service;
    private final Scripts scripts;
    private final Parts.Background background;
    private final Version version;
    private final long retentionMs;
    private GroupMetadataManager groups;
    private OffsetMetadataManager offsets;
    private static final int AWAY = -2;
    private Map<String, TimerTask> timers;

    /** Loads the log. BadInput if Kafka does not accept it. */
    Coordinator(SimulatedTime time, MemoryLog log, Topics topics, Settings settings, Scripts scripts) {
        this.time = time;
        this.log = log;
        this.topics = topics;
        this.scripts = scripts;
        background = new Parts.Background(scripts);
        retentionMs = settings.config.offsetsRetentionMs();
        version = new Version(new Parts(time, log, settings, background, this::built));
        service = version.service;
        service.startup(() -> 1);
        version.update(new MetadataDelta.Builder().setImage(topics.image()).build(), topics.image());
        service.onElection(0, 1);
        if (log.failure() != null) throw new BadInput("Kafka does not load these records: " + log.failure().getMessage());
    }

    private void built(GroupCoordinatorShard shard) {
        groups = Private.field(shard, "groupMetadataManager");
        offsets = Private.field(shard, "offsetMetadataManager");
        timers = Private.field(Private.field(shard, "timer"), "tasks");
    }

    // ---- groups and their timers ----

    /** The group, of any type; null if there is none. */
    Group group(String id) {
        return groups.groupIds().contains(id) ? groups.group(id) : null;
    }

    /**
     * The armed timers of a consumer group's members: each member's session, then its rebalance; or those of a classic
     * group. Kafka leaves a rebalance armed when a revoking member leaves for a while; it does nothing when it runs out,
     * and is not one of these.
     */
    List<MemberTimer> timers(String id) {
        List<MemberTimer> armed = new ArrayList<>();
        if (group(id) instanceof ClassicGroup group) armed.addAll(Classic.timers(group));
        if (group(id) instanceof ConsumerGroup group) armed.addAll(timers(group));
        armed.removeIf(timer -> !timers.containsKey(timer.key));
        return armed;
    }

    private static List<MemberTimer> timers(ConsumerGroup group) {
        List<MemberTimer> armed = new ArrayList<>();
        String id = group.groupId();
        for (String member : new TreeSet<>(group.members().keySet())) {
            armed.add(new MemberTimer("session", id, member, GroupMetadataManager.groupSessionTimeoutKey(id, member)));
            if (group.members().get(member).memberEpoch() != AWAY)
                armed.add(new MemberTimer("rebalance", id, member, Internals.rebalanceTimer(id, member)));
            armed.addAll(Classic.timers(id, group.members().get(member)));
        }
        return armed;
    }

    GroupMetadataManager groups() {
        return groups;
    }

    TimerTask task(MemberTimer timer) {
        return timers.get(timer.key);
    }

    boolean isArmed(String key) {
        return timers.containsKey(key);
    }

    /** What names the last request of an API and a member that waits; null for none. A static one has the client id of who had its place first. */
    JsonNode waits(String api, ClassicGroupMember member) {
        String instance = member.groupInstanceId().orElse("");
        JsonNode id = null;
        for (Waiting request : waiting) {
            boolean its = request.instance.isEmpty() ? request.client.equals(member.clientId()) : request.instance.equals(instance);
            if (request.api.equals(api) && its && !request.response.isDone()) id = request.id;
        }
        return id;
    }

    // ---- what the line protocol does, besides requests ----

    void change(List<Topics.Topic> upsert, List<String> delete) {
        topics.change(upsert, delete, version::update);
    }

    /** Move the clock; the timers of members, and the groups whose retention ended, that ran out. */
    ArrayNode advance(long ms) {
        ArrayNode fired = Json.array();
        var before = new TreeSet<>(groups.groupIds());
        time.advance(ms, task -> {
            for (String id : groups.groupIds())
                for (MemberTimer timer : timers(id)) if (task(timer) == task) fired.add(timer.json());
        });
        before.removeAll(groups.groupIds());
        for (String id : before) fired.addObject().put("timer", "group").put("group", id).put("member", "");
        return fired;
    }

    /** Let one timer run out now. BadInput if it is not armed. */
    ObjectNode fire(String kind, String groupId, String member) {
        if (kind.equals("group")) return expire(groupId);
        for (MemberTimer timer : timers(groupId)) {
            if (!timer.kind.equals(kind) || !timer.member.equals(member)) continue;
            task(timer).run();
            return timer.json();
        }
        throw new BadInput("no timer '" + kind + "' of member '" + member + "' of group '" + groupId + "' is armed");
    }

    /** What Kafka's periodic clean-up does with a group when the retention of its offsets is over. */
    private ObjectNode expire(String id) {
        Group group = group(id);
        if (group == null || !group.isEmpty()) throw new BadInput("no timer 'group' of group '" + id + "' is armed");
        time.at(time.milliseconds() + retentionMs + 1, () -> version.write(shard -> {
            List<CoordinatorRecord> records = new ArrayList<>();
            if (offsets.cleanupExpiredOffsets(id, records)) groups.maybeDeleteGroup(id, records);
            return new CoordinatorResult<>(records, false);
        }));
        return Json.object().put("timer", "group").put("group", id).put("member", "");
    }

    void runBackground() {
        background.runAll();
    }

    // ---- what it shows ----

    /** The armed timers of a group with their deadlines, as `describe` shows them. */
    ArrayNode armed(String id) {
        ArrayNode armed = Json.array();
        Map<TimerTask, Long> deadlines = time.deadlinesMs();
        for (MemberTimer timer : timers(id)) armed.add(timer.json().put("deadlineMs", deadlines.get(task(timer))));
        return armed;
    }

    ArrayNode records(long since, boolean raw) {
        ArrayNode records = Json.array();
        log.since(since, raw).forEach(entry -> records.add(Records.json(entry, raw)));
        return records;
    }
}
