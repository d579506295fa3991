package conform.kafka;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.kafka.common.message.OffsetCommitRequestData;
import org.apache.kafka.common.message.OffsetCommitRequestDataJsonConverter;
import org.apache.kafka.common.message.OffsetCommitResponseData;
import org.apache.kafka.common.message.OffsetCommitResponseDataJsonConverter;
import org.apache.kafka.common.message.OffsetCommitResponseData.OffsetCommitResponsePartition;
import org.apache.kafka.common.message.OffsetCommitResponseData.OffsetCommitResponseTopic;
import org.apache.kafka.common.message.OffsetFetchRequestData;
import org.apache.kafka.common.message.OffsetFetchRequestDataJsonConverter;
import org.apache.kafka.common.message.OffsetFetchRequestData.OffsetFetchRequestGroup;
import org.apache.kafka.common.message.OffsetFetchResponseData;
import org.apache.kafka.common.message.OffsetFetchResponseDataJsonConverter;
import org.apache.kafka.common.message.OffsetFetchResponseData.OffsetFetchResponseGroup;
import org.apache.kafka.common.message.OffsetFetchResponseData.OffsetFetchResponsePartitions;
import org.apache.kafka.common.message.OffsetFetchResponseData.OffsetFetchResponseTopics;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.OffsetCommitRequest;
import org.apache.kafka.common.requests.RequestContext;
import org.apache.kafka.image.TopicImage;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * Commits and fetches: what a broker does before its coordinator, the names of topic ids and unknown topics.
 *
 * KIP-848's text has topic ids in version 9; Kafka has them in version 10. The member of a fetch stands beside its
 * groups in the text, and in each group in Kafka.
 */
final class Offsets {
    private Offsets() { }

    static void addTo(Map<String, Requests.Api<?, ?>> apis) {
        apis.put("OffsetCommit", new Requests.Api<>(ApiKeys.OFFSET_COMMIT, 9, 9, OffsetCommitRequestData::new,
            OffsetCommitRequestDataJsonConverter::write, OffsetCommitRequestDataJsonConverter::read,
            OffsetCommitResponseDataJsonConverter::write, Offsets::commit));
        apis.put("OffsetFetch", new Requests.Api<>(ApiKeys.OFFSET_FETCH, 9, 9, OffsetFetchRequestData::new,
            OffsetFetchRequestDataJsonConverter::write, OffsetFetchRequestDataJsonConverter::read,
            OffsetFetchResponseDataJsonConverter::write, Offsets::fetch));
    }

    /** From the line protocol's fields to Kafka's, and whether the topics are named by id. Other APIs are left alone. */
    static boolean prepare(String api, ObjectNode body) {
        boolean ids = api.startsWith("Offset") && byId(body);
        if (ids) withoutNullNames(body);
        if (api.equals("OffsetFetch")) membersIntoGroups(body);
        if (api.equals("OffsetCommit")) complete(body);
        return ids;
    }

    private static boolean byId(JsonNode body) {
        for (JsonNode group : body.has("groups") ? body.path("groups") : Json.array().add(body))
            for (JsonNode topic : group.path("topics")) if (Json.has(topic, "topicId")) return true;
        return false;
    }

    /** Kafka has a topic's name or its id, and the other not at all. */
    private static void withoutNullNames(JsonNode body) {
        for (JsonNode group : body.has("groups") ? body.path("groups") : Json.array().add(body))
            for (JsonNode topic : group.path("topics"))
                if (topic instanceof ObjectNode one && one.path("name").isNull()) one.remove("name");
    }

    private static void membersIntoGroups(ObjectNode body) {
        JsonNode member = body.remove("memberId");
        JsonNode epoch = body.remove("generationIdOrMemberEpoch");
        for (JsonNode group : body.path("groups")) {
            if (!(group instanceof ObjectNode into)) continue;
            if (!into.has("memberId")) into.put("memberId", member == null || member.asText("").isEmpty() ? null : member.asText());
            if (!into.has("memberEpoch")) into.set("memberEpoch", epoch == null ? Json.array().add(-1).get(0) : epoch);
        }
    }

    /** The defaults of Kafka's schema within the lists of a commit. */
    private static void complete(ObjectNode body) {
        for (JsonNode topic : body.path("topics"))
            for (JsonNode partition : topic.path("partitions")) {
                if (!(partition instanceof ObjectNode into)) continue;
                if (!into.has("committedLeaderEpoch")) into.put("committedLeaderEpoch", -1);
                if (!into.has("committedMetadata")) into.put("committedMetadata", "");
            }
    }

