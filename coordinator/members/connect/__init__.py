"""A Connect worker, and the assignor that delays the work of lost workers (W2)."""
