"""Classic groups: JoinGroup, SyncGroup, Heartbeat and LeaveGroup (C1, C2), beside the consumer groups of
KIP-848."""
