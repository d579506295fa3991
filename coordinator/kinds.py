"""The kinds of groups beside consumer groups. A new kind takes a folder, a line here, and one in
`record_kinds.py` for its records."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeVar

from coordinator.classic.request import CLASSIC_APIS, parse_classic
from coordinator.classic.service import ClassicGroups
from coordinator.connect.request import CONNECT_APIS, parse_connect
from coordinator.connect.service import ConnectGroups
from coordinator.core.dialect import Dialect
from coordinator.core.fields import Json
from coordinator.core.step import Env
from coordinator.core.timers import Due
from coordinator.offsets.records import Offsets
from coordinator.share.service import APIS as SHARE_APIS
from coordinator.share.service import ShareGroups, parse_share

if TYPE_CHECKING:
    from coordinator.core.log import Log


class Groups(Protocol):
    """All groups of one kind in a coordinator; `groups` are by their ids."""

    @property
    def groups(self) -> Mapping[str, Any]: ...

    def request(
        self,
        request: Any,
        waits: int | str,
        admit: Callable[[str], None],
        others: Container[str],
        draw_id: Callable[[Any], str],
        log: Log,
        env: Env,
        now_ms: int,
    ) -> Json:
        """Handle one request. `admit` raises RequestRejected for a group that the client may not use;
        `others` are groups of another kind; `draw_id` gives the id of a member that joins without one."""

    def refuse_consumers(self, group_id: str, dialect: Dialect) -> None:
        """Raises RequestRejected for a ConsumerGroupHeartbeat to a group that is here."""

    def listed(self) -> list[Json]:
        """The groups, as ListGroups has them (D1)."""

    def delete(self, group_id: str, offsets: Offsets, log: Log, env: Env, now_ms: int) -> None:
        """DeleteGroups (D1). Raises RequestRejected for a group with members, AppendFailed where the log
        refuses."""

    def next_due(self, now_ms: int) -> Due | None:
        """The first timer that is due by then."""

    def armed(self, group_id: str) -> list[Due]:
        """All timers of a group; none of one that is not here."""

    def fire(self, due: Due, offsets: Offsets, log: Log, env: Env, now_ms: int) -> bool:
        """Let a timer of a group that is here run out. False: the log refused, and the timer was put off."""

    def put_off(self, due: Due, now_ms: int, first_ms: int) -> None:
        """Let a timer run out later, if it is still armed: first so many milliseconds from now, then each
        time twice as many."""

    def describe(self, group_id: str) -> Json:
        """The whole state of a group that is here."""

    def volatile(self, group: str | None) -> Json:
        """The state that records do not hold, of one group or of all."""

    def replay(self, records: Iterable[object], env: Env, now_ms: int) -> None:
        """P2: become what the log gives back."""

    def restore(self, volatile: Mapping[str, object], now_ms: int) -> None:
        """Give groups their part of a coordinator's volatile state. BadInput where it is malformed."""


G = TypeVar("G", bound=Groups, covariant=True)


@dataclass(frozen=True)
class Kind(Generic[G]):
    """A kind of group: `requests` with their first and last versions, `parse`, which reads the API's name,
    the client and the body, and `made`, which makes the holder of its groups. `name` is the kind's field in
    volatile state."""

    name: str
    apis: Mapping[str, tuple[int, int]]
    parse: Callable[[str, Mapping[str, Any], Json], Any]
    made: Callable[[], G]


CLASSIC: Final = Kind("classic", CLASSIC_APIS, parse_classic, ClassicGroups)
CONNECT: Final = Kind("connect", CONNECT_APIS, parse_connect, ConnectGroups)
SHARE: Final = Kind("share", SHARE_APIS, parse_share, ShareGroups)
KINDS: Final[tuple[Kind[Groups], ...]] = (SHARE, CLASSIC, CONNECT)
KIND_OF: Final = {api: kind for kind in KINDS for api in kind.apis}
"""Name of each API that only one kind has -> that kind."""
