package conform.kafka;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.kafka.common.Uuid;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;

/**
 * Reading JSON strictly, and the normal form of what Kafka writes as JSON: topic ids are RFC 4122 text instead of
 * base64, and partitions ([{"topicId", "partitions"}]) are sorted.
 */
final class Json {
    static final ObjectMapper MAPPER = new ObjectMapper();
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private Json() { }

    static ObjectNode object() {
        return NODES.objectNode();
    }

    static ArrayNode array() {
        return NODES.arrayNode();
    }

    // ---- reading ----

    static void known(JsonNode node, Set<String> names, String where) {
        node.fieldNames().forEachRemaining(name -> {
            if (!names.contains(name)) throw new BadInput(where + " has no field '" + name + "'");
        });
    }

    /** A field that must be there, of the kind that `is` tests. */
    private static JsonNode field(JsonNode node, String name, String where, String kind) {
        JsonNode value = node.path(name);
        boolean fits = switch (kind) {
            case "text" -> value.isTextual();
            case "a whole number" -> value.isIntegralNumber() && value.canConvertToLong();
            case "a list" -> value.isArray();
            default -> value.isObject();
        };
        if (!fits) throw new BadInput("'" + name + "' of " + where + " must be " + kind + ", not " + value);
        return value;
    }

    static boolean has(JsonNode node, String name) {
        return !node.path(name).isMissingNode() && !node.path(name).isNull();
    }

    static String text(JsonNode node, String name, String where) {
        return field(node, name, where, "text").asText();
    }

    static String optionalText(JsonNode node, String name, String where) {
        return has(node, name) ? text(node, name, where) : null;
    }

    static long number(JsonNode node, String name, String where) {
        return field(node, name, where, "a whole number").asLong();
    }

    /** A number of at least 0. */
    static long count(JsonNode node, String name, String where) {
        long value = number(node, name, where);
        if (value < 0) throw new BadInput("'" + name + "' of " + where + " must be at least 0, not " + value);
        return value;
    }

    static int integer(JsonNode node, String name, String where) {
        long value = number(node, name, where);
        if ((int) value != value) throw new BadInput("'" + name + "' of " + where + " is too large: " + value);
        return (int) value;
    }

    static JsonNode object(JsonNode node, String name, String where) {
        return field(node, name, where, "an object");
    }

    /** A list that may be left out. */
    static JsonNode list(JsonNode node, String name, String where) {
        return has(node, name) ? field(node, name, where, "a list") : array();
    }

    static List<String> texts(JsonNode node, String name, String where) {
        List<String> texts = new ArrayList<>();
        for (JsonNode item : list(node, name, where)) {
            if (!item.isTextual()) throw new BadInput("'" + name + "' of " + where + " must be a list of text");
            texts.add(item.asText());
        }
        return texts;
    }

    // ---- topic ids and partitions ----

    static Uuid uuid(String rfc4122) {
        try {
            if (rfc4122.length() != 36) throw new IllegalArgumentException();
            UUID uuid = UUID.fromString(rfc4122);
            return new Uuid(uuid.getMostSignificantBits(), uuid.getLeastSignificantBits());
        } catch (IllegalArgumentException e) {
            throw new BadInput("'" + rfc4122 + "' is no topic id: it must be a UUID as RFC 4122 text");
        }
    }

    static String rfc4122(Uuid uuid) {
        return new UUID(uuid.getMostSignificantBits(), uuid.getLeastSignificantBits()).toString();
    }

    /** [{"topicId", "partitions"}] as sets by topic. */
    static Map<Uuid, Set<Integer>> partitions(JsonNode node, String name, String where) {
        Map<Uuid, Set<Integer>> partitions = new TreeMap<>();
        for (JsonNode topic : list(node, name, where)) {
            if (!topic.isObject()) throw new BadInput("'" + name + "' of " + where + " must hold objects");
            Set<Integer> indexes = partitions.computeIfAbsent(uuid(text(topic, "topicId", where)), id -> new TreeSet<>());
            for (JsonNode index : list(topic, "partitions", where)) {
                if (!index.canConvertToInt() || index.asInt() < 0) throw new BadInput(where + " has no partition " + index);
                if (!indexes.add(index.asInt())) throw new BadInput(where + " names partition " + index + " twice");
            }
        }
        return partitions;
    }

    /** Kafka's partitions by topic, in some versions with the epoch of each, as [{"topicId", "partitions"}], sorted. */
    static ArrayNode partitions(Map<Uuid, ?> partitions) {
        Map<String, Set<Integer>> sorted = new TreeMap<>();
        partitions.forEach((id, indexes) -> {
            if (!indexes(indexes).isEmpty()) sorted.put(rfc4122(id), new TreeSet<>(indexes(indexes)));
        });
        ArrayNode topics = array();
        sorted.forEach((id, indexes) -> {
            ArrayNode list = topics.addObject().put("topicId", id).putArray("partitions");
            indexes.forEach(list::add);
        });
        return topics;
    }

    @SuppressWarnings("unchecked")
    static Collection<Integer> indexes(Object partitions) {
        return partitions instanceof Map<?, ?> epochs ? (Set<Integer>) epochs.keySet() : (Collection<Integer>) partitions;
    }

    // ---- Kafka's JSON ----

    /** A copy with the topic ids as Kafka's converters read them. */
    static JsonNode toKafka(JsonNode node) {
        if (node.isArray()) {
            ArrayNode copy = array();
            node.forEach(item -> copy.add(toKafka(item)));
            return copy;
        }
        if (!node.isObject()) return node;
        ObjectNode copy = object();
        node.properties().forEach(field -> {
            boolean id = field.getKey().equals("topicId") && field.getValue().isTextual();
            copy.set(field.getKey(), id ? NODES.textNode(uuid(field.getValue().asText()).toString()) : toKafka(field.getValue()));
        });
        return copy;
    }

    /** A copy of what Kafka's converters have written, in the normal form. */
    static JsonNode fromKafka(JsonNode node) {
        if (node.isArray()) {
            List<JsonNode> items = new ArrayList<>();
            node.forEach(item -> items.add(fromKafka(item)));
            if (!items.isEmpty() && items.get(0).path("topicId").isTextual())
                items.sort((left, right) -> left.path("topicId").asText().compareTo(right.path("topicId").asText()));
            ArrayNode copy = array();
            items.forEach(copy::add);
            return copy;
        }
        if (!node.isObject()) return node;
        ObjectNode copy = object();
        node.properties().forEach(field -> {
            JsonNode value = field.getValue();
            if (field.getKey().equals("topicId") && value.isTextual())
                copy.put("topicId", rfc4122(Uuid.fromString(value.asText())));
            else if (field.getKey().equals("partitions") && value.path(0).isInt())
                copy.set("partitions", sorted(value));
            else
                copy.set(field.getKey(), fromKafka(value));
        });
        return copy;
    }

    private static ArrayNode sorted(JsonNode numbers) {
        Set<Integer> sorted = new TreeSet<>();
        numbers.forEach(number -> sorted.add(number.asInt()));
        ArrayNode list = array();
        sorted.forEach(list::add);
        return list;
    }
}
