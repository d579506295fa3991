package conform.kafka;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.clients.consumer.internals.ConsumerProtocol;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.utils.Utils;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What the leader of a classic group computes with Kafka's own assignors and its own bytes. Reads a JSON object a line,
 * {"protocol", "members": [{"memberId", "groupInstanceId", "metadata"}], "partitions": {topic: count}}, bytes as text in
 * base64, and writes as many lines {member id: assignment}.
 */
public final class ClassicAssignors {
    private ClassicAssignors() { }

    public static void main(String[] arguments) throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine())
            System.out.println(assigned(Json.MAPPER.readTree(line)));
    }

    private static ObjectNode assigned(JsonNode asked) {
        Map<String, Subscription> subscriptions = new HashMap<>();
        for (JsonNode member : asked.get("members")) {
            byte[] metadata = Base64.getDecoder().decode(member.get("metadata").asText());
            Subscription subscription = ConsumerProtocol.deserializeSubscription(ByteBuffer.wrap(metadata));
            subscription.setGroupInstanceId(Optional.ofNullable(member.get("groupInstanceId").textValue()));
            subscriptions.put(member.get("memberId").asText(), subscription);
        }
        ObjectNode result = Json.object();
        assignor(asked.get("protocol").asText())
            .assign(cluster(asked.get("partitions")), new GroupSubscription(subscriptions))
            .groupAssignment()
            .forEach((member, assignment) -> result.put(member, Base64.getEncoder().encodeToString(
                Utils.toArray(ConsumerProtocol.serializeAssignment(assignment)))));
        return result;
    }

    private static ConsumerPartitionAssignor assignor(String name) {
        return switch (name) {
            case "range" -> new RangeAssignor();
            case "roundrobin" -> new RoundRobinAssignor();
            case "sticky" -> new StickyAssignor();
            default -> new CooperativeStickyAssignor();
        };
    }

    private static Cluster cluster(JsonNode partitions) {
        Node node = new Node(0, "localhost", 9092);
        Node[] replicas = {node};
        List<PartitionInfo> found = new ArrayList<>();
        partitions.fields().forEachRemaining(topic -> {
            for (int index = 0; index < topic.getValue().asInt(); index++)
                found.add(new PartitionInfo(topic.getKey(), index, node, replicas, replicas));
        });
        return new Cluster("cluster", List.of(node), found, Set.of(), Set.of());
    }
}
