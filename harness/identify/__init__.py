"""The dialect of an implementation, found by probes: schedules that tell values of departures apart."""
