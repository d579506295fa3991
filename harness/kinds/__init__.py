"""Kinds of groups: a folder for each kind, with everything in which the kind differs from others."""
