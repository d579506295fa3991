"""Consumers judged: schedules, a client's view of a group as a timeline, and the rules for that view."""
