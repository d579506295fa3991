"""Share groups (spec/ShareGroups.tla)."""
