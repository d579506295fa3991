import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Properties;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.SubscriptionPattern;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;

/**
 * Apache Kafka's consumer that says what happens to it. Arguments: PORT, PROTOCOL, "topic" or "client-pattern" or
 * "server-pattern", its text, and an instance id or "-". A line on standard input lets it close.
 */
public final class Consumer implements ConsumerRebalanceListener {
    public static void main(String[] given) throws Exception {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", "127.0.0.1:" + given[0]);
        settings.put("group.id", "g");
        settings.put("group.protocol", given[1]);
        settings.put("auto.offset.reset", "earliest");
        settings.put("auto.commit.interval.ms", "200");
        settings.put("metadata.max.age.ms", "200");
        settings.put("key.deserializer", "org.apache.kafka.common.serialization.ByteArrayDeserializer");
        settings.put("value.deserializer", "org.apache.kafka.common.serialization.StringDeserializer");
        if (given[1].equals("classic")) {
            settings.put("heartbeat.interval.ms", "150");
            settings.put("partition.assignment.strategy",
                "org.apache.kafka.clients.consumer.CooperativeStickyAssignor");
        }
        if (!given[4].equals("-")) {
            settings.put("group.instance.id", given[4]);
        }
        KafkaConsumer<byte[], String> consumer = new KafkaConsumer<>(settings);
        Consumer listener = new Consumer();
        switch (given[2]) {
            case "topic" -> consumer.subscribe(List.of(given[3]), listener);
            case "client-pattern" -> consumer.subscribe(Pattern.compile(given[3]), listener);
            default -> consumer.subscribe(new SubscriptionPattern(given[3]), listener);
        }
        Thread closes = new Thread(() -> {
            try {
                new BufferedReader(new InputStreamReader(System.in)).readLine();
            } catch (Exception gone) {
                // The test went: close, too.
            }
            consumer.wakeup();
        });
        closes.setDaemon(true);
        closes.start();
        try {
            while (true) {
                consumer.poll(Duration.ofMillis(50)).forEach(record -> System.out.println(
                    "read " + record.topic() + "-" + record.partition() + " " + record.offset() + " " + record.value()));
            }
        } catch (WakeupException told) {
            consumer.close();
        }
        System.out.println("closed");
    }

    private static void tell(String what, Collection<TopicPartition> partitions) {
        System.out.println(what + partitions.stream().map(one -> " " + one).collect(Collectors.joining()));
    }

    @Override public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
        tell("assigned", partitions);
    }

    @Override public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
        tell("revoked", partitions);
    }

    @Override public void onPartitionsLost(Collection<TopicPartition> partitions) {
        tell("revoked", partitions);
    }
}
