"""Recorded runs of groups that migrate."""
