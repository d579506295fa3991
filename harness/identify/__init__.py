"""The dialect of an implementation, identified by probes: schedules on which the values of a departure
differ."""
