"""Errors of the protocol, told to the member, and of the caller, told in one sentence."""

from __future__ import annotations

from enum import IntEnum


class ErrorCode(IntEnum):
    """Kafka's error codes, as far as this coordinator answers them (H3, H4, H5)."""

    NONE = 0
    COORDINATOR_NOT_AVAILABLE = 15
    UNKNOWN_MEMBER_ID = 25
    INVALID_REQUEST = 42
    GROUP_ID_NOT_FOUND = 69
    FENCED_MEMBER_EPOCH = 110
    UNSUPPORTED_ASSIGNOR = 112


class RequestRejected(Exception):
    """A request that is answered with an error and changes nothing.

    `code` and `message` become errorCode and errorMessage of the response.
    """

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class BadInput(ValueError):
    """Input that no client of the protocol can send: the caller's mistake. Nothing was changed."""


class AppendFailed(Exception):
    """The log refused the records of an operation that has no response to say so. Nothing was changed."""
