package conform.kafka;

import com.fasterxml.jackson.databind.node.ObjectNode;

import java.util.Map;

/** Kafka 4.0's commits and fetches have no topic ids, which those of the line protocol have: there are none here. */
final class Offsets {
    private Offsets() { }

    static void addTo(Map<String, Requests.Api<?, ?>> apis) { }

    static boolean prepare(String api, ObjectNode body) {
        return false;
    }
}
