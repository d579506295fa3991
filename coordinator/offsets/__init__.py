"""Committed offsets: OffsetCommit, OffsetFetch, and the records that persist them (O)."""
