package conform.kafka;

import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.kafka.coordinator.group.Group;
import org.apache.kafka.coordinator.group.classic.ClassicGroup;
import org.apache.kafka.coordinator.group.modern.MemberState;
import org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroup;
import org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroupMember;

import java.util.List;
import java.util.TreeSet;

/** A group as the line protocol describes it, lists sorted. */
final class Describe {
    /** What `describe` of a KIP-848 coordinator has and Kafka cannot show. */
    static final List<String> UNOBSERVED = List.of("members.acknowledged", "members.clientAssignors",
        "timers.group", "delayRemainingMs");

    private Describe() { }

    /** A group that does not exist is Dead and empty; of one that nobody joined, which holds offsets, its state is shown. */
    static ObjectNode group(Coordinator coordinator, String id) {
        Group any = coordinator.group(id);
        if (any instanceof ClassicGroup classic && !(classic.isSimpleGroup() && !coordinator.log.names(id)))
            return Classic.group(coordinator, classic).set("timers", coordinator.armed(id));
        ConsumerGroup group = any instanceof ConsumerGroup consumer ? consumer : null;
        ObjectNode json = Json.object().put("groupId", id).put("state", any == null ? "Dead" : any.stateAsString())
            .put("groupEpoch", group == null ? 0 : group.groupEpoch())
            .put("assignmentEpoch", group == null ? 0 : group.assignmentEpoch());
        json.set("metadata", group == null ? Json.array() : coordinator.topics.recorded(group));
        var members = json.putArray("members");
        if (group != null)
            for (String member : new TreeSet<>(group.members().keySet())) members.add(member(coordinator, group, group.members().get(member)));
        json.set("timers", coordinator.armed(id));
        return json;
    }

    private static ObjectNode member(Coordinator coordinator, ConsumerGroup group, ConsumerGroupMember member) {
        ObjectNode json = Json.object().put("memberId", member.memberId()).put("instanceId", member.instanceId())
            .put("memberEpoch", member.memberEpoch()).put("previousMemberEpoch", member.previousMemberEpoch())
            .put("state", state(group, member));
        json.set("assigned", Json.partitions(member.assignedPartitions()));
        json.set("pendingRevocation", Json.partitions(member.partitionsPendingRevocation()));
        json.set("target", Json.partitions(group.targetAssignment(member.memberId()).partitions()));
        json.put("targetError", 0);
        var names = json.putArray("subscribedTopicNames");
        new TreeSet<>(member.subscribedTopicNames()).forEach(names::add);
        String regex = member.subscribedTopicRegex();
        return json.put("subscribedTopicRegex", regex == null || regex.isEmpty() ? null : regex)
            .put("serverAssignor", member.serverAssignorName().orElse(null))
            .put("rebalanceTimeoutMs", member.rebalanceTimeoutMs()).put("rackId", member.rackId())
            .put("clientId", member.clientId()).put("clientHost", member.clientHost())
            .setAll(Classic.member(coordinator, group.groupId(), member));
    }

    /**
     * What the member waits for. Kafka leaves a state as it was where it has lost its meaning: UNRELEASED_PARTITIONS
     * of a target that has been replaced since, UNREVOKED_PARTITIONS of a member that is away. Those are STABLE here.
     */
    private static String state(ConsumerGroup group, ConsumerGroupMember member) {
        boolean released = member.state() == MemberState.UNRELEASED_PARTITIONS && member.memberEpoch() != group.assignmentEpoch();
        boolean revoked = member.state() == MemberState.UNREVOKED_PARTITIONS && member.partitionsPendingRevocation().isEmpty();
        return (released || revoked ? MemberState.STABLE : member.state()).name();
    }
}
