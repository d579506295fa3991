"""Recorded runs of classic groups."""
