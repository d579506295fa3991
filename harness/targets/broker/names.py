"""Names of one run on a broker that others use, too: only groups and topics of this run are ever named.

The specification's groups and topics get a prefix that no other user has; a broker chooses the ids of topics
itself, so they are translated, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import re2

Translation = Mapping[str, Callable[[Any], Any]]
"""Field's name -> the function that translates its value."""


class Names:
    """The specification's names and those of the broker; a name without a translation stays unchanged.

    `prefix` is "" on a broker without other users; `generation` distinguishes the groups of one run.
    """

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self.generation = 0
        self._their_ids: dict[str, str] = {}
        self._our_ids: dict[str, str] = {}
        self._topic_names: dict[str, str] = {}
        self.to_broker: Translation = {
            "groupId": self.group,
            "groupIds": lambda groups: [self.group(group) for group in groups],
            "name": lambda name: name and self.topic(name),
            "topicId": lambda topic_id: self._their_ids.get(topic_id, topic_id),
            "subscribedTopicNames": lambda names: names and [self.topic(name) for name in names],
            "subscribedTopicRegex": self.regex,
        }
        self.from_broker: Translation = {
            "groupId": lambda group: group.removeprefix(self._of_group),
            "name": self._our_topic,
            "topicName": self._our_topic,
            "topicId": lambda topic_id: self._our_ids.get(topic_id, topic_id),
            "subscribedTopicNames": lambda names: names and [self._our_topic(name) for name in names],
            "subscribedTopicRegex": self._our_regex,
        }

    def group(self, group: str) -> str:
        """A group's name on the broker; the empty name stays empty."""
        return f"{self._of_group}{group}" if group else group

    def topic(self, topic: str) -> str:
        """A topic's name on the broker."""
        return f"{self._prefix}{topic}" if topic else topic

    def regex(self, regex: str | None) -> str | None:
        """An expression that matches only topics of this run. An invalid one must be refused, and stays
        unchanged."""
        if not regex or not self._prefix or not _is_valid(regex):
            return regex
        return f"{self._prefix}(?:{regex})"

    def bind(self, topic: str, ours: str, theirs: str) -> None:
        """Note the broker's id of the topic with that name and id."""
        self._their_ids[ours], self._our_ids[theirs] = theirs, ours
        self._topic_names[ours] = topic

    def forget_topics(self) -> None:
        """Forget all ids."""
        for known in (self._their_ids, self._our_ids, self._topic_names):
            known.clear()

    def topic_of(self, topic_id: str) -> str | None:
        """The name of a topic that exists or existed, by its id in the specification."""
        return self._topic_names.get(topic_id)

    @property
    def _of_group(self) -> str:
        return f"{self._prefix}{self.generation}-"

    def _our_topic(self, topic: str | None) -> str | None:
        return topic and topic.removeprefix(self._prefix)

    def _our_regex(self, regex: str | None) -> str | None:
        start = f"{self._prefix}(?:"
        return regex[len(start) : -1] if regex and self._prefix and regex.startswith(start) else regex


def translated(value: Any, translation: Translation) -> Any:
    """A copy of JSON in which each field that the translation names is translated, at any depth."""
    if isinstance(value, dict):
        return {
            key: translation[key](item) if key in translation else translated(item, translation)
            for key, item in value.items()
        }
    return [translated(item, translation) for item in value] if isinstance(value, list) else value


def _is_valid(regex: str) -> bool:
    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(regex, options)
    except re2.error:
        return False
    return True
