"""Kinds of groups: a folder a kind, with all in which the kind differs from others."""
