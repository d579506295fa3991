"""Traces of classic groups (JoinGroup, SyncGroup): their differences from those of consumer groups."""
