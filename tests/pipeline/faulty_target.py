"""A coordinator behind the line protocol that cannot load states, loads some badly, dies of an input or
answers it wrongly.

python faulty_target.py no-load | lossy | dies | wrong | worse | lossy-wrong [DIALECT]
"""

from __future__ import annotations

import json
import sys
from typing import Any

from coordinator.core.dialect import Dialect
from coordinator.service import Coordinator
from coordinator.stdio import LineProtocol

Json = dict[str, Any]


def is_deadly(operation: Json) -> bool:
    """A member leaves."""
    return bool(operation["op"] == "request" and operation["body"].get("memberEpoch") == -1)


def is_badly_loaded(volatile: Json) -> bool:
    """The group has the member m2."""
    return any("m2" in group["members"] for group in volatile["groups"].values())


def answer(coordinator: LineProtocol, operation: Json, fault: str) -> Json:
    """The answer of the faulty target to one operation."""
    if fault == "dies" and is_deadly(operation):
        sys.exit("this was too much")
    if fault == "no-load" and operation["op"] == "load":
        return {"ok": False, "error": "there is no such operation"}
    if fault.startswith("lossy") and operation["op"] == "load" and is_badly_loaded(operation["volatile"]):
        for group in operation["volatile"]["groups"].values():
            group["members"]["m2"]["sessionDeadlineMs"] += 1
    response = coordinator.answer(operation)
    if fault == "lossy-wrong" and operation["op"] == "request" and operation["body"].get("memberEpoch") == 0:
        response["group"]["groupEpoch"] += 7
    if fault in ("wrong", "worse") and is_deadly(operation):
        response["group"]["groupEpoch"] += 7
        if fault == "worse" and operation["body"]["memberId"] == "m1":
            response["group"]["assignmentEpoch"] += 7
    if fault == "no-load" and operation["op"] == "hello":
        response["controls"] = [control for control in response["controls"] if control != "load"]
    return response


def main(fault: str, dialect: str = "kip-848") -> None:
    """Answer line by line."""
    coordinator = LineProtocol(Coordinator(dialect=Dialect.named(dialect)))
    for line in sys.stdin:
        print(json.dumps(answer(coordinator, json.loads(line), fault)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
