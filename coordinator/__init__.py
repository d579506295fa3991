"""A sans-IO group coordinator for consumer groups of KIP-848.

Handlers read state and return records, a response and timers; replaying the records is the only way in
which durable state changes.
"""

from coordinator.core.clock import Clock, SimulatedClock, SystemClock
from coordinator.core.config import Config
from coordinator.core.dialect import DIALECTS, Dialect
from coordinator.core.errors import AppendFailed, BadInput, ErrorCode
from coordinator.service import Coordinator

__all__ = [
    "DIALECTS",
    "AppendFailed",
    "BadInput",
    "Clock",
    "Config",
    "Coordinator",
    "Dialect",
    "ErrorCode",
    "SimulatedClock",
    "SystemClock",
]
