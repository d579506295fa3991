"""Simulation of whole classic groups: consumers that join, rejoin and hand out partitions, under faults."""
