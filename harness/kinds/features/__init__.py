"""Parts that several kinds of groups have in common."""