    private static CompletableFuture<OffsetCommitResponseData> commit(Coordinator coordinator, RequestContext context,
                                                              OffsetCommitRequestData request) {
        boolean byId = context.requestVersion() >= 10;
        List<OffsetCommitResponseTopic> refused = new ArrayList<>();
        for (var topic : List.copyOf(request.topics())) {
            TopicImage known = byId ? coordinator.topics.image().topics().getTopic(topic.topicId())
                : coordinator.topics.image().topics().getTopic(topic.name());
            if (known != null) topic.setName(known.name()).setTopicId(known.id());
            var answer = new OffsetCommitResponseTopic().setName(topic.name()).setTopicId(topic.topicId());
            Errors error = byId && known == null ? Errors.UNKNOWN_TOPIC_ID : Errors.UNKNOWN_TOPIC_OR_PARTITION;
            topic.partitions().removeIf(partition -> {
                boolean exists = known != null && known.partitions().containsKey(partition.partitionIndex());
                if (!exists) answer.partitions().add(new OffsetCommitResponsePartition()
                    .setPartitionIndex(partition.partitionIndex()).setErrorCode(error.code()));
                return !exists;
            });
            if (!answer.partitions().isEmpty()) refused.add(answer);
            if (topic.partitions().isEmpty()) request.topics().remove(topic);
        }
        if (request.topics().isEmpty()) return CompletableFuture.completedFuture(new OffsetCommitResponseData().setTopics(refused));
        return coordinator.service.commitOffsets(context, request, null).exceptionally(failure ->
            OffsetCommitRequest.getErrorResponse(request, Requests.error(failure))
        ).thenApply(answer -> {
            List<OffsetCommitResponseTopic> topics = new ArrayList<>(answer.topics());
            topics.addAll(refused);
            return new OffsetCommitResponseData().setThrottleTimeMs(answer.throttleTimeMs()).setTopics(topics);
        });
    }

    private static CompletableFuture<OffsetFetchResponseData> fetch(Coordinator coordinator, RequestContext context,
                                                            OffsetFetchRequestData request) {
        List<CompletableFuture<OffsetFetchResponseGroup>> groups = new ArrayList<>();
        for (OffsetFetchRequestGroup group : request.groups()) groups.add(fetch(coordinator, context, group, request.requireStable()));
        return CompletableFuture.allOf(groups.toArray(new CompletableFuture<?>[0])).thenApply(done ->
            new OffsetFetchResponseData().setGroups(groups.stream().map(CompletableFuture::join).toList()));
    }

    private static CompletableFuture<OffsetFetchResponseGroup> fetch(Coordinator coordinator, RequestContext context,
                                                                     OffsetFetchRequestGroup group, boolean stable) {
        if (group.topics() == null) throw new BadInput("an OffsetFetch names its topics here");
        List<OffsetFetchResponseTopics> unknown = new ArrayList<>();
        if (context.requestVersion() >= 10)
            group.topics().removeIf(topic -> {
                TopicImage known = coordinator.topics.image().topics().getTopic(topic.topicId());
                if (known != null) topic.setName(known.name());
                else unknown.add(new OffsetFetchResponseTopics().setTopicId(topic.topicId())
                    .setPartitions(topic.partitionIndexes().stream().map(Offsets::unknown).toList()));
                return known == null;
            });
        return coordinator.service.fetchOffsets(context, group, stable).exceptionally(failure ->
            new OffsetFetchResponseGroup().setGroupId(group.groupId()).setErrorCode(Requests.error(failure).code())
        ).thenApply(answer -> {
            if (answer.errorCode() != Errors.NONE.code()) return answer;
            for (OffsetFetchResponseTopics topic : answer.topics()) {
                TopicImage known = coordinator.topics.image().topics().getTopic(topic.name());
                if (known != null) topic.setTopicId(known.id());
            }
            List<OffsetFetchResponseTopics> topics = new ArrayList<>(answer.topics());
            topics.addAll(unknown);
            return new OffsetFetchResponseGroup().setGroupId(answer.groupId()).setTopics(topics);
        });
    }

    private static OffsetFetchResponsePartitions unknown(int index) {
        return new OffsetFetchResponsePartitions().setPartitionIndex(index).setErrorCode(Errors.UNKNOWN_TOPIC_ID.code())
            .setCommittedOffset(-1).setCommittedLeaderEpoch(-1).setMetadata("");
    }
}
