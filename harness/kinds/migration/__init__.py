"""Traces of groups that migrate, which are classic or consumer groups by turns."""
