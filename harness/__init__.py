"""From a TLA+ specification to a conformance verdict: engines, traces, replay, reports."""
