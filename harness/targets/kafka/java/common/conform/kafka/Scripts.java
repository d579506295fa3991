package conform.kafka;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.group.api.assignor.ConsumerGroupPartitionAssignor;
import org.apache.kafka.coordinator.group.api.assignor.GroupAssignment;
import org.apache.kafka.coordinator.group.api.assignor.GroupSpec;
import org.apache.kafka.coordinator.group.api.assignor.MemberAssignment;
import org.apache.kafka.coordinator.group.api.assignor.PartitionAssignorException;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.assignor.RangeAssignor;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The scripted next target assignments, one a group, and Kafka's assignors, which use them up. */
final class Scripts {
    /** Member id ("" for the one that joins without one) to partitions; or the message of an assignor that fails. */
    record Script(Map<String, Map<Uuid, Set<Integer>>> target, String error) { }

    private record Assigned(Map<Uuid, Set<Integer>> partitions) implements MemberAssignment { }

    private final Map<String, Script> scripts = new HashMap<>();
    private String group = "";
    private boolean consumed;

    void set(String groupId, Script script) {
        scripts.put(groupId, script);
    }

    void clear() {
        scripts.clear();
    }

    /** An assignor is not told for which group it works: it is the one that is being worked on. */
    void workOn(String groupId) {
        group = groupId;
    }

    String workingOn() {
        return group;
    }

    /** Whether a script was used since the last time that this was asked. */
    boolean consumed() {
        boolean was = consumed;
        consumed = false;
        return was;
    }

    /** Kafka's assignors under their names, the default first. */
    List<ConsumerGroupPartitionAssignor> assignors() {
        return List.of(new Scripted(new UniformAssignor()), new Scripted(new RangeAssignor()));
    }

    private final class Scripted implements ConsumerGroupPartitionAssignor {
        private final ConsumerGroupPartitionAssignor kafkas;

        Scripted(ConsumerGroupPartitionAssignor kafkas) {
            this.kafkas = kafkas;
        }

        @Override public String name() {
            return kafkas.name();
        }

        @Override public GroupAssignment assign(GroupSpec members, SubscribedTopicDescriber topics) {
            Script script = scripts.remove(group);
            if (script == null) return kafkas.assign(members, topics);
            consumed = true;
            if (script.error != null) throw new PartitionAssignorException(script.error);
            Map<String, MemberAssignment> assignment = new HashMap<>();
            for (String member : members.memberIds())
                assignment.put(member, new Assigned(script.target.getOrDefault(script.target.containsKey(member) ? member : "", Map.of())));
            return new GroupAssignment(assignment);
        }
    }
}
