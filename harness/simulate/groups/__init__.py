"""Whole groups, members and coordinator, under a schedule of messages, faults and time that a seed draws.

A schedule is an explicit list of events, each with its time: `world.py` does them, whoever wrote them, and
keeps to what the protocol assumes of the network (R9) even where events are left out. `draw.py` makes
schedules up, `settle.py` ends them. After every event the invariants of `coordinator_view.py`,
`answers.py`, `scene.py`, `process.py` and `offsets.py` are checked for what the event touched.
"""
