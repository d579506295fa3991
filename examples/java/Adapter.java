import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.util.*;

/** An adapter's skeleton: the line protocol, and a small consumer group in memory, which your coordinator replaces. */
public class Adapter {
    static final ObjectMapper JSON = new ObjectMapper();
    static final Set<String> FIELDS = Set.of("groupId", "memberId", "memberEpoch", "rackId", "rebalanceTimeoutMs",
        "subscribedTopicNames", "topicPartitions");
    static final List<String> HIDDEN = List.of("timers", "metadata", "members.instanceId", "members.rackId",
        "members.clientId", "members.clientHost", "members.serverAssignor", "members.subscribedTopicRegex",
        "members.targetError"); // TODO: show them, and take them out of this list
    static final int UNKNOWN_MEMBER_ID = 25, INVALID_REQUEST = 42, FENCED_MEMBER_EPOCH = 110;

    record Partition(String topic, int index) implements Comparable<Partition> {
        public int compareTo(Partition other) {
            return Comparator.comparing(Partition::topic).thenComparing(Partition::index).compare(this, other);
        }
    }

    record Topic(String id, int partitions) {}

    static class Member {
        int epoch, previous, rebalanceTimeoutMs;
        SortedSet<Partition> assigned = new TreeSet<>(), revoking = new TreeSet<>(), target = new TreeSet<>();
        boolean acknowledged;
        SortedSet<String> names = new TreeSet<>();
    }

    static class Group {
        int epoch, assignmentEpoch;
        SortedMap<String, Topic> topics = new TreeMap<>();
        SortedMap<String, Member> members = new TreeMap<>();
    }

    final SortedMap<String, Topic> topics = new TreeMap<>();
    final SortedMap<String, Group> groups = new TreeMap<>();
    final Map<String, Map<String, SortedSet<Partition>>> scripts = new HashMap<>();
    final Deque<String> ids = new ArrayDeque<>();
    int drawn;
    boolean consumed;

    public static void main(String[] arguments) throws IOException {
        var adapter = new Adapter();
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        var out = new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
        for (String line; (line = in.readLine()) != null; out.flush()) {
            try {
                out.print(adapter.answer(JSON.readTree(line)).put("ok", true) + "\n");
            } catch (IOException | RuntimeException refused) { // nothing has changed
                var error = String.valueOf(refused.getMessage());
                out.print(JSON.createObjectNode().put("ok", false).put("error", error) + "\n");
            }
        }
    }

    static RuntimeException refuse(String why) {
        return new IllegalArgumentException(why);
    }

    /** A text as it is: asText would also make one of 7 and null. */
    static String text(JsonNode value) {
        if (!value.isTextual() && !value.isMissingNode()) throw refuse("a text is needed, not " + value);
        return value.asText();
    }

    /** A number as it is: asInt would also make one of "0", true, 0.5 and 1e99. */
    static int whole(JsonNode value) {
        if (!value.isIntegralNumber() || !value.canConvertToInt()) throw refuse("a number is needed, not " + value);
        return value.asInt();
    }

    ObjectNode answer(JsonNode op) {
        consumed = false;
        var answer = JSON.createObjectNode();
        switch (op.path("op").asText()) {
            case "hello" -> answer.setAll((ObjectNode) JSON.valueToTree(Map.of("name", "adapter in Java",
                "dialect", "kip-848", "apis", Map.of("ConsumerGroupHeartbeat", List.of(0, 0)),
                "controls", List.of("topics", "describe", "assign", "ids"), "unobserved", HIDDEN,
                "lacks", List.of("static members", "regular expressions", "client-side assignors",
                    "server-side assignor uniform", "server-side assignor range"))));
            case "request" -> {
                if (!op.path("api").asText().equals("ConsumerGroupHeartbeat") || op.path("version").asInt() != 0)
                    throw refuse("only version 0 of ConsumerGroupHeartbeat is here");
                answer.set("body", heartbeat(op.path("body")));
                if (op.has("id")) answer.set("id", op.get("id"));
            }
            case "topics" -> setTopics(op);
            case "describe" -> answer.set("group", describe(text(op.path("group"))));
            case "assign" -> {
                if (op.hasNonNull("error")) throw refuse("an assignor that fails is not here yet"); // TODO
                var target = new HashMap<String, SortedSet<Partition>>();
                op.path("target").fields().forEachRemaining(
                    one -> target.put(one.getKey(), partitions(one.getValue())));
                scripts.put(text(op.path("group")), target);
            }
            case "ids" -> {
                var next = new ArrayList<String>();
                op.path("next").forEach(id -> next.add(text(id)));
                ids.addAll(next);
            }
            default -> throw refuse("there is no operation " + op.path("op") + " here"); // TODO: advance, fire, records
        }
        if (consumed) answer.put("consumed", true);
        if (op.hasNonNull("observe")) answer.set("group", describe(op.get("observe").asText()));
        return answer;
    }

