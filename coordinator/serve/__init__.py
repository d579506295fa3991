"""The coordinator behind Kafka's protocol, for unmodified clients: `python -m coordinator serve`."""
