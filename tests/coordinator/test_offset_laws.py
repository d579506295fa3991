"""A law of OffsetCommit on random requests (O1)."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from offset_driver import joined, send, topic

from coordinator import ErrorCode

PARTS = st.tuples(st.booleans(), st.sets(st.integers(0, 1), min_size=1))


@settings(max_examples=60, derandomize=True)
@given(parts=st.lists(PARTS, min_size=1, max_size=3))
def test_o11_a_partition_counts_once_however_its_topic_is_named(parts: list[tuple[bool, set[int]]]) -> None:
    """O1: a request that gives a partition twice, perhaps once by its topic's name and once by its id, is
    refused as a whole; any other is accepted."""
    g, offsets = joined()
    topics = [
        {
            **topic("foo", by_name),
            "partitions": [{"partitionIndex": n, "committedOffset": 7} for n in sorted(indexes)],
        }
        for by_name, indexes in parts
    ]
    body = {"groupId": "g", "memberId": "m1", "generationIdOrMemberEpoch": 1, "topics": topics}
    answer = send(g.coordinator, body)
    codes = {one["errorCode"] for entry in answer["topics"] for one in entry["partitions"]}
    named = [n for _, indexes in parts for n in indexes]
    twice = len(named) > len(set(named))
    assert codes == ({ErrorCode.INVALID_REQUEST} if twice else {0})
    assert offsets.fetch() == ({} if twice else {f"foo-{n}": 7 for n in named})
