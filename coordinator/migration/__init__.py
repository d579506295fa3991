"""Online migration (M1-M4): the members of a group move from the classic protocol to the consumer protocol,
or back, while it lives."""
