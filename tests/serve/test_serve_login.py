"""SASL/PLAIN and TLS: librdkafka joins with both; a client that has not logged in gets no answer."""

from __future__ import annotations

import base64
import shutil
import socket
import ssl
import struct
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer
from served import FAST, broker, frame, response, serving

from coordinator.core.errors import BadInput
from coordinator.serve.frames import Malformed
from coordinator.serve.login import VERSIONS, Login, read_users

USERS = {"alice": "a secret"}


def logs_in(login: Login, token: bytes) -> int:
    made = broker({"foo": 2})
    made.offered |= VERSIONS
    ask(login, made, 17, 1, {"mechanism": "PLAIN"})
    code: int = ask(login, made, 36, 2, {"authBytes": base64.b64encode(token).decode()})["errorCode"]
    return code


def ask(login: Login, made: Any, key: int, version: int, body: dict[str, Any]) -> dict[str, Any]:
    return response(key, version, login.handle(made, frame(key, version, body), "127.0.0.1"))


@pytest.mark.parametrize(
    ("token", "code"),
    [
        (b"\0alice\0a secret", 0),
        (b"alice\0alice\0a secret", 0),
        (b"bob\0alice\0a secret", 58),
        (b"\0alice\0a secret ", 58),
        (b"\0alice\0", 58),
        (b"\0bob\0a secret", 58),
        (b"\0bob\0", 58),
        (b"\0\0", 58),
        (b"", 58),
        (b"\0\xff\0x", 58),
    ],
)
def test_only_a_user_with_the_password_logs_in(token: bytes, code: int) -> None:
    login = Login(USERS)
    assert logs_in(login, token) == code
    assert (login.user, login.failed) == (("alice", False) if code == 0 else ("", True))


def test_nothing_but_versions_is_answered_before() -> None:
    login, made = Login(USERS), broker({"foo": 2})
    made.offered |= VERSIONS
    offered = ask(login, made, 18, 3, {"clientSoftwareName": "a", "clientSoftwareVersion": "1"})
    assert {17, 36} <= {one["apiKey"] for one in offered["apiKeys"]}
    for key, version, body in ((3, 9, {"topics": None}), (16, 5, {}), (10, 0, {"key": "g"})):
        with pytest.raises(Malformed, match="before the client had logged in"):
            login.handle(made, frame(key, version, body), "127.0.0.1")
    assert ask(login, made, 17, 1, {"mechanism": "SCRAM-SHA-256"})["errorCode"] == 33
    early = ask(login, made, 36, 2, {"authBytes": base64.b64encode(b"\0alice\0a secret").decode()})
    assert early["errorCode"] == 34 and login.failed and not login.user
    assert not Login({}).failed and 17 not in broker({}).offered, "off by default"


def test_a_handshake_whose_token_would_come_without_a_header_is_not_offered() -> None:
    made = broker({"foo": 2})
    made.offered |= VERSIONS
    with pytest.raises(Malformed, match="versions 1 to 1, not 0"):
        Login(USERS).handle(made, frame(17, 0, {"mechanism": "PLAIN"}), "127.0.0.1")


def exchanged(connection: socket.socket, data: bytes) -> bytes:
    """The answer's frame, "" where the server closes."""
    try:
        connection.sendall(struct.pack(">i", len(data)) + data)
        head = connection.recv(4, socket.MSG_WAITALL)
        return connection.recv(struct.unpack(">i", head)[0], socket.MSG_WAITALL) if head else b""
    except ConnectionError:
        return b""


def test_a_wrong_password_closes_the_connection(caplog: pytest.LogCaptureFixture) -> None:
    token = {"authBytes": base64.b64encode(b"\0alice\0wrong").decode()}
    with (
        serving(topics={"foo": 2}, users=USERS) as (_, port),
        socket.create_connection(("127.0.0.1", port), timeout=30) as connection,
    ):
        assert exchanged(connection, frame(17, 1, {"mechanism": "PLAIN"}))
        assert response(36, 2, exchanged(connection, frame(36, 2, token)))["errorCode"] == 58
        assert exchanged(connection, frame(17, 1, {"mechanism": "PLAIN"})) == b""
    assert "its client could not log in" in caplog.text and "wrong" not in caplog.text


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    """A certificate of 127.0.0.1 that signs itself, and its key."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not on this machine: no certificate can be made")
    made = tmp_path / "server.pem", tmp_path / "server.key"
    words = (
        "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1"
    )
    command = ["openssl", *words.split(), "-out", str(made[0]), "-keyout", str(made[1])]
    subprocess.run(command, check=True, capture_output=True)
    return made


@pytest.mark.parametrize(("password", "joins"), [("a secret", True), ("a guess", False)])
def test_a_consumer_of_librdkafka_logs_in_over_tls(
    certificate: tuple[Path, Path], password: str, joins: bool
) -> None:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(*certificate)
    with serving(topics={"foo": 4}, settings=FAST, users=USERS, tls=tls) as (_, port):
        refused: list[Any] = []
        settings: dict[str, Any] = {
            **{"bootstrap.servers": f"127.0.0.1:{port}", "group.id": "g", "group.protocol": "consumer"},
            **{
                "security.protocol": "SASL_SSL",
                "sasl.mechanism": "PLAIN",
                "ssl.ca.location": str(certificate[0]),
            },
            **{
                "sasl.username": "alice",
                "sasl.password": password,
                "error_cb": refused.append,
                "log_level": 0,
            },
        }
        consumer = Consumer(
            {name: str(one) if isinstance(one, Path) else one for name, one in settings.items()}
        )
        consumer.subscribe(["foo"])
        end = time.monotonic() + 60
        while not (consumer.assignment() if joins else refused):
            assert time.monotonic() < end, "neither joined nor refused"
            consumer.poll(0.05)
        assert len(consumer.assignment()) == (4 if joins else 0)
        assert joins or "_AUTHENTICATION" in {error.name() for error in refused}
        consumer.close()


@pytest.mark.parametrize("text", ["", "alice", ":x", "alice:", "alice:a\nbob"])
def test_a_file_of_users_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "users.txt"
    file.write_text(text)
    with pytest.raises(BadInput):
        read_users(file)
    file.write_text("alice:a\nbob:b\nalice:c\n")
    with pytest.raises(BadInput, match=r"line 3 of .* has the user 'alice' again; keep one of the lines"):
        read_users(file)
    file.write_text("alice:a:b\n")
    assert read_users(file) == {"alice": "a:b"}
