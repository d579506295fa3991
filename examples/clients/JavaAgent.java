import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** An agent: Apache Kafka's own consumer that does what lines of JSON tell it (docs/clients.md). */
public class JavaAgent implements ConsumerRebalanceListener {
    /** Poll throws these where the member was removed before it fetched offsets; the next poll goes on. */
    private static final Set<Errors> REMOVED =
        Set.of(Errors.UNKNOWN_MEMBER_ID, Errors.FENCED_MEMBER_EPOCH, Errors.STALE_MEMBER_EPOCH);

    private final ObjectMapper json = new ObjectMapper();
    private final LinkedBlockingQueue<JsonNode> commands = new LinkedBlockingQueue<>();
    private final Deque<JsonNode> waiting = new ArrayDeque<>();
    private KafkaConsumer<byte[], byte[]> consumer;
    private boolean polls = true;

    public static void main(String[] arguments) throws Exception {
        new JavaAgent().run();
    }

    private void read() {
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(System.in))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                commands.add(json.readTree(line));
            }
        } catch (Exception broken) {
            broken.printStackTrace();
        }
        Runtime.getRuntime().halt(0); // the harness went
    }

    private synchronized void tell(String event, Object... fields) {
        Map<String, Object> line = new TreeMap<>(Map.of("event", event));
        for (int i = 0; i < fields.length; i += 2) {
            line.put((String) fields[i], fields[i + 1]);
        }
        System.out.println(json.valueToTree(line).toString());
    }

    /** Callbacks run within poll and close, and stay there until `release`. */
    private void callback(String name, Collection<TopicPartition> partitions) {
        List<String> shown = new ArrayList<>();
        partitions.forEach(one -> shown.add(one.topic() + "-" + one.partition()));
        tell(name, "partitions", shown.stream().sorted().toList());
        while (true) {
            JsonNode command;
            try {
                command = commands.take();
            } catch (InterruptedException interrupted) {
                continue;
            }
            switch (command.get("do").asText()) {
                case "release" -> { return; }
                case "crash" -> Runtime.getRuntime().halt(1);
                default -> waiting.add(command);
            }
        }
    }

    @Override public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
        callback("assigned", partitions);
    }

    @Override public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
        callback("revoked", partitions);
    }

    @Override public void onPartitionsLost(Collection<TopicPartition> partitions) {
        callback("lost", partitions);
    }

    private void failed(Throwable error) {
        Errors kind = Errors.forException(error);
        boolean fatal = !(error instanceof RetriableException) && !REMOVED.contains(kind);
        tell("error", "code", kind.code(), "text", error.toString(), "fatal", fatal);
        polls = polls && !fatal;
    }

    private void subscribe(JsonNode command) {
        if (consumer == null) {
            Properties settings = new Properties();
            settings.put("bootstrap.servers", command.get("bootstrap").asText());
            settings.put("group.id", command.get("group").asText());
            settings.put("group.protocol", "consumer");
            settings.put("enable.auto.commit", command.get("autoCommit").asText());
            settings.put("auto.offset.reset", "earliest");
            if (command.hasNonNull("instance")) {
                settings.put("group.instance.id", command.get("instance").asText());
            }
            consumer = new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        }
        List<String> topics = new ArrayList<>();
        command.get("topics").forEach(topic -> topics.add(topic.asText()));
        consumer.subscribe(topics, this);
    }

    private void commit() {
        consumer.commitAsync((offsets, error) -> // a synchronous one would keep the application from polling
            tell("committed", "error", error == null ? 0 : (int) Errors.forException(error).code()));
    }

    private void run() throws InterruptedException {
        Thread reader = new Thread(this::read);
        reader.setDaemon(true);
        reader.start();
        while (true) {
            boolean idle = consumer == null || !polls;
            JsonNode command = !waiting.isEmpty() ? waiting.poll() : idle ? commands.take() : commands.poll();
            try {
                switch (command == null ? "" : command.get("do").asText()) {
                    case "subscribe" -> subscribe(command);
                    case "commit" -> commit();
                    case "pause", "poll" -> polls = command.get("do").asText().equals("poll");
                    case "crash" -> Runtime.getRuntime().halt(1);
                    case "close" -> {
                        consumer.close();
                        tell("closed");
                        Runtime.getRuntime().halt(0);
                    }
                    case "" -> consumer.poll(Duration.ofMillis(20)).forEach(record -> tell("position",
                        "partition", record.topic() + "-" + record.partition(), "offset", record.offset() + 1));
                }
            } catch (RuntimeException error) {
                failed(error);
            }
        }
    }
}
