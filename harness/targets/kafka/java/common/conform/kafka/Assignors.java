package conform.kafka;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.group.api.assignor.ConsumerGroupPartitionAssignor;
import org.apache.kafka.coordinator.group.api.assignor.GroupAssignment;
import org.apache.kafka.coordinator.group.api.assignor.MemberAssignment;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;
import org.apache.kafka.coordinator.group.assignor.RangeAssignor;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;
import org.apache.kafka.coordinator.group.modern.Assignment;
import org.apache.kafka.coordinator.group.modern.GroupSpecImpl;
import org.apache.kafka.coordinator.group.modern.MemberSubscriptionAndAssignmentImpl;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * How long one of Kafka's assignors takes, alone: for the benchmark. Reads one JSON object, {"assignor", "members",
 * "topics", "partitions" (of each topic), "warmups", "rounds"}; every member subscribes to every topic, and the last one
 * is who joins. Writes seconds of the processor, one a round: {"initial": [], "join": [], "leave": []}.
 */
public final class Assignors {
    private final ConsumerGroupPartitionAssignor assignor;
    private final Set<Uuid> topics = new TreeSet<>();
    private final SubscribedTopicDescriber described;
    private final int partitions;

    private Assignors(JsonNode asked) {
        assignor = asked.get("assignor").asText().equals("range") ? new RangeAssignor() : new UniformAssignor();
        asked.get("topics").forEach(id -> topics.add(Json.uuid(id.asText())));
        partitions = asked.get("partitions").asInt();
        described = new SubscribedTopicDescriber() {
            @Override public int numPartitions(Uuid topic) {
                return topics.contains(topic) ? partitions : -1;
            }

            @Override public Set<String> racksForPartition(Uuid topic, int partition) {
                return Set.of();
            }
        };
    }

    public static void main(String[] arguments) throws IOException {
        JsonNode asked = Json.MAPPER.readTree(System.in);
        System.out.println(new Assignors(asked).measured(asked));
    }

    private ObjectNode measured(JsonNode asked) {
        List<String> everyone = new ArrayList<>();
        asked.get("members").forEach(member -> everyone.add(member.asText()));
        List<String> before = everyone.subList(0, everyone.size() - 1);
        List<String> after = new ArrayList<>(before);
        after.remove(before.size() / 2);
        Map<String, MemberAssignment> current = assigned(spec(before, Map.of()));
        ObjectNode result = Json.object();
        result.set("initial", seconds(before, Map.of(), asked));
        result.set("join", seconds(everyone, current, asked));
        result.set("leave", seconds(after, current, asked));
        return result;
    }

    private ArrayNode seconds(List<String> members, Map<String, MemberAssignment> current, JsonNode asked) {
        GroupSpecImpl spec = spec(members, current);
        var processor = ManagementFactory.getThreadMXBean();
        assigned(spec);
        for (int warmup = 1; warmup < asked.get("warmups").asInt(); warmup++)
            assignor.assign(spec, described);
        ArrayNode found = Json.array();
        for (int round = 0; round < asked.get("rounds").asInt(); round++) {
            long begin = processor.getCurrentThreadCpuTime();
            assignor.assign(spec, described);
            found.add((processor.getCurrentThreadCpuTime() - begin) / 1e9);
        }
        return found;
    }

    /** As a coordinator makes it: what members have, and whose each partition is. */
    private GroupSpecImpl spec(List<String> members, Map<String, MemberAssignment> current) {
        Map<String, MemberSubscriptionAndAssignmentImpl> subscribed = new HashMap<>();
        Map<Uuid, Map<Integer, String>> owners = new HashMap<>();
        for (String member : members) {
            Map<Uuid, Set<Integer>> has = current.containsKey(member) ? current.get(member).partitions() : Map.of();
            has.forEach((topic, indexes) -> indexes.forEach(
                index -> owners.computeIfAbsent(topic, each -> new HashMap<>()).put(index, member)));
            subscribed.put(member, new MemberSubscriptionAndAssignmentImpl(
                Optional.empty(), Optional.empty(), topics, new Assignment(has)));
        }
        return new GroupSpecImpl(subscribed, SubscriptionType.HOMOGENEOUS, owners);
    }

    private Map<String, MemberAssignment> assigned(GroupSpecImpl spec) {
        GroupAssignment assignment = assignor.assign(spec, described);
        int count = 0;
        for (MemberAssignment member : assignment.members().values())
            for (Set<Integer> indexes : member.partitions().values())
                count += indexes.size();
        if (count != partitions * topics.size())
            throw new IllegalStateException(count + " partitions were assigned");
        return assignment.members();
    }
}
