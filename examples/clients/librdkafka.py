"""An agent: a consumer of librdkafka that follows commands in lines of JSON (docs/clients.md)."""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException


class Agent:
    """One consumer. Callbacks run within `poll` and `close`, and stay there until `release`."""

    def __init__(self) -> None:
        self.commands: queue.Queue[dict[str, Any]] = queue.Queue()
        self.waiting: list[dict[str, Any]] = []
        self.consumer: Any = None
        self.paused = False
        threading.Thread(target=self.read, daemon=True).start()

    def read(self) -> None:
        for line in sys.stdin:
            self.commands.put(json.loads(line))
        os._exit(0)  # the harness has gone

    def tell(self, event: str, **fields: Any) -> None:
        print(json.dumps({"event": event, **fields}), flush=True)

    def callback(self, name: str) -> Any:
        def run(consumer: Any, partitions: list[Any]) -> None:
            self.tell(name, partitions=sorted(f"{one.topic}-{one.partition}" for one in partitions))
            while (command := self.commands.get())["do"] != "release":
                if command["do"] == "crash":
                    os._exit(1)
                self.waiting.append(command)

        return run

    def failed(self, error: KafkaError) -> None:
        fatal = error.fatal() or error.code() == KafkaError._FATAL  # the latter alone in what poll returns
        self.tell("error", code=error.code(), text=str(error), fatal=fatal)

    def start(self, command: dict[str, Any]) -> None:
        settings: dict[str, Any] = {
            "bootstrap.servers": command["bootstrap"],
            "group.id": command["group"],
            "group.protocol": "consumer",
            "enable.auto.commit": command["autoCommit"],
            "auto.offset.reset": "earliest",
            "error_cb": self.failed,
        }
        if command.get("instance"):
            settings["group.instance.id"] = command["instance"]
        self.consumer = Consumer(settings)
        self.subscribe(command)

    def subscribe(self, command: dict[str, Any]) -> None:
        calls = {argument: self.callback(event) for argument, event in CALLBACKS.items()}
        self.consumer.subscribe(command["topics"], **calls)

    def commit(self) -> None:
        try:
            self.consumer.commit(asynchronous=False)
            self.tell("committed", error=0)
        except KafkaException as raised:
            self.tell("committed", error=raised.args[0].code())

    def do(self, command: dict[str, Any]) -> bool:
        """Do one command; False after the last one."""
        match command["do"]:
            case "subscribe" if self.consumer is None:
                self.start(command)
            case "subscribe":
                self.subscribe(command)
            case "commit":
                self.commit()
            case "pause" | "poll":
                self.paused = command["do"] == "pause"
            case "crash":
                os._exit(1)
            case "close":
                self.consumer.close()
                self.tell("closed")
                return False
        return True

    def poll(self) -> None:
        message = self.consumer.poll(0.02)
        if message is None:
            return
        if message.error() is not None:
            self.failed(message.error())
        else:
            where = f"{message.topic()}-{message.partition()}"
            self.tell("position", partition=where, offset=message.offset() + 1)

    def run(self) -> None:
        while True:
            try:
                idle = self.consumer is None or self.paused
                command = self.waiting.pop(0) if self.waiting else self.commands.get(idle)
                if not self.do(command):
                    return
            except queue.Empty:
                self.poll()
            except KafkaException as raised:
                self.failed(raised.args[0])


CALLBACKS = {"on_assign": "assigned", "on_revoke": "revoked", "on_lost": "lost"}

if __name__ == "__main__":
    Agent().run()
