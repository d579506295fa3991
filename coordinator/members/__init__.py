"""Members without input and output: consumers of both protocols, and Connect workers (K, C, W)."""
