"""Errors of the protocol, which the member gets, and of the caller, in one sentence."""

from __future__ import annotations

from enum import IntEnum


class ErrorCode(IntEnum):
    """Kafka's error codes that this coordinator uses (H3, H4, H5, A9, O1, O2, P4, D1, C1)."""

    UNKNOWN_SERVER_ERROR = -1
    NONE = 0
    UNKNOWN_TOPIC_OR_PARTITION = 3
    OFFSET_METADATA_TOO_LARGE = 12
    COORDINATOR_LOAD_IN_PROGRESS = 14
    COORDINATOR_NOT_AVAILABLE = 15
    NOT_COORDINATOR = 16
    ILLEGAL_GENERATION = 22
    INCONSISTENT_GROUP_PROTOCOL = 23
    INVALID_GROUP_ID = 24
    UNKNOWN_MEMBER_ID = 25
    INVALID_SESSION_TIMEOUT = 26
    REBALANCE_IN_PROGRESS = 27
    INVALID_COMMIT_OFFSET_SIZE = 28
    GROUP_AUTHORIZATION_FAILED = 30
    CLUSTER_AUTHORIZATION_FAILED = 31
    INVALID_CONFIG = 40
    INVALID_REQUEST = 42
    NON_EMPTY_GROUP = 68
    GROUP_ID_NOT_FOUND = 69
    MEMBER_ID_REQUIRED = 79
    GROUP_MAX_SIZE_REACHED = 81
    FENCED_INSTANCE_ID = 82
    GROUP_SUBSCRIBED_TO_TOPIC = 86
    UNKNOWN_TOPIC_ID = 100
    FENCED_MEMBER_EPOCH = 110
    UNRELEASED_INSTANCE_ID = 111
    UNSUPPORTED_ASSIGNOR = 112
    STALE_MEMBER_EPOCH = 113
    INVALID_ASSIGNMENT = 848
    """A number of our own: Kafka has no such error."""


class RequestRejected(Exception):
    """A request that is answered with an error and changes nothing.

    `code` and `message` become errorCode and errorMessage of the response.
    """

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class BadInput(ValueError):
    """Input that no client of the protocol can send: a mistake of the caller. Nothing was changed."""


class AppendFailed(Exception):
    """The log took no records. Nothing was changed. `code` is the error of a request whose records they
    were."""

    code: ErrorCode = ErrorCode.COORDINATOR_NOT_AVAILABLE

    @property
    def sentence(self) -> str:
        """The text as a sentence of a response: with a capital letter and a full stop."""
        text = str(self)
        return f"{text[0].upper()}{text[1:]}."


class BatchTooLarge(AppendFailed):
    """The records of one step are more than a batch may have (P4). Nothing was changed.

    Clients repeat a request that COORDINATOR_NOT_AVAILABLE refuses, and these records will be too many again.
    """

    code = ErrorCode.UNKNOWN_SERVER_ERROR
