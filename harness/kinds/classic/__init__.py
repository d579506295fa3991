"""Traces of classic groups (JoinGroup, SyncGroup): what differs from those of consumer groups."""
