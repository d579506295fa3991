package conform.kafka;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.kafka.common.message.*;
import org.apache.kafka.common.network.ClientInformation;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.RequestContext;
import org.apache.kafka.common.requests.RequestHeader;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.auth.SecurityProtocol;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** The requests that groups have, from the line protocol's JSON to Kafka's service and back. */
final class Requests {
    /** A request that was read and can be handled: nothing has happened yet. */
    record Prepared(String group, Supplier<CompletableFuture<JsonNode>> handle) { }

    interface Reader<Q> {
        Q read(JsonNode json, short version);
    }

    interface Writer<A> {
        JsonNode write(A message, short version);
    }

    interface Handler<Q, A> {
        CompletableFuture<A> handle(Coordinator coordinator, RequestContext context, Q request);
    }

    /** One API; `first` and `last` are the versions that the line protocol has, of Kafka's schema. */
    record Api<Q extends ApiMessage, A>(ApiKeys key, int first, int last, Supplier<Q> empty, Writer<Q> defaults,
                                        Reader<Q> reader, Writer<A> writer, Handler<Q, A> handler) { }

    private static final Map<String, Api<?, ?>> APIS = new LinkedHashMap<>();

    static {
        APIS.put("ConsumerGroupHeartbeat", new Api<>(ApiKeys.CONSUMER_GROUP_HEARTBEAT, 0, 1, ConsumerGroupHeartbeatRequestData::new,
            ConsumerGroupHeartbeatRequestDataJsonConverter::write, ConsumerGroupHeartbeatRequestDataJsonConverter::read,
            ConsumerGroupHeartbeatResponseDataJsonConverter::write,
            (coordinator, context, request) -> coordinator.service.consumerGroupHeartbeat(context, request)));
        APIS.put("ConsumerGroupDescribe", new Api<>(ApiKeys.CONSUMER_GROUP_DESCRIBE, 0, 1, ConsumerGroupDescribeRequestData::new,
            ConsumerGroupDescribeRequestDataJsonConverter::write, ConsumerGroupDescribeRequestDataJsonConverter::read,
            ConsumerGroupDescribeResponseDataJsonConverter::write,
            (coordinator, context, request) -> coordinator.service.consumerGroupDescribe(context, request.groupIds())
                .thenApply(groups -> new ConsumerGroupDescribeResponseData().setGroups(groups))));
        APIS.put("JoinGroup", new Api<>(ApiKeys.JOIN_GROUP, 9, 9, JoinGroupRequestData::new,
            JoinGroupRequestDataJsonConverter::write, JoinGroupRequestDataJsonConverter::read,
            JoinGroupResponseDataJsonConverter::write,
            (coordinator, context, request) -> coordinator.service.joinGroup(context, request, null)));
        APIS.put("SyncGroup", new Api<>(ApiKeys.SYNC_GROUP, 5, 5, SyncGroupRequestData::new,
            SyncGroupRequestDataJsonConverter::write, SyncGroupRequestDataJsonConverter::read,
            SyncGroupResponseDataJsonConverter::write,
            (coordinator, context, request) -> coordinator.service.syncGroup(context, request, null)));
        APIS.put("Heartbeat", new Api<>(ApiKeys.HEARTBEAT, 4, 4, HeartbeatRequestData::new,
            HeartbeatRequestDataJsonConverter::write, HeartbeatRequestDataJsonConverter::read,
            HeartbeatResponseDataJsonConverter::write,
            (coordinator, context, request) -> coordinator.service.heartbeat(context, request)));
        APIS.put("LeaveGroup", new Api<>(ApiKeys.LEAVE_GROUP, 5, 5, LeaveGroupRequestData::new,
            LeaveGroupRequestDataJsonConverter::write, LeaveGroupRequestDataJsonConverter::read,
            LeaveGroupResponseDataJsonConverter::write,
            (coordinator, context, request) -> coordinator.service.leaveGroup(context, request)));
        APIS.put("ListGroups", new Api<>(ApiKeys.LIST_GROUPS, 5, 5, ListGroupsRequestData::new,
            ListGroupsRequestDataJsonConverter::write, ListGroupsRequestDataJsonConverter::read,
            ListGroupsResponseDataJsonConverter::write,
            (coordinator, context, request) -> coordinator.service.listGroups(context, request)));
        APIS.put("DeleteGroups", new Api<>(ApiKeys.DELETE_GROUPS, 2, 2, DeleteGroupsRequestData::new,
            DeleteGroupsRequestDataJsonConverter::write, DeleteGroupsRequestDataJsonConverter::read,
            DeleteGroupsResponseDataJsonConverter::write,
            (coordinator, context, request) -> coordinator.service.deleteGroups(context, request.groupsNames(), null)
                .thenApply(results -> new DeleteGroupsResponseData().setResults(results))));
        Offsets.addTo(APIS);
    }

