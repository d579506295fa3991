"""Sequence diagrams of findings about clients."""

from __future__ import annotations

import re

import faulty

from harness.clients.draw import draw
from harness.clients.picture import drawing, picture
from harness.clients.run import BrokenRule, run_schedules, shortest
from harness.clients.schedules import Origin, drawn
from harness.clients.simulated import simulate, topic_ids
from harness.clients.timeline import Event, Setup
from harness.targets.groups.client import client_parts


def shortest_breach(name: str, rule: str) -> BrokenRule:
    """The finding of a faulty client, with its shortest schedule."""
    parts = client_parts(f"{faulty.__name__}:{name}")

    def play(setup: Setup, steps):  # type: ignore[no-untyped-def]
        return simulate(parts, parts.member, setup, steps)[0]

    return shortest(play, run_schedules(play, drawn(range(20))).broken[rule])


def rows(text: str) -> list[str]:
    """The words of each row, without its arrow."""
    return re.findall(r"^ +L\d\S*L\d: \d+\. (.*)$", text, re.MULTILINE)


def test_a_diagram_has_what_led_to_the_breach_and_nothing_after_it() -> None:
    finding = shortest_breach("StaysWithTheCoordinator", "FindsCoordinatorAnew")
    text = picture(finding, topic_ids())
    assert text.startswith("sequenceDiagram\n  participant L0 as application\n")
    assert rows(text)[-4:] == [
        "assigned returns",
        "Heartbeat, epoch 1, subscribes to foo, owns foo-0 foo-1 foo-2",
        "error 16",
        "Heartbeat, epoch 1, subscribes to foo, owns foo-0 foo-1 foo-2",
    ]
    assert "H5 FindsCoordinatorAnew: the client sends the next heartbeat without finding" in text
    assert "release" in text and "refuse 16" in text, "steps of the schedule"
    assert any(event.ms > finding.breach.ms for event in finding.timeline)


def test_heartbeats_that_say_nothing_new_are_one_row() -> None:
    finding = shortest_breach("ClosesSilently", "LeavesWhenClosed")
    quiet = [row for row in rows(picture(finding, topic_ids())) if "says nothing new" in row]
    assert quiet == ["Heartbeat, epoch 1, says nothing new (17 times)"]


def test_requests_that_are_answered_alike_are_drawn_once() -> None:
    """A client that never joins again sends the same heartbeat until the end: two rows, not a hundred."""
    breach = shortest_breach("ClosesSilently", "LeavesWhenClosed").breach
    beat = {"memberEpoch": 3, "topicPartitions": []}
    pairs = (
        (
            Event(n, "request", api="ConsumerGroupHeartbeat", number=n, body=beat),
            Event(n, "answer", number=n, body={"errorCode": 25}),
        )
        for n in range(5)
    )
    events = (*(event for pair in pairs for event in pair), Event(9, "closed"))
    text = picture(BrokenRule(Origin(), breach, draw(0)[0], (), events), topic_ids())
    assert rows(text) == ["Heartbeat, epoch 3, owns nothing (5 times)", "error 25 (5 times)"]


def test_errors_of_partitions_and_another_member_id_are_words_of_their_rows() -> None:
    breach = shortest_breach("ClosesSilently", "LeavesWhenClosed").breach
    refused = {"topics": [{"name": "foo", "partitions": [{"partitionIndex": 0, "errorCode": 113}]}]}
    events = (
        Event(1, "request", api="ConsumerGroupHeartbeat", number=1, body={"memberEpoch": 0, "memberId": "a"}),
        Event(2, "request", api="OffsetCommit", number=2, body={}),
        Event(3, "answer", number=2, body=refused),
        Event(4, "request", api="ConsumerGroupHeartbeat", number=3, body={"memberEpoch": 0, "memberId": "b"}),
    )
    text = picture(BrokenRule(Origin(), breach, draw(0)[0], (), events), topic_ids())
    assert rows(text) == [
        "Heartbeat, epoch 0",
        "OffsetCommit",
        "answer to OffsetCommit, error 113",
        "Heartbeat, epoch 0, another member id",
    ]


def test_a_lost_answer_and_an_error_are_drawn_as_such() -> None:
    breach = shortest_breach("ClosesSilently", "LeavesWhenClosed").breach
    events = (
        Event(1, "request", api="ConsumerGroupHeartbeat", number=1, body={"memberEpoch": 3}),
        Event(2, "answer", number=1, body=None),
        Event(3, "request", api="FindCoordinator", number=2, body={}),
        Event(4, "answer", number=2, body={"errorCode": 15}),
        Event(5, "error", error=111),
    )
    text = picture(BrokenRule(Origin(), breach, draw(0)[0], (), events), topic_ids())
    assert "L2--xL1: 2. answer to ConsumerGroupHeartbeat (lost)" in text
    assert "FindCoordinator" not in text and "error 111" in text


def test_a_run_without_a_breach_keeps_nothing() -> None:
    parts = client_parts("reference")
    assert simulate(parts, parts.member, *draw(1))[0].timeline == ()


def test_a_drawing_has_room_for_the_words_between_two_lanes() -> None:
    finding = shortest_breach("StaysWithTheCoordinator", "FindsCoordinatorAnew")
    svg = drawing("some client", finding, topic_ids())
    assert "some client: H5 FindsCoordinatorAnew" in svg
    assert "after " in svg and "the client sends the next heartbeat without finding" in svg
    application, client = (
        float(re.search(rf'class="name" x="([\d.]+)"[^>]*>{lane}<', svg)[1])  # type: ignore[index]
        for lane in ("application", "client")
    )
    words = max(re.findall(r">(assigned [^<]*)<", svg), key=len)
    assert client - application > 6 * len(words)
