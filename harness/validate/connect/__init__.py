"""Recorded runs of Connect groups."""
