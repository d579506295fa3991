"""The core that all kinds of groups share: steps of handlers, log, storage, timers, clock, dialect."""
