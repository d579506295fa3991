"""Coordinators and members that a simulation of whole groups can drive and inspect."""
