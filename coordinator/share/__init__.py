"""Share groups (KIP-932), to the extent of spec/ShareGroups.tla."""
