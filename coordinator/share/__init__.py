"""Share groups (KIP-932), as far as spec/ShareGroups.tla has them."""
