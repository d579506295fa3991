"""SASL/PLAIN (RFC 4616) on one connection: before a client has logged in, only ApiVersions is answered."""

from __future__ import annotations

import base64
import hmac
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from coordinator.core.errors import BadInput
from coordinator.core.fields import Json
from coordinator.serve.broker import Broker
from coordinator.serve.cluster_apis import API_VERSIONS
from coordinator.serve.frames import Malformed

SASL_HANDSHAKE: Final = 17
SASL_AUTHENTICATE: Final = 36
VERSIONS: Final = {SASL_HANDSHAKE: (1, 1), SASL_AUTHENTICATE: (0, 2)}
"""After version 0 of SaslHandshake a client sends its token without a header, and not in SaslAuthenticate."""
MECHANISM: Final = "PLAIN"
UNSUPPORTED_MECHANISM: Final = 33
ILLEGAL_STATE: Final = 34
FAILED: Final = 58


class Login:
    """The state of one connection. `users` has passwords by names; without users no client need log in."""

    def __init__(self, users: Mapping[str, str]) -> None:
        self._users = users
        self._chosen = False
        self.user = ""
        """The name of the user, once the client has logged in."""
        self.failed = False
        """Tell if a password was wrong: the connection is to be closed."""

    def handle(self, broker: Broker, frame: bytes, host: str) -> bytes | int:
        """The response, as `Broker.handle`. Malformed also for requests that come before the client has
        logged in."""
        if not self._users:
            return broker.handle(frame, host)
        sent = broker.read(frame, host)
        if sent.key in VERSIONS:
            return broker.response(sent, self.answer(sent.key, sent.body))
        if not self.user and sent.key != API_VERSIONS:
            raise Malformed(f"a request of API {sent.key} came before the client had logged in")
        return broker.respond(sent._replace(client={**sent.client, "principal": f"User:{self.user}"}))

    @property
    def lets_in(self) -> bool:
        """Tell if the client may send requests: it has logged in, or need not."""
        return bool(self.user) or not self._users

    def answer(self, key: int, body: Json) -> Json:
        """The response to SaslHandshake or SaslAuthenticate."""
        if key == SASL_HANDSHAKE:
            self._chosen = body["mechanism"] == MECHANISM
            return {"errorCode": 0 if self._chosen else UNSUPPORTED_MECHANISM, "mechanisms": [MECHANISM]}
        if not self._chosen or self.user:
            self.failed = True
            return {"errorCode": ILLEGAL_STATE, "errorMessage": "SaslHandshake comes first, once."}
        name, password = _named(base64.b64decode(body["authBytes"] or ""))
        known = self._users.get(name)
        # The time must not show if the user exists, nor how much of a password is right.
        right = hmac.compare_digest(password, (known if known is not None else "").encode())
        if known is None or not right:
            self.failed = True
            return {"errorCode": FAILED, "errorMessage": "The user or the password is wrong."}
        self.user = name
        return {"errorCode": 0, "errorMessage": None, "authBytes": "", "sessionLifetimeMs": 0}


def _named(message: bytes) -> tuple[str, bytes]:
    """Name and password in "authorization NUL name NUL password"; an empty name where the text is
    malformed."""
    parts = message.split(b"\0")
    if len(parts) != 3 or parts[0] not in (b"", parts[1]):
        return "", b""
    try:
        return parts[1].decode(), parts[2]
    except UnicodeDecodeError:
        return "", b""


def read_users(path: Path) -> dict[str, str]:
    """Names and passwords of a file with lines NAME:PASSWORD. BadInput, in words, where the file has other
    lines."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"the users in {path} cannot be read: {error}") from None
    users = {}
    for number, line in enumerate(lines, start=1):
        name, colon, password = line.partition(":")
        if not name or not colon or not password or "\0" in line:
            raise BadInput(f"line {number} of {path} is not NAME:PASSWORD")
        if name in users:
            raise BadInput(f"line {number} of {path} has the user {name!r} again; keep one of the lines")
        users[name] = password
    if not users:
        raise BadInput(f"{path} has no user: nobody could log in")
    return users
