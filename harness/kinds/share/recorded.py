"""Recorded runs of share groups: reading a log, and the compared fields."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

from harness.kinds.features.plain_recording import PlainLogReader, PlainRecording
from harness.kinds.rows import BESIDE
from harness.kinds.share.description import SHARE
from harness.kinds.share.state import (
    REQUESTS,
    ShareGroup,
    ShareMember,
    ShareReader,
    ShareRequest,
    ShareResponse,
)
from harness.targets.base import Json
from harness.validate.log import ERRORS
from harness.validate.recording import Observed


@dataclass(slots=True)
class Line(Observed):
    """One step."""

    number: Annotated[int, BESIDE]
    content: Annotated[Json, BESIDE]
    does: str
    member: str = ""
    request: ShareRequest = field(default_factory=lambda: ShareRequest(0, None))
    response: ShareResponse | None = None
    topic: str = ""
    partitions: int = 0
    seen: ShareGroup | None = None


class ShareLogReader(PlainLogReader):
    """A reader of a log of a share group. A group of which a target hides fields is not compared."""

    line = Line
    api, word, deletes = SHARE.api, "Share", True

    def _request_line(self, number: int, content: Json, answer: Json | None) -> Line:
        body = content["body"]
        names = body.get("subscribedTopicNames")
        request = ShareRequest(body["memberEpoch"], None if names is None else frozenset(names))
        response = None if answer is None else self._answered(answer)
        return Line(number, content, "Request", body["memberId"], request, response)

    def _answered(self, answer: Json) -> ShareResponse:
        given = answer.get("assignment")
        assigned = None if given is None else self._topics.partitions(given["topicPartitions"])
        error = ERRORS.get(answer["errorCode"], f"error {answer['errorCode']}")
        return ShareResponse(error, answer.get("memberEpoch", 0), assigned)

    def _seen(self, answer: Json) -> ShareGroup | None:
        group: Any = self._group_in(answer)
        if group is None or self._hidden:
            return None
        partitions = self._topics.partitions
        members = [
            ShareMember(
                *(one["memberId"], one["memberEpoch"], one["previousMemberEpoch"]),
                frozenset(one["subscribedTopicNames"]),
                *(partitions(one["target"]), partitions(one["assigned"])),
            )
            for one in group["members"]
        ]
        epochs = group["groupEpoch"], group["assignmentEpoch"]
        return ShareGroup(*epochs, self._topics.sizes(group["metadata"]), frozenset(members))


class ShareRecording(PlainRecording):
    """Share groups (RecordedShare.tla)."""

    module = "RecordedShare"
    requests = REQUESTS
    templates = "kinds/share/"
    reader = ShareReader
