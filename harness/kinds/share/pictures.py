"""Cards of states, and sequence diagrams of traces, of share groups."""

from __future__ import annotations

from typing import Final

from harness.graph.card import named
from harness.kinds.features.plain_pictures import PlainDescriber, plain_steps
from harness.kinds.share.state import ShareGroup, ShareMember, ShareReader, ShareStep


class ShareDescriber(PlainDescriber[ShareGroup, ShareStep]):
    """Cards of share groups."""

    head = ("member", "epoch", "assigned", "target")
    reader = ShareReader

    @staticmethod
    def line(group: ShareGroup) -> str:
        """The epochs."""
        return f"share group epoch {group.epoch}, assignment epoch {group.assignment_epoch}"

    @staticmethod
    def row(member: ShareMember) -> tuple[str, ...]:
        """A member's epoch, assignment and target."""
        return str(member.epoch), named(member.assigned), named(member.target)

    @staticmethod
    def labels(step: ShareStep) -> tuple[str, str]:
        """A heartbeat by its epoch, and its answer."""
        names, given = step.request.subscription, step.response.assigned
        topics = "" if names is None else f" topics {','.join(sorted(names)) or 'none'}"
        assigned = "" if given is None else f" assign {named(given)}"
        if step.action == "ShareDelete":
            return "delete", "deleted"
        answered = f"e{step.response.epoch}{assigned}" if step.response.epoch > 0 else "left"
        return f"share heartbeat e{step.request.epoch}{topics}", answered


share_steps: Final = plain_steps(ShareDescriber)
