"""Draws operations of the line protocol from a seed: all that `hello` declares, well-formed or bent.

The operations depend on the coordinator's state (its members, their epochs, its armed timers), but an
operation once drawn is plain JSON, so that a list of operations can be done again and shortened.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any, Final

from fuzz_bodies import BUILDERS, GROUPS, KINDS, TOPIC_IDS, TOPICS, Json, Known, partitions, weighted

from coordinator import Coordinator
from coordinator.apis import APIS
from coordinator.consumer.validation import NO_TOPIC_ID
from coordinator.core.admission import STATES
from coordinator.core.config import CONFIG_NAMES
from coordinator.stdio import COMMIT_MODES

TIMES_MS: Final = (0, 1, 500, 1_000, 1_000, 3_000, 5_000, 10_000, 10_000, 45_000, 60_000, 300_000)
LONG_MS: Final = (7 * 24 * 3_600_000, 10**12, 2**62, 2**63, 10**30)
ODD: Final[tuple[Any, ...]] = (
    *(None, True, False, "", [], {}, 0, -1, 1, 2**31 - 1, -(2**31), 2**31, 2**63, -(10**30), 10**400, 1.5),
    *(float("nan"), float("inf"), "x", "g0", "m0", "i0", "foo", "\ud800", "\u00e9\U0001f600", "\0", "a b"),
    *([None], [""], ["foo", "foo"], [[]], [{}], {"": None}, {"memberId": "m0"}),
    *(
        NO_TOPIC_ID,
        TOPIC_IDS[0],
        TOPIC_IDS[0].upper().replace("-", ""),
        "eQ",
        "eQ==",
        "AAM=",
        "AAMAAAABAANmb28=",
    ),
)
RARE: Final = (40_000, 300_000)
OPERATIONS: Final = (
    *(("request", 787), ("advance", 70), ("fire", 35), ("topics", 25), ("assign", 15), ("commit", 12)),
    *(("restart", 8), ("load", 8), ("describe", 8), ("ids", 8), ("coordinator", 5), ("records", 4)),
    *(("metrics", 3), ("background", 2), ("configure", 4), ("hello", 2), ("line", 3), ("rights", 3)),
)
"""Every operation and its frequency in 1,000; `line` is one that is no JSON object."""


class Draw:
    """Operations for one coordinator."""

    def __init__(self, rng: Random, coordinator: Coordinator) -> None:
        self._known = Known(coordinator)
        self._rng = rng
        self._coordinator = coordinator
        self._kinds = {
            kind: weighted([(api, BUILDERS[api][1]) for api in apis])
            for kind, apis in {**KINDS, "any": tuple(BUILDERS)}.items()
        }
        self._names = weighted(OPERATIONS)
        self._mode = "auto"
        self._state = "active"
        self._denied = False
        self._number = 0
        self._made: dict[str, Callable[[], Json]] = {
            "request": self._request,
            "advance": self._advance,
            "fire": self._fire,
            "topics": self._topics,
            "assign": self._assign,
            "commit": self._commit,
            "restart": self._restart,
            "load": self._load,
            "describe": lambda: {"group": self._group()},
            "ids": lambda: {"next": [f"m{self._rng.randrange(4)}"]},
            "coordinator": self._set_state,
            "rights": self._rights,
            "records": lambda: {"since": self._rng.choice((0, self._coordinator.end, 1))},
            "metrics": dict,
            "background": dict,
            "hello": dict,
            "configure": self._configure,
        }

    def first(self) -> list[Json]:
        """The operations at the beginning of an episode: a cluster, sometimes a configuration."""
        rng = self._rng
        began = [self._made_of("topics")]
        return [self._made_of("configure"), *began] if rng.random() < 0.4 else began

    def next(self) -> Json | str:
        """The next operation, or a line that is none."""
        rng = self._rng
        (name,) = rng.choices(self._names[0], cum_weights=self._names[1])
        if self._mode != "auto" and rng.random() < 0.1:
            name = "commit"
        elif self._state != "active" and rng.random() < 0.2:
            name = "coordinator"
        elif self._denied and rng.random() < 0.2:
            name = "rights"
        if name == "line":
            return self._line()
        operation = self._made_of(name)
        if rng.random() < (0.5 if name == "load" else 0.12):
            operation = json.loads(json.dumps(operation))  # parts of it may be the coordinator's own
            for _ in range(rng.choice((1, 1, 2))):
                bend(rng, operation)
        return operation

    def learn(self, operation: Json, answer: Json) -> None:
        """Keep the facts of an answer."""
        if operation["op"] == "commit" and answer["ok"]:
            self._mode = operation["mode"]
        elif operation["op"] == "coordinator" and answer["ok"]:
            self._state = operation["state"]
        elif operation["op"] in ("restart", "load") and answer["ok"]:
            left = operation.get("volatile") or {}
            self._state = left.get("coordinator", {}).get("state", "active")
            self._denied = self._denied and (operation["op"] == "restart" or "coordinator" in left)
        elif operation["op"] == "rights" and answer["ok"]:
            self._denied = bool(operation["denied"])

    def _made_of(self, name: str) -> Json:
        operation = {"op": name, **self._made[name]()}
        if self._rng.random() < 0.03:
            operation["observe"] = self._group()
        return operation

    def _group(self) -> str:
        return self._rng.choice(GROUPS)

    def _request(self) -> Json:
        rng = self._rng
        group = self._group()
        kind = self._kinds[self._known.kind(group) if rng.random() < 0.85 else "any"]
        (api,) = rng.choices(kind[0], cum_weights=kind[1])
        self._number += 1
        return {
            "id": f"{group} {self._number}",
            "api": api,
            "version": APIS[api][1],
            "client": {"id": "c", "host": "/h", "principal": "User:a"},
            "body": BUILDERS[api][0](rng, self._known, group),
        }

    def _advance(self) -> Json:
        return {"ms": self._rng.choice(TIMES_MS if self._rng.random() < 0.97 else LONG_MS)}

    def _fire(self) -> Json:
        group = self._group()
        armed = self._coordinator.describe(group).get("timers", [])
        if not armed:
            return {"timer": "session", "group": group, "member": "m0"}
        due = self._rng.choice(armed)
        return {"timer": due["timer"], "group": due["group"], "member": due["member"]}

    def _topics(self) -> Json:
        rng = self._rng
        upsert = [
            {"name": name, "id": rng.choice(TOPIC_IDS), "partitions": rng.randrange(1, 5)}
            for name in rng.sample(TOPICS, rng.choice((0, 1, 1, 2, 3)))
        ]
        there = sorted(self._coordinator.topics)
        return {"upsert": upsert, "delete": rng.sample(there, min(len(there), rng.choice((0, 0, 0, 1))))}

    def _assign(self) -> Json:
        rng, group = self._rng, self._group()
        if rng.random() < 0.1:
            return {"group": group, "error": "the assignor fails"}
        return {"group": group, "target": {name: partitions(rng) for name in self._known.members(group)}}

    def _commit(self) -> Json:
        return {"mode": self._rng.choice((*COMMIT_MODES, "auto", "auto"))}

    def _restart(self) -> Json:
        end = self._coordinator.end
        return {"keep": self._rng.choice((None, None, end, max(end - 1, 0), end // 2, end + 1))}

    def _set_state(self) -> Json:
        return {"state": self._rng.choice((*STATES, "active", "active"))}

    def _rights(self) -> Json:
        denied = self._rng.choice((("READ",), ("DESCRIBE",), ("READ", "DELETE", "ALTER_CONFIGS"), (), ()))
        return {"denied": [*denied]}

    def _load(self) -> Json:
        """The coordinator's own state, whole, without the state that no record holds, or bent by `next`."""
        rng = self._rng
        volatile = self._coordinator.volatile() if rng.random() < 0.7 else {}
        topics = [
            {"name": name, "id": image.id, "partitions": image.partitions}
            for name, image in self._coordinator._env.topics.items()
        ]
        operation = {"records": self._coordinator.records(), "topics": topics, "volatile": volatile}
        copied: Json = json.loads(json.dumps(operation))
        return copied

    def _configure(self) -> Json:
        rng = self._rng
        values = (0, 1, 2, 1_000, 5_000, 45_000, 60_000)
        return {name: rng.choice(values) for name in rng.sample(tuple(CONFIG_NAMES), rng.choice((1, 1, 2)))}

    def _line(self) -> str:
        rng = self._rng
        if rng.random() < 0.2:
            return "[" * rng.choice((10, 500, 900, 950, 990, 5_000, 100_000)) + '"'
        if rng.random() < 0.3:
            depth = rng.choice((10, 200, 500, 700, 800, 900, 930, 960, 980))
            field = rng.choice(("group", "op", "observe", "timer"))
            return '{"op":"describe","' + field + '":' + "[" * depth + "]" * depth + "}"
        text = json.dumps(self._made_of("request"))
        return rng.choice((text[: rng.randrange(len(text))], text + "}", "null", "1", '"x"', "[]", "{}"))


