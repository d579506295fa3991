package conform.kafka;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.group.Version;

import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** The line protocol: one JSON object a line in, one out. Bad input is answered with ok false and changes nothing. */
public final class LineProtocol {
    private interface Operation {
        ObjectNode perform(JsonNode operation);
    }

    private final Map<String, Operation> operations = new LinkedHashMap<>();
    private final Map<String, Set<String>> fields = new LinkedHashMap<>();
    private final Scripts scripts = new Scripts();
    private final String name;
    private Settings settings = Settings.defaults(scripts);
    private Coordinator coordinator = fresh(settings);
    private boolean started;

    private LineProtocol(String name) {
        this.name = name;
        add("hello", this::hello);
        add("request", this::request, "id", "api", "version", "client", "body");
        add("topics", this::topics, "upsert", "delete");
        add("advance", this::advance, "ms");
        add("describe", this::describe, "group");
        add("fire", this::fire, "timer", "group", "member");
        add("assign", this::assign, "group", "target", "error");
        add("records", this::records, "since", "raw");
        add("load", this::load, "records", "topics", "volatile", "raw");
        add("restart", this::restart, "keep");
        add("background", operation -> {
            coordinator.runBackground();
            return Json.object();
        });
        add("configure", this::configure);
    }

    private void add(String operation, Operation perform, String... names) {
        operations.put(operation, perform);
        Set<String> known = new HashSet<>(List.of(names));
        known.addAll(List.of("op", "observe"));
        fields.put(operation, known);
    }

    /**
     * Speaks on standard input and output until its input ends; the argument is Kafka's version. Answers leave before it
     * waits for more input: those to lines that came together leave together.
     */
    public static void main(String[] arguments) throws IOException {
        FixedRandom.install();
        OutputStream output = new BufferedOutputStream(System.out, 1 << 16);
        System.setOut(System.err);
        LineProtocol protocol = new LineProtocol(arguments[0]);
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        byte[] chunk = new byte[1 << 16];
        for (int count = System.in.read(chunk); count >= 0; count = System.in.read(chunk)) {
            int begin = 0;
            for (int end = 0; end < count; end++) {
                if (chunk[end] != '\n') continue;
                line.write(chunk, begin, end - begin);
                protocol.answer(line, output);
                begin = end + 1;
            }
            line.write(chunk, begin, count - begin);
            output.flush();
        }
        protocol.answer(line, output);
        output.flush();
    }

    private void answer(ByteArrayOutputStream line, OutputStream output) throws IOException {
        String text = line.toString(StandardCharsets.UTF_8);
        line.reset();
        if (text.isBlank()) return;
        output.write(Json.MAPPER.writeValueAsBytes(answer(text)));
        output.write('\n');
    }

    private ObjectNode answer(String line) {
        try {
            JsonNode operation = Json.MAPPER.readTree(line);
            if (operation == null || !operation.isObject()) throw new BadInput("an operation must be an object");
            return perform(operation);
        } catch (JsonProcessingException e) {
            return refusal("the line is not JSON: " + e.getOriginalMessage());
        } catch (BadInput e) {
            return refusal(e.getMessage());
        }
    }

    private static ObjectNode refusal(String error) {
        return Json.object().put("ok", false).put("error", error);
    }

    private ObjectNode perform(JsonNode operation) {
        String op = Json.text(operation, "op", "an operation");
        if (!operations.containsKey(op))
            throw new BadInput("there is no operation '" + op + "'; there are " + String.join(", ", operations.keySet()));
        if (!op.equals("configure")) Json.known(operation, fields.get(op), "the operation '" + op + "'");
        String observed = Json.optionalText(operation, "observe", "an operation");
        long since = coordinator.log.end();
        ObjectNode answer = Json.object().put("ok", true);
        answer.setAll(operations.get(op).perform(operation));
        if (scripts.consumed()) answer.put("consumed", true);
        ArrayNode completed = completed();
        if (!completed.isEmpty()) answer.set("completed", completed);
        if (observed != null) {
            if (!answer.has("group")) answer.set("group", Describe.group(coordinator, observed));
            if (!answer.has("records")) answer.set("records", coordinator.records(Math.min(since, coordinator.log.end()), false));
        }
        return answer;
    }

    private ArrayNode completed() {
        ArrayNode completed = Json.array();
        for (Iterator<Coordinator.Waiting> requests = coordinator.waiting.iterator(); requests.hasNext();) {
            Coordinator.Waiting request = requests.next();
            if (!request.response().isDone()) continue;
            completed.addObject().<ObjectNode>set("id", request.id()).set("body", request.response().join());
            requests.remove();
        }
        return completed;
    }

    private Coordinator fresh(Settings settings) {
        FixedRandom.reset();
        return new Coordinator(new SimulatedTime(0), new MemoryLog(), new Topics(), settings, scripts);
    }

    // ---- the operations ----