    // From here on: the group in memory, to be replaced.

    ObjectNode heartbeat(JsonNode body) {
        body.fields().forEachRemaining(field -> { // TODO: instanceId, subscribedTopicRegex, serverAssignor
            if (!FIELDS.contains(field.getKey()) && !field.getValue().isNull())
                throw refuse(field.getKey() + " of ConsumerGroupHeartbeat is not supported here");
        });
        String groupId = text(body.path("groupId")), id = text(body.path("memberId"));
        int epoch = whole(body.path("memberEpoch"));
        int timeoutMs = body.hasNonNull("rebalanceTimeoutMs") ? whole(body.get("rebalanceTimeoutMs")) : -1;
        boolean joins = epoch == 0;
        var names = body.hasNonNull("subscribedTopicNames") ? new TreeSet<String>() : null;
        if (names != null) body.get("subscribedTopicNames").forEach(name -> names.add(text(name)));
        var owned = body.hasNonNull("topicPartitions") ? partitions(body.get("topicPartitions")) : null;
        if (groupId.isEmpty() || (id.isEmpty() && !joins) || epoch < -1 || (joins && (names == null || timeoutMs <= 0)))
            return error(INVALID_REQUEST, "The request is not valid."); // TODO: the other rules of H3 and H4
        var group = groups.getOrDefault(groupId, new Group());
        while (id.isEmpty()) {
            var next = ids.isEmpty() ? new UUID(0x4000, Long.MIN_VALUE + ++drawn).toString() : ids.remove();
            if (!group.members.containsKey(next)) id = next;
        }
        var member = joins ? new Member() : group.members.get(id);
        if (member == null) return error(UNKNOWN_MEMBER_ID, "The group does not have this member.");
        boolean current = !joins && epoch == member.epoch;
        boolean retries = epoch == member.previous && (owned == null || member.target.containsAll(owned));
        if (epoch == -1 || !(joins || current || retries)) { // it leaves (H2), or is fenced (H5)
            group.members.remove(id);
            refresh(groupId, group, true);
            return epoch == -1 ? response(-1, 0) : error(FENCED_MEMBER_EPOCH, "Rejoin with member epoch 0.");
        }
        groups.put(groupId, group);
        group.members.put(id, member);
        boolean changed = joins || (names != null && !names.equals(member.names));
        if (names != null) member.names = names;
        if (timeoutMs > 0) member.rebalanceTimeoutMs = timeoutMs;
        refresh(groupId, group, changed);
        reconcile(group, id, member, joins, current, owned);
        var response = response(member.epoch, 5000);
        if (joins) response.put("memberId", id); // H9
        boolean converged = member.epoch == group.assignmentEpoch && member.revoking.isEmpty();
        if (!(member.acknowledged && converged && member.assigned.equals(member.target))) // R5
            response.putObject("assignment").put("error", 0).put("metadataVersion", 0).put("metadataBytes", "")
                .<ObjectNode>set("assignedTopicPartitions", wire(member.assigned))
                .set("pendingTopicPartitions", wire(minus(converged ? member.target : Set.of(), member.assigned)));
        return response;
    }

    /** One member comes closer to its target (R1 to R6), and its acknowledgement is noted. */
    static void reconcile(Group group, String id, Member member, boolean joins, boolean current, Set<Partition> owned) {
        var before = member.assigned;
        boolean acknowledges = current && owned != null && Collections.disjoint(owned, member.revoking);
        var surplus = minus(before, member.target);
        boolean revokes = !member.revoking.isEmpty() && !acknowledges;
        if (revokes || !surplus.isEmpty()) {
            if (!revokes) member.revoking = new TreeSet<>();
            member.revoking.addAll(surplus);
            member.assigned = minus(before, surplus);
        } else {
            if (member.epoch != group.assignmentEpoch) member.previous = member.epoch;
            member.epoch = group.assignmentEpoch;
            member.revoking = new TreeSet<>();
            member.assigned = new TreeSet<>(member.target);
            group.members.forEach((name, other) -> {
                if (!name.equals(id)) member.assigned = minus(minus(member.assigned, other.assigned), other.revoking);
            });
        }
        if (joins || !member.assigned.equals(before)) member.acknowledged = false;
        else if (current && owned != null) member.acknowledged = owned.equals(member.assigned);
    }

