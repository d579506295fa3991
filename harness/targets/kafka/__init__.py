"""Kafka itself: its jars, and its own group coordinator as a target."""