    private ObjectNode hello(JsonNode operation) {
        ObjectNode answer = Json.object().put("name", name).put("dialect", Version.DIALECT);
        answer.set("apis", Requests.versions());
        ArrayNode controls = answer.putArray("controls");
        operations.keySet().stream().filter(op -> !op.equals("hello") && !op.equals("request")).forEach(controls::add);
        ArrayNode unobserved = answer.putArray("unobserved");
        Describe.UNOBSERVED.forEach(unobserved::add);
        Records.UNOBSERVED.forEach(unobserved::add);
        return answer;
    }

    private ObjectNode request(JsonNode operation) {
        Requests.Prepared prepared = Requests.prepare(coordinator, operation);
        ObjectNode answer = Json.object();
        if (operation.has("id")) answer.set("id", operation.get("id"));
        scripts.workOn(prepared.group());
        CompletableFuture<JsonNode> response = prepared.handle().get();
        started = true;
        if (response.isDone()) return answer.set("body", response.join());
        coordinator.waiting.add(new Coordinator.Waiting(operation.path("id"), Json.text(operation, "api", "a request"),
            operation.path("client").path("id").asText(""), operation.path("body").path("groupInstanceId").asText(""), response));
        return answer.put("pending", true);
    }

    private ObjectNode topics(JsonNode operation) {
        coordinator.change(Topics.read(operation, "upsert", "topics"), Json.texts(operation, "delete", "topics"));
        return Json.object();
    }

    private ObjectNode advance(JsonNode operation) {
        return Json.object().set("fired", coordinator.advance(Json.count(operation, "ms", "advance")));
    }

    private ObjectNode describe(JsonNode operation) {
        return Json.object().set("group", Describe.group(coordinator, Json.text(operation, "group", "describe")));
    }

    private ObjectNode fire(JsonNode operation) {
        String member = Json.optionalText(operation, "member", "fire");
        ObjectNode fired = coordinator.fire(Json.text(operation, "timer", "fire"), Json.text(operation, "group", "fire"),
            member == null ? "" : member);
        return Json.object().set("fired", Json.array().add(fired));
    }

    private ObjectNode assign(JsonNode operation) {
        String group = Json.text(operation, "group", "assign");
        if (operation.has("error")) {
            scripts.set(group, new Scripts.Script(Map.of(), Json.text(operation, "error", "assign")));
            return Json.object();
        }
        Map<String, Map<Uuid, Set<Integer>>> target = new LinkedHashMap<>();
        JsonNode given = Json.object(operation, "target", "assign");
        given.fieldNames().forEachRemaining(member -> target.put(member, Json.partitions(given, member, "assign")));
        scripts.set(group, new Scripts.Script(target, null));
        return Json.object();
    }

    private ObjectNode records(JsonNode operation) {
        long since = operation.has("since") ? Json.count(operation, "since", "records") : 0;
        ObjectNode answer = Json.object().put("end", coordinator.log.end());
        return answer.set("records", coordinator.records(since, operation.path("raw").asBoolean()));
    }

    private ObjectNode load(JsonNode operation) {
        JsonNode volatiles = Json.has(operation, "volatile") ? Json.object(operation, "volatile", "load") : Json.object();
        long nowMs = Json.has(volatiles, "clockMs") ? Json.number(volatiles, "clockMs", "volatile") : 0;
        Topics topics = new Topics();
        topics.change(Topics.read(operation, "topics", "load"), List.of(), (delta, image) -> { });
        MemoryLog log = Loading.log(Json.list(operation, "records", "load"), operation.path("raw").asBoolean(), volatiles, topics, nowMs);
        Coordinator loaded = new Coordinator(new SimulatedTime(nowMs), log, topics, settings, scripts);
        Loading.setDeadlines(loaded, volatiles);
        coordinator = loaded;
        scripts.clear();
        scripts.consumed();
        started = log.size() > 0;
        FixedRandom.reset();
        return Json.object().put("end", log.end());
    }

    /** Keeps whole batches. Requests that wait are lost with the old coordinator; scripts and topics stay. */
    private ObjectNode restart(JsonNode operation) {
        long keep = operation.has("keep") ? Json.count(operation, "keep", "restart") : coordinator.log.end();
        if (keep > coordinator.log.end()) throw new BadInput("the log has " + coordinator.log.end() + " records, not " + keep);
        MemoryLog log = coordinator.log.kept(keep);
        coordinator = new Coordinator(new SimulatedTime(coordinator.time.milliseconds()), log, coordinator.topics, settings, scripts);
        scripts.consumed();
        return Json.object().put("end", log.end());
    }

    private ObjectNode configure(JsonNode operation) {
        if (started) throw new BadInput("the configuration can only be changed before the first request");
        Settings changed = settings.with(operation, scripts);
        coordinator = new Coordinator(coordinator.time, coordinator.log, coordinator.topics, changed, scripts);
        settings = changed;
        return Json.object();
    }
}
