"""Answers in bytes: as kio writes them, in each version that is advertised."""

from __future__ import annotations

import io
import random
import struct
from typing import Any

import pytest
from kio.index import load_response_schema
from kio.serial import entity_writer
from served import ask, broker
from test_serve_broker import filled

from coordinator.serve.broker import VERSIONS
from coordinator.serve.codec import _members, fitted
from coordinator.serve.frames import Head, Malformed, answer_frame
from coordinator.serve.login import VERSIONS as SASL
from coordinator.serve.writing import writer

ALL = [
    (key, version) for key, (first, last) in (VERSIONS | SASL).items() for version in range(first, last + 1)
]
LEFT_TO_KIO = {0, 1, 18, 19}
"""APIs with tagged fields: Produce, Fetch, ApiVersions, CreateTopics."""


def with_nulls(schema: Any, body: dict[str, Any]) -> dict[str, Any]:
    """The body with null wherever the schema takes null."""
    results: dict[str, Any] = {}
    for member in _members(schema):
        value = body.get(member.json_name)
        try:
            member.from_json(None)
            results[member.json_name] = None
        except (ValueError, TypeError):
            inner = member.inner
            if inner is not None and isinstance(value, list):
                results[member.json_name] = [with_nulls(inner, one) for one in value]
            elif value is not None:
                results[member.json_name] = value
    return results


@pytest.mark.parametrize(("key", "version"), ALL)
def test_answers_are_written_as_kio_writes_them(key: int, version: int) -> None:
    schema: Any = load_response_schema(key, version)
    chance = random.Random(key * 100 + version)
    for body in (filled(schema, chance), {}, with_nulls(schema, filled(schema, chance))):
        expected = io.BytesIO()
        header = schema.__header_schema__
        entity_writer(header)(expected, header(correlation_id=7))
        entity_writer(schema)(expected, fitted(schema, body))
        more = {**body, "noVersionHasThis": 1}
        assert answer_frame(Head(key, version, 7), more) == expected.getvalue(), body
    if key not in LEFT_TO_KIO:
        assert writer(schema) is not None


def test_numbers_and_texts_at_their_bounds() -> None:
    """Lengths of one byte and of two; the smallest and the largest numbers; not one more."""
    schema: Any = load_response_schema(68, 1)
    body = {"throttleTimeMs": 0, "errorCode": 0, "errorMessage": None, "heartbeatIntervalMs": 5000}
    for member_id in ("", "m" * 126, "m" * 127, "ö" * 200, "m" * 20_000):
        for epoch in (-(2**31), 2**31 - 1):
            given = {**body, "memberId": member_id, "memberEpoch": epoch, "assignment": None}
            expected = io.BytesIO()
            entity_writer(schema)(expected, fitted(schema, given))
            assert answer_frame(Head(68, 1, 0), given)[5:] == expected.getvalue()
    with pytest.raises(struct.error):
        answer_frame(Head(68, 1, 0), {**body, "memberId": "m", "memberEpoch": 2**31, "assignment": None})


@pytest.mark.parametrize("version", range(3, 12))
def test_produce_is_refused_in_words(version: int) -> None:
    data = {"name": "foo", "partitionData": [{"index": 1, "records": None}]}
    body = {"transactionalId": None, "acks": 1, "timeoutMs": 100, "topicData": [data]}
    answer = ask(broker({"foo": 2}), 0, version, body)
    [topic] = answer["responses"]
    [partition] = topic["partitionResponses"]
    assert (topic["name"], partition["index"], partition["errorCode"]) == ("foo", 1, 44)
    if version >= 8:
        assert partition["errorMessage"].startswith("This broker stores no records")
    with pytest.raises(Malformed, match="a Produce without acknowledgement"):
        ask(broker({"foo": 2}), 0, version, {**body, "acks": 0})
