"""A Chromium that the tests of a file share: starting the browser takes longer than most pages.

The browser is driven by the Chrome DevTools Protocol over a pair of pipes: commands and answers are JSON,
each with a zero byte at the end. Chromium reads commands from descriptor 3 and writes to descriptor 4.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final, Self

CHROMIUM: Final = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
MISSING: Final = "no Chromium on this machine: apt-get install chromium (brew install chromium)"
_AS_3_AND_4: Final = (
    "import fcntl, os, sys;"
    "read, write = (fcntl.fcntl(int(one), fcntl.F_DUPFD, 10) for one in sys.argv[1:3]);"
    "os.dup2(read, 3); os.dup2(write, 4); os.execv(sys.argv[3], sys.argv[3:])"
)
_MESSAGES: Final = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
_LIMIT_S: Final = 120.0


class Tab:
    """One open page, with the messages of its console."""

    def __init__(self, browser: Chromium, target: str, session: str) -> None:
        self._browser, self._target, self._session = browser, target, session

    def call(self, method: str, **arguments: Any) -> Any:
        """The result of a command to this page."""
        return self._browser.call(method, self._session, **arguments)

    def value(self, expression: str) -> Any:
        """The value of an expression in the page; an exception in the expression fails."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def value_when_there(self, expression: str) -> Any:
        """The value of an expression, once the value is not empty."""
        until = time.monotonic() + _LIMIT_S
        while not (value := self.value(expression)):
            assert time.monotonic() < until, f"{expression} has no value; console: {self.console}"
            time.sleep(0.01)
        return value

    @property
    def console(self) -> list[str]:
        """The messages of the console so far, errors of scripts among them."""
        return [
            json.dumps(one["params"])
            for one in self._browser.events
            if one.get("sessionId") == self._session and one["method"] in _MESSAGES
        ]

    def close(self) -> None:
        self._browser.call("Target.closeTarget", targetId=self._target)


class Chromium:
    """A headless Chromium with a profile of its own; `events` are the messages that answer no command."""

    def __init__(self, profile: Path) -> None:
        assert CHROMIUM
        self.events: list[dict[str, Any]] = []
        self._number = 0
        commands, self._write = os.pipe()
        self._read, answers = os.pipe()
        self._text = b""
        options = ("--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe")
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-S", "-c", _AS_3_AND_4, str(commands), str(answers), CHROMIUM),
                *(*options, f"--user-data-dir={profile}"),
            ],
            pass_fds=(commands, answers),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(commands)
        os.close(answers)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.call("Browser.close")
        self._process.wait(timeout=_LIMIT_S)
        os.close(self._write)
        os.close(self._read)

    def call(self, method: str, session: str | None = None, **arguments: Any) -> Any:
        """The result of a command; an error fails."""
        self._number += 1
        command = {"id": self._number, "method": method, "params": arguments}
        text = json.dumps(command | ({"sessionId": session} if session else {})).encode() + b"\0"
        while text:
            text = text[os.write(self._write, text) :]
        while (answer := self._message()).get("id") != self._number:
            self.events.append(answer)
        assert "error" not in answer, (method, answer["error"])
        return answer["result"]

    def _message(self) -> dict[str, Any]:
        while b"\0" not in self._text:
            assert select.select([self._read], [], [], _LIMIT_S)[0], (
                f"Chromium is silent for {_LIMIT_S:.0f} s"
            )
            part = os.read(self._read, 1 << 20)
            assert part, f"Chromium has ended with {self._process.wait()}"
            self._text += part
        message, _, self._text = self._text.partition(b"\0")
        result: dict[str, Any] = json.loads(message)
        return result

    def open(self, address: str, width: int = 1400, dark: bool = False) -> Tab:
        """A page in a tab of its own, `width` pixels wide, for a reader with or without a preference for dark
        colours."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        tab = Tab(self, target, session)
        for domain in ("Page", "Runtime", "Log"):
            tab.call(f"{domain}.enable")
        tab.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        tab.call("Emulation.setEmulatedMedia", features=[scheme])
        tab.call("Page.navigate", url=address)
        return tab
