"""Live brokers over the wire: any that is there, one from Maven Central, and librdkafka's mock cluster."""
