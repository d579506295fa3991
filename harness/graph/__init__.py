"""State graphs and paths of traces as pictures."""
