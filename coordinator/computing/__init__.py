"""Client-side assignors (A1, A5-A10): a member computes the target assignment of its group."""
