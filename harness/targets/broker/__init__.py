"""Live brokers over the wire: any running one, one from Maven Central, and librdkafka's mock cluster."""
