"""Consumer groups of KIP-848: heartbeat, target assignment, reconciliation, static members and records
(E, R, H, S, T, P)."""
