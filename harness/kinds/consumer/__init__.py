"""Consumer groups."""
