"""Settings of all tests: no deadline, since a slow machine is no failure; interrupts reach programs."""

import signal

from hypothesis import settings

settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")

# A shell ignores interrupts for what it starts in the background; programs that tests start inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
