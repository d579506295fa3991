"""Settings of the property tests: no deadline, since a slow machine is no failure."""

from hypothesis import settings

settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")