    private Requests() { }

    /** {api: [first version, last version]}. */
    static ObjectNode versions() {
        ObjectNode json = Json.object();
        APIS.forEach((name, api) -> json.putArray(name).add(api.first).add(api.last));
        return json;
    }

    /** Read a request. BadInput for what Kafka's schema cannot express. */
    static Prepared prepare(Coordinator coordinator, JsonNode operation) {
        String where = "a request";
        String name = Json.text(operation, "api", where);
        Api<?, ?> api = APIS.get(name);
        if (api == null) throw new BadInput("there is no API '" + name + "'; there are " + String.join(", ", APIS.keySet()));
        int version = Json.integer(operation, "version", where);
        if (version < api.first || version > api.last)
            throw new BadInput("there is no version " + version + " of " + name + " here; there are " + api.first + " to " + api.last);
        JsonNode client = Json.has(operation, "client") ? Json.object(operation, "client", where) : Json.object();
        return prepare(coordinator, name, api, version, client, (ObjectNode) Json.object(operation, "body", where));
    }

    private static <Q extends ApiMessage, A> Prepared prepare(Coordinator coordinator, String name, Api<Q, A> api, int asked,
                                                              JsonNode client, ObjectNode body) {
        ObjectNode given = (ObjectNode) Json.toKafka(body);
        boolean regex = name.equals("ConsumerGroupHeartbeat") && Json.has(given, "subscribedTopicRegex");
        boolean ids = Offsets.prepare(name, given);
        short version = (short) (regex ? 1 : ids ? 10 : asked);
        if (!regex) given.remove("subscribedTopicRegex");
        ObjectNode json = (ObjectNode) api.defaults.write(api.empty.get(), version);
        given.properties().forEach(field -> {
            if (!json.has(field.getKey())) throw new BadInput(name + " has no field '" + field.getKey() + "'");
            json.set(field.getKey(), field.getValue());
        });
        RequestContext context = context(api.key, client, version);
        Q request;
        try {
            request = api.reader.read(json, version);
        } catch (RuntimeException e) {
            throw new BadInput("Kafka's schema of " + name + " does not have this: " + e.getMessage());
        }
        return new Prepared(body.path("groupId").asText(""), () -> api.handler.handle(coordinator, context, request)
            .thenApply(answer -> response(Json.fromKafka(api.writer.write(answer, version))))
            .exceptionally(failure -> Json.object().put("throttleTimeMs", 0).put("errorCode", error(failure).code())
                .put("errorMessage", error(failure).message())));
    }

    /** The JSON of a response that is not there yet, of the last version of its API. */
    @SuppressWarnings("unchecked")
    static <A> CompletableFuture<JsonNode> answer(String name, CompletableFuture<A> response) {
        Api<?, A> api = (Api<?, A>) APIS.get(name);
        return response.thenApply(answer -> response(Json.fromKafka(api.writer.write(answer, (short) api.last))));
    }

    /** The error that a broker answers with when its coordinator throws. */
    static Errors error(Throwable failure) {
        return Errors.forException(Errors.maybeUnwrapException(failure));
    }

    /** KIP-848's name for what a heartbeat assigns. */
    private static JsonNode response(JsonNode json) {
        if (json.path("assignment") instanceof ObjectNode assignment && assignment.has("topicPartitions"))
            assignment.set("assignedTopicPartitions", assignment.remove("topicPartitions"));
        return json;
    }

    private static RequestContext context(ApiKeys api, JsonNode client, short version) {
        Json.known(client, Set.of("id", "host", "principal"), "a client");
        String id = Json.has(client, "id") ? Json.text(client, "id", "a client") : "";
        String host = Json.has(client, "host") ? Json.text(client, "host", "a client") : "/127.0.0.1";
        String address = host.replaceFirst("^/", "");
        if (!address.matches("[0-9.]+|[0-9a-fA-F:]+")) throw new BadInput("a client's host must be /ADDRESS, not '" + host + "'");
        String principal = Json.has(client, "principal") ? Json.text(client, "principal", "a client") : "User:ANONYMOUS";
        String[] named = principal.contains(":") ? principal.split(":", 2) : new String[] {"User", principal};
        try {
            return new RequestContext(new RequestHeader(api, version, id, 0), "", InetAddress.getByName(address),
                new KafkaPrincipal(named[0], named[1]), new ListenerName("CLIENTS"), SecurityProtocol.PLAINTEXT,
                ClientInformation.EMPTY, false);
        } catch (UnknownHostException e) {
            throw new BadInput("a client's host must be /ADDRESS, not '" + host + "'");
        }
    }
}
