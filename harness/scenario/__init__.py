"""Golden scenarios: hand-written behaviours of the specification with their expected transcripts (G7)."""