    /** Moves the group epoch on if something changed (E1), and computes the target that is due (E2). */
    void refresh(String groupId, Group group, boolean changed) {
        var known = new TreeMap<>(topics);
        known.keySet().removeIf(name -> group.members.values().stream().noneMatch(one -> one.names.contains(name)));
        if (!changed && known.equals(group.topics)) return;
        group.topics = known;
        group.assignmentEpoch = ++group.epoch;
        if (group.members.isEmpty()) return;
        var script = scripts.remove(groupId);
        consumed |= script != null;
        group.members.forEach((id, member) ->
            member.target = script == null ? new TreeSet<>() : script.getOrDefault(id, new TreeSet<>()));
        if (script == null) known.forEach((name, topic) -> {
            var takers = group.members.values().stream().filter(one -> one.names.contains(name)).toList();
            for (int index = 0; index < topic.partitions; index++)
                takers.get(index % takers.size()).target.add(new Partition(topic.id, index));
        });
    }

    void setTopics(JsonNode op) {
        var changed = new TreeMap<>(topics);
        op.path("delete").forEach(name -> changed.remove(name.asText()));
        for (var one : op.path("upsert")) {
            if (!one.hasNonNull("name") || !one.hasNonNull("id") || whole(one.path("partitions")) < 1)
                throw refuse("a topic needs name, id and partitions");
            changed.put(text(one.get("name")), new Topic(text(one.get("id")), whole(one.get("partitions"))));
        }
        topics.clear();
        topics.putAll(changed);
        groups.forEach((id, group) -> refresh(id, group, false));
    }

    ObjectNode describe(String id) {
        var group = groups.getOrDefault(id, new Group());
        var members = JSON.createArrayNode();
        group.members.forEach((name, m) -> {
            boolean waits = m.epoch == group.assignmentEpoch && !m.assigned.equals(m.target);
            var state = !m.revoking.isEmpty() ? "UNREVOKED_PARTITIONS" : waits ? "UNRELEASED_PARTITIONS" : "STABLE";
            members.addObject().put("memberId", name).put("memberEpoch", m.epoch).put("previousMemberEpoch", m.previous)
                .put("state", state).put("acknowledged", m.acknowledged).put("rebalanceTimeoutMs", m.rebalanceTimeoutMs)
                .<ObjectNode>set("subscribedTopicNames", JSON.valueToTree(m.names))
                .<ObjectNode>set("assigned", wire(m.assigned)).<ObjectNode>set("target", wire(m.target))
                .set("pendingRevocation", wire(m.revoking));
        });
        boolean stable = group.members.values().stream().allMatch(
            m -> m.epoch == group.epoch && m.revoking.isEmpty() && m.assigned.equals(m.target));
        var state = group.epoch == 0 ? "Dead" : group.members.isEmpty() ? "Empty" : stable ? "Stable" : "Reconciling";
        return JSON.createObjectNode().put("groupId", id).put("state", state).put("groupEpoch", group.epoch)
            .put("assignmentEpoch", group.assignmentEpoch).set("members", members);
    }

    static ObjectNode response(int epoch, int intervalMs) {
        return JSON.createObjectNode().put("throttleTimeMs", 0).put("errorCode", 0).putNull("errorMessage")
            .putNull("memberId").put("memberEpoch", epoch).put("shouldComputeAssignment", false)
            .put("heartbeatIntervalMs", intervalMs).putNull("assignment");
    }

    static ObjectNode error(int code, String message) {
        return response(0, 0).put("errorCode", code).put("errorMessage", message);
    }

    static SortedSet<Partition> minus(Set<Partition> from, Set<Partition> what) {
        var rest = new TreeSet<>(from);
        rest.removeIf(what::contains);
        return rest;
    }

    static SortedSet<Partition> partitions(JsonNode listed) {
        if (!listed.isArray()) throw refuse("topic partitions are a list");
        var read = new TreeSet<Partition>();
        for (var topic : listed)
            for (var index : topic.path("partitions"))
                read.add(new Partition(text(topic.path("topicId")), whole(index)));
        return read;
    }

    static ArrayNode wire(SortedSet<Partition> partitions) {
        var listed = new TreeMap<String, List<Integer>>();
        partitions.forEach(one -> listed.computeIfAbsent(one.topic, id -> new ArrayList<>()).add(one.index));
        var topics = JSON.createArrayNode();
        listed.forEach(
            (id, indices) -> topics.addObject().put("topicId", id).set("partitions", JSON.valueToTree(indices)));
        return topics;
    }
}
