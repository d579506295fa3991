"""Checks of a member's offered assignors: are the versions compatible with the other members' offers (A8,
H4)?"""

from __future__ import annotations

from collections.abc import Set

from coordinator.computing.select import placed
from coordinator.consumer.model import CLASSIC_VERSION, ClientAssignor, Group
from coordinator.consumer.request import HeartbeatRequest
from coordinator.core.errors import ErrorCode, RequestRejected


def check_versions(group: Group, request: HeartbeatRequest, place_of: str | None) -> None:
    """OverlapsNone (A8). Raises RequestRejected with UNSUPPORTED_ASSIGNOR for an assignor whose versions
    overlap with the versions of no other member that offers it; `place_of` is the member whose place the
    sender takes (S1).

    Metadata of members that use the classic protocol has the version -1 (M4): INVALID_REQUEST for an assignor
    that cannot read that version, whatever its name, where the group has such metadata.
    """
    if not request.client_assignors:
        return
    own = {request.member_id, place_of}
    lists = [
        placed(member.metadata)
        for member_id, member in group.members.items()
        if member_id not in own and member_id not in group.classic
    ]
    classic = _first_with_metadata(group, own)
    for offer in request.client_assignors:
        _check_classic(classic, offer)
        known = [offers[offer.name][1] for offers in lists if offer.name in offers]
        if known and not any(
            offer.minimum_version <= other.maximum_version and other.minimum_version <= offer.maximum_version
            for other in known
        ):
            raise RequestRejected(
                ErrorCode.UNSUPPORTED_ASSIGNOR,
                f"Versions {offer.minimum_version} to {offer.maximum_version} of {offer.name} overlap with "
                "those of no other member that offers it; offer versions that the group reads.",
            )


def _first_with_metadata(group: Group, own: Set[str | None]) -> str | None:
    """M4: the first member of the classic protocol that has metadata, whatever their name, but not the sender
    nor the member whose place it takes."""
    for member_id in sorted(group.classic - own):
        if any(known.metadata_bytes for known in group.members[member_id].metadata.client_assignors):
            return member_id
    return None


def _check_classic(member_id: str | None, offer: ClientAssignor) -> None:
    """M4. Raises RequestRejected with INVALID_REQUEST."""
    if member_id is not None and offer.minimum_version > CLASSIC_VERSION:
        raise RequestRejected(
            ErrorCode.INVALID_REQUEST,
            f"Member {member_id} uses the classic protocol and has metadata for its assignor, and the "
            f"versions of {offer.name} begin with {offer.minimum_version}; offer {offer.name} from "
            f"version {CLASSIC_VERSION} on.",
        )
