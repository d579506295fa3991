"""The clock of a process, which may be fast or slow, and may leap."""

from __future__ import annotations

from typing import Protocol


class Waits(Protocol):
    """A member with a request for a later time of its process's clock."""

    def next_deadline_ms(self) -> int | None: ...


class Clocked:
    """A process with a clock of its own that was 0 at `born_ms`, when the process began."""

    __slots__ = ()
    born_ms: int
    permille: int
    leap_ms: int
    machine: Waits

    def local_ms(self, now_ms: int) -> int:
        """The time on the process's own clock."""
        return (now_ms - self.born_ms) * self.permille // 1000 + self.leap_ms

    def due_ms(self, now_ms: int) -> int | None:
        """The time of its member's next request, on the clock of the world; None: not before something
        happens."""
        deadline = self.machine.next_deadline_ms()
        if deadline is None:
            return None
        rest = deadline - self.local_ms(now_ms)
        return now_ms if rest <= 0 else now_ms + -(-rest * 1000 // self.permille)
