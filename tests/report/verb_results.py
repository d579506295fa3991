"""Small results of other verbs, as `--json` has them: two simulations, mutants, a diff."""

from __future__ import annotations

from typing import Any

REBALANCED: dict[str, Any] = {
    "rebalance": [
        {
            **{"what": "one joins", "protocol": protocol, "members": members, "partitions": 10 * members},
            **{"rounds": 1, "moved": 9, "stopped": 1_000, "idle_s": idle_s, "longest_s": 0, "settled_s": 2.5},
        }
        for protocol, idle_s in (("eager", 1_269.44), ("KIP-848", 0.0))
        for members in (3, 100)
    ]
}
_MESSAGES = [
    {"from": "", "to": "", "label": "fail-over", "kind": "note"},
    {"from": "g0", "to": "coordinator", "label": "join, subscribes to foo", "kind": "request"},
    {"from": "coordinator", "to": "g0", "label": "epoch 1, assigned foo-0", "kind": "lost"},
    {"from": "g10", "to": "coordinator", "label": "heartbeat, epoch 1", "kind": "late"},
    {"from": "coordinator", "to": "g10", "label": "FENCED_MEMBER_EPOCH", "kind": "answer"},
]
SIMULATED: dict[str, Any] = {
    **{"command": "simulate", "mode": "groups", "target": "python", "dialect": "kip-848", "seed": 848},
    **{"seeds": 30, "events": 152_887, "rebalances": 668, "again": "conform simulate --seed 848 --seeds 30"},
    "assumptions": {"r9": True, "exemption": False},
    "kinds": {"send": 31_290, "group timeout": 1},
    "faults": {"fail-over": 852, "stall": 0},
    "states": {"Stable": 5_623},
    "answers": {"heartbeat NONE": 16_970},
    "holds": False,
    "violations": [
        {
            **{
                "requirement": "R7",
                "invariant": "NoDoubleOwnership",
                "message": "foo-0 is owned by g0 and by g10",
            },
            **{"seed": 899, "events": 17, "seen_in_seeds": 39, "schedule": "out/R7.json"},
            **{"scenario": "out/R7.yaml", "again": "conform simulate --replay out/R7.json"},
            "steps": ["1. 0.122 s: g0 start", "2. 0.122 s: g0 send"],
            "messages": _MESSAGES,
            "before": {"groupEpoch": 1, "processes": [{"memberId": "g10", "owned": []}]},
            "after": {"groupEpoch": 1, "processes": [{"memberId": "g10", "owned": ["foo-0"]}]},
        }
    ],
}

_CLIENT = {"id": "client-m1", "host": "/127.0.0.1", "principal": "User:m1"}
_BODY = {
    "groupId": "g",
    "memberEpoch": 0,
    "instanceId": "i1",
    "subscribedTopicNames": ["foo"],
    "topicPartitions": [],
}
_OWNED = [{"topicId": "5d1d23dc-5d44-5d6e-bd1d-0b2f0a2a9a01", "partitions": [0, 1]}]
_TOPIC = {"name": "foo", "id": "5d1d23dc-5d44-5d6e-bd1d-0b2f0a2a9a01", "partitions": 2}
PAIR: dict[str, Any] = {
    **{
        "target": "python",
        "against": "kafka:4.2.1",
        "dialect": "kafka-4.2",
        "seed": 7,
        "steps": 600,
        "runs": 3,
    },
    "command": "conform compare --target python --against kafka:4.2.1 --steps 600 --seed 7",
    "ways": {"Join/NONE": 3},
    "states": {"Stable": 3},
    "unobserved": ["metadata"],
    "left_out": ["requests of administrators"],
    "found": [
        {
            **{"signature": "Heartbeat/NONE: response.memberEpoch", "runs": 2, "file": "out/two.json"},
            "operations": [
                {"op": "topics", "upsert": [_TOPIC], "delete": []},
                {
                    **{"op": "request", "api": "ConsumerGroupHeartbeat", "client": _CLIENT, "newId": "x1"},
                    "body": {**_BODY, "memberId": ""},
                },
                {
                    **{"op": "request", "api": "ConsumerGroupHeartbeat", "client": _CLIENT},
                    "body": {**_BODY, "memberId": "m1", "memberEpoch": 2, "topicPartitions": _OWNED},
                },
            ],
            "differences": [{"path": "response.memberEpoch", "expected": 2, "got": 3}],
            "before": {"groupEpoch": 2, "members": [{"memberId": "m1", "target": []}]},
            "after": {"groupEpoch": 2, "members": [{"memberId": "m1", "target": _OWNED}]},
        }
    ],
}

_COUNTS = {"timed_out": 0, "equivalent": 1, "unviable": 2}
MUTATED: dict[str, Any] = {
    **{"verb": "mutate", "stale": [], "exit_code": 0, "killed_by": {"basic.itf.json": 52}},
    "total": {"mutants": 240, "judged": 197, "killed": 193, "survived": 1, **_COUNTS, "score": 99.5},
    "files": [
        {
            **{"path": "coordinator/x.py", "mutants": 1, "judged": 1, "killed": 0, "survived": 1},
            **{**_COUNTS, "score": None},
        }
    ],
    "survivors": [
        {"path": "coordinator/x.py", "line": 55, "operator": "drop", "diff": ["- a or b", "+ a"], "by": "x"}
    ],
    "equivalent": [
        {
            "path": "coordinator/x.py",
            "line": 7,
            "operator": "if",
            "diff": ["- <b>"],
            "by": "",
            "reason": "Never <b>.",
        }
    ],
}

_CAME = {"answer": "FENCED_MEMBER_EPOCH", "trace": "out/a.itf.json"}
DIFFERED: dict[str, Any] = {
    **{
        "command": "diff",
        "a": "kip-848",
        "b": "kip-848,FencedMemberIsRemoved=FALSE",
        "page": "out/index.html",
    },
    "edits": [{"module": "Coordinator", "definition": "Fence", "change": "changed"}],
    "constants": [
        {"name": "FencedMemberIsRemoved", "a": "TRUE", "b": "FALSE", "sentence": "H5: it is removed."}
    ],
    "configuration": ["INVARIANT X is new"],
    "models": [
        {
            **{"model": "MCTour", "bounds": "2 members", "not_compared": ["step.offset"]},
            "properties": [
                {
                    "property": "TypeOK",
                    "verdict": "still holds",
                    "requirements": ["E4"],
                    "a": "holds",
                    "b": "holds",
                }
            ],
            "states": {"both": 312, "only_a": 1, "only_b": 0},
            "inputs": {"all": 19_669, "same": 11_077, "changed": 8_592, "forbidden": 0, "added": 0},
            "actions": {"Join": {"same": 392}, "Heartbeat": {"same": 8_256, "changed": 8_592}},
            "kinds": [
                {
                    **{"kind": "changed", "action": "Heartbeat", "ways_a": ["fenced"], "ways_b": ["fenced"]},
                    **{"inputs": 8_592, "states": 306, "requirements": ["H5"]},
                    "example": {
                        **{"way": ["Join of m1"], "input": "Heartbeat of m1 with epoch 2"},
                        "a": [{**_CAME, "effects": [{"effect": "m1 is removed", "in_both": False}]}],
                        "b": [{**_CAME, "effects": []}],
                    },
                }
            ],
        },
        {
            **{"model": "MCLive", "bounds": ""},
            "properties": [{"property": "Live", "verdict": "breaks", "a": "holds", "b": "violated"}],
        },
    ],
}
