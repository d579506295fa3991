"""Traces replayed on a target: steps prepared, answers compared, differences and coverage reported."""
