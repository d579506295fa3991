"""Groups of Kafka Connect (W1-W4), beside the consumer groups of KIP-848: workers, connectors and tasks."""
