"""Whole groups, members and coordinator, under a schedule of messages, faults and time that a seed draws.

A schedule is an explicit list of events, each with its time: `world.py` does them, whatever their origin, and
keeps the protocol's assumptions about the network (R9) even where events are left out. `draw.py` draws
schedules, `settle.py` ends them. After every event the invariants of `coordinator_view.py`, `membership.py`,
`answers.py`, `scene.py`, `process.py` and `offsets.py` are checked for the touched groups and processes.
"""