def bend(rng: Random, operation: Json) -> None:
    """Change one place anywhere in an operation, except its name: another value, nothing, twice, or more."""
    parent: Any = operation
    key: Any = None
    while True:
        every = parent if isinstance(parent, dict) else range(len(parent))
        keys = [one for one in every if one != "op"]
        if not keys:
            break
        key = rng.choice(keys)
        child = parent[key]
        if not isinstance(child, dict | list) or not child or rng.random() < 0.15:
            break
        parent = child
    if key is None:
        operation[rng.choice(("more", "ms", "group", "body"))] = _odd(rng)
        return
    way = rng.random()
    if isinstance(parent, list):
        if not parent:
            parent.append(_odd(rng))
        elif way < 0.3:
            parent.append(parent[key])
        elif way < 0.5:
            del parent[key]
        else:
            parent[key] = _odd(rng)
    elif key not in parent or way < 0.15:
        parent[rng.choice(("more", "name", "memberId"))] = _odd(rng)
    elif way < 0.35:
        del parent[key]
    elif isinstance(parent[key], int) and way < 0.6:
        parent[key] += rng.choice((-1, 1, 1_000, -(10**6), 2**31))
    else:
        parent[key] = _odd(rng)


def _odd(rng: Random) -> Any:
    value = "\u00e9" * rng.choice(RARE) if rng.random() < 0.004 else rng.choice(ODD)
    return json.loads(json.dumps(value)) if isinstance(value, dict | list) else value
