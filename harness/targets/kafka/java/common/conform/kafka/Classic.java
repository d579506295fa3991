package conform.kafka;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.kafka.coordinator.group.ClassicTimers;
import org.apache.kafka.coordinator.group.classic.ClassicGroup;
import org.apache.kafka.coordinator.group.classic.ClassicGroupMember;
import org.apache.kafka.coordinator.group.classic.ClassicGroupState;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupMemberMetadataValue.ClassicMemberMetadata;
import org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroupMember;

import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** Classic groups, and members of consumer groups that use the classic protocol: what is shown of them, and their timers. */
final class Classic {
    private Classic() { }

    // ---- timers ----

    /**
     * Those of a classic group that do something when they run out: its own, then each session. Kafka leaves the time to
     * join armed as a group is converted, and a member's session while it waits for an answer.
     */
    static List<Coordinator.MemberTimer> timers(ClassicGroup group) {
        String id = group.groupId();
        List<Coordinator.MemberTimer> timers = new ArrayList<>();
        if (group.isInState(ClassicGroupState.PREPARING_REBALANCE))
            timers.add(new Coordinator.MemberTimer("join", id, "", ClassicTimers.join(id)));
        if (!group.allPendingSyncMembers().isEmpty())
            timers.add(new Coordinator.MemberTimer("sync", id, "", ClassicTimers.sync(id)));
        Set<String> alive = new TreeSet<>(pending(group));
        for (ClassicGroupMember member : group.allMembers())
            if (member.isNew() || !member.isAwaitingJoin() && !member.isAwaitingSync()) alive.add(member.memberId());
        for (String member : alive)
            timers.add(new Coordinator.MemberTimer("session", id, member, ClassicTimers.session(id, member)));
        return timers;
    }

    /** Those that a member of a consumer group has for its rebalance, if it uses the classic protocol. */
    static List<Coordinator.MemberTimer> timers(String id, ConsumerGroupMember member) {
        if (!member.useClassicProtocol()) return List.of();
        String name = member.memberId();
        return List.of(new Coordinator.MemberTimer("join", id, name, ClassicTimers.join(id, name)),
            new Coordinator.MemberTimer("sync", id, name, ClassicTimers.sync(id, name)));
    }

    private static Set<String> pending(ClassicGroup group) {
        return Private.field(group, "pendingJoinMembers");
    }

    // ---- what is shown ----

    /** A classic group as the line protocol describes it, without its timers. */
    static ObjectNode group(Coordinator coordinator, ClassicGroup group) {
        ObjectNode json = Json.object().put("groupId", group.groupId()).put("type", "classic")
            .put("state", group.stateAsString()).put("generation", group.generationId())
            .put("protocolType", group.protocolType().orElse("")).put("protocol", group.protocolName().orElse(null))
            .put("leader", group.leaderOrNull()).put("newMember", group.newMemberAdded());
        ArrayNode pending = json.putArray("pending");
        new TreeSet<>(pending(group)).forEach(pending::add);
        ArrayNode members = json.putArray("members");
        for (String member : new TreeSet<>(group.allMemberIds())) members.add(member(coordinator, group, group.member(member)));
        return json;
    }

    private static ObjectNode member(Coordinator coordinator, ClassicGroup group, ClassicGroupMember member) {
        ObjectNode json = Json.object().put("memberId", member.memberId())
            .put("instanceId", member.groupInstanceId().orElse(null));
        ArrayNode protocols = json.putArray("protocols");
        member.supportedProtocols().forEach(one ->
            protocols.addObject().put("name", one.name()).put("metadata", text(one.metadata())));
        json.put("assignment", text(member.assignment())).put("isNew", member.isNew());
        json.set("awaitingJoin", member.isAwaitingJoin() ? coordinator.waits("JoinGroup", member) : null);
        json.set("awaitingSync", member.isAwaitingSync() ? coordinator.waits("SyncGroup", member) : null);
        return json.put("owesSync", group.allPendingSyncMembers().contains(member.memberId()))
            .put("sessionTimeoutMs", member.sessionTimeoutMs()).put("rebalanceTimeoutMs", member.rebalanceTimeoutMs())
            .put("clientId", member.clientId()).put("clientHost", member.clientHost());
    }

    /** What a member of a consumer group has besides if it uses the classic protocol. Of its rebalance Kafka has timers alone. */
    static ObjectNode member(Coordinator coordinator, String group, ConsumerGroupMember member) {
        ClassicMemberMetadata metadata = member.classicMemberMetadata().orElse(null);
        if (metadata == null) return Json.object();
        ObjectNode json = Json.object().put("classicState",
            coordinator.isArmed(ClassicTimers.join(group, member.memberId())) ? "PreparingRebalance"
            : coordinator.isArmed(ClassicTimers.sync(group, member.memberId())) ? "CompletingRebalance" : "Stable");
        ObjectNode said = json.putObject("classicMemberMetadata").put("sessionTimeoutMs", metadata.sessionTimeoutMs());
        ArrayNode protocols = said.putArray("supportedProtocols");
        metadata.supportedProtocols().forEach(one ->
            protocols.addObject().put("name", one.name()).put("metadata", text(one.metadata())));
        return json;
    }

    private static String text(byte[] bytes) {
        return Base64.getEncoder().encodeToString(bytes);
    }
}
