"""Comparison of two specifications: inputs added, forbidden, answered otherwise; properties that hold."""
