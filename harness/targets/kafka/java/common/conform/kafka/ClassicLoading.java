package conform.kafka;

import com.fasterxml.jackson.databind.JsonNode;
import org.apache.kafka.common.message.JoinGroupRequestData.JoinGroupRequestProtocol;
import org.apache.kafka.common.message.JoinGroupRequestData.JoinGroupRequestProtocolCollection;
import org.apache.kafka.common.message.JoinGroupResponseData;
import org.apache.kafka.common.message.SyncGroupResponseData;
import org.apache.kafka.coordinator.group.ClassicTimers;
import org.apache.kafka.coordinator.group.classic.ClassicGroup;
import org.apache.kafka.coordinator.group.classic.ClassicGroupMember;
import org.apache.kafka.coordinator.group.classic.ClassicGroupState;

import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * What records do not hold of a classic group, put into the one that Kafka has loaded from them: all that `describe`
 * shows. Kafka's own methods arm the timers; their deadlines are then those that are given.
 */
final class ClassicLoading {
    private final Coordinator coordinator;
    private final ClassicGroup group;
    private final JsonNode given;
    private final Map<String, JsonNode> members = new HashMap<>();

    private ClassicLoading(Coordinator coordinator, ClassicGroup group, JsonNode given) {
        this.coordinator = coordinator;
        this.group = group;
        this.given = given;
        for (JsonNode member : Json.list(given, "members", "a classic group"))
            members.put(Json.text(member, "memberId", "a member of a classic group"), member);
    }

    /** Make each group what it is described as. BadInput for one that the records do not have. */
    static void restore(Coordinator coordinator, JsonNode described) {
        described.properties().forEach(field -> {
            if (!(coordinator.group(field.getKey()) instanceof ClassicGroup group))
                throw new BadInput("volatile has the classic group '" + field.getKey() + "', which the records do not have");
            new ClassicLoading(coordinator, group, field.getValue()).restore();
        });
    }

    private void restore() {
        for (String name : List.copyOf(group.allMemberIds())) if (!members.containsKey(name)) group.remove(name);
        members.forEach(this::join);
        for (String name : Json.texts(given, "pending", "a classic group")) {
            group.addPendingMember(name);
            coordinator.groups().rescheduleClassicGroupMemberHeartbeat(group, made(name, given));
        }
        String state = Json.text(given, "state", "a classic group");
        Private.set(group, "generationId", Json.integer(given, "generation", "a classic group"));
        String type = Json.text(given, "protocolType", "a classic group");
        Private.set(group, "protocolType", type.isEmpty() ? Optional.empty() : Optional.of(type));
        group.setLeaderId(Optional.ofNullable(Json.optionalText(given, "leader", "a classic group")));
        group.setProtocolName(Optional.ofNullable(Json.optionalText(given, "protocol", "a classic group")));
        group.setSubscribedTopics(group.computeSubscribedTopics());
        boolean barrier = state.equals("PreparingRebalance");
        boolean initial = Json.has(given, "delayRemainingMs");
        Private.set(group, "state", barrier ? initial ? ClassicGroupState.EMPTY : ClassicGroupState.STABLE : named(state));
        if (barrier) ClassicTimers.prepare(coordinator.groups(), group);
        members.forEach(this::await);
        group.setNewMemberAdded(given.path("newMember").asBoolean());
        if (!group.allPendingSyncMembers().isEmpty()) Private.call(coordinator.groups(), "schedulePendingSync", group);
        for (JsonNode timer : Json.list(given, "timers", "a classic group")) setDeadline(timer);
    }

    private static ClassicGroupState named(String state) {
        for (ClassicGroupState one : ClassicGroupState.values()) if (one.toString().equals(state)) return one;
        throw new BadInput("a classic group has no state '" + state + "'");
    }

    private ClassicGroupMember made(String name, JsonNode member) {
        return new ClassicGroupMember(name, Optional.ofNullable(Json.optionalText(member, "instanceId", name)),
            member.path("clientId").asText(""), member.path("clientHost").asText(""),
            member.path("rebalanceTimeoutMs").asInt(), member.path("sessionTimeoutMs").asInt(45_000),
            given.path("protocolType").asText(""), protocols(member));
    }

    private static JoinGroupRequestProtocolCollection protocols(JsonNode member) {
        JoinGroupRequestProtocolCollection protocols = new JoinGroupRequestProtocolCollection();
        for (JsonNode one : Json.list(member, "protocols", "a member of a classic group"))
            protocols.add(new JoinGroupRequestProtocol().setName(Json.text(one, "name", "a protocol"))
                .setMetadata(bytes(Json.text(one, "metadata", "a protocol"))));
        return protocols;
    }

    private static byte[] bytes(String text) {
        return Base64.getDecoder().decode(text);
    }

    /** As a member that waits for nothing. */
    private void join(String name, JsonNode member) {
        if (!group.hasMember(name)) group.add(made(name, member));
        ClassicGroupMember there = group.member(name);
        group.updateMember(there, protocols(member), there.rebalanceTimeoutMs(), there.sessionTimeoutMs(), null);
        there.setAssignment(bytes(Json.text(member, "assignment", name)));
        there.setIsNew(member.path("isNew").asBoolean());
        if (member.path("owesSync").asBoolean()) group.addPendingSyncMember(name);
        coordinator.groups().rescheduleClassicGroupMemberHeartbeat(group, there);
    }

    private void await(String name, JsonNode member) {
        ClassicGroupMember there = group.member(name);
        if (Json.has(member, "awaitingJoin")) {
            CompletableFuture<JoinGroupResponseData> response = new CompletableFuture<>();
            group.updateMember(there, protocols(member), there.rebalanceTimeoutMs(), there.sessionTimeoutMs(), response);
            waits(member.get("awaitingJoin"), "JoinGroup", there, Requests.answer("JoinGroup", response));
        }
        if (Json.has(member, "awaitingSync")) {
            CompletableFuture<SyncGroupResponseData> response = new CompletableFuture<>();
            there.setAwaitingSyncFuture(response);
            waits(member.get("awaitingSync"), "SyncGroup", there, Requests.answer("SyncGroup", response));
        }
    }

    private void waits(JsonNode id, String api, ClassicGroupMember member, CompletableFuture<JsonNode> response) {
        coordinator.waiting.add(new Coordinator.Waiting(id, api, member.clientId(), member.groupInstanceId().orElse(""), response));
    }

    private void setDeadline(JsonNode timer) {
        for (Coordinator.MemberTimer armed : coordinator.timers(group.groupId()))
            if (armed.kind().equals(timer.path("timer").asText()) && armed.member().equals(timer.path("member").asText()))
                coordinator.time.move(coordinator.task(armed), Json.number(timer, "deadlineMs", "a timer"));
    }
}
