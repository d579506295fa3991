"""Checks of a member's offered assignors: are the versions compatible with the other members' offers (A8,
H4)?"""

from __future__ import annotations

from collections.abc import Set

from coordinator.computing.select import offer_of
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
    for offer in request.client_assignors or ():
        _check_classic(group, {request.member_id, place_of}, offer)
        known = [
            other
            for member_id, member in group.members.items()
            if member_id not in (request.member_id, place_of, *group.classic)
            and (other := offer_of(member.metadata, offer.name)) is not None
        ]
        if known and not any(
            offer.minimum_version <= other.maximum_version and other.minimum_version <= offer.maximum_version
            for other in known
        ):
            raise RequestRejected(
                ErrorCode.UNSUPPORTED_ASSIGNOR,
                f"Versions {offer.minimum_version} to {offer.maximum_version} of {offer.name} overlap with "
                "those of no other member that offers it; offer versions that the group reads.",
            )


def _check_classic(group: Group, own: Set[str | None], offer: ClientAssignor) -> None:
    """M4: the metadata of all members counts, whatever its name, but not that of the sender and of the member
    whose place it takes. Raises RequestRejected with INVALID_REQUEST."""
    for member_id in sorted(group.classic - own):
        offered = group.members[member_id].metadata.client_assignors
        if offer.minimum_version > CLASSIC_VERSION and any(known.metadata_bytes for known in offered):
            raise RequestRejected(
                ErrorCode.INVALID_REQUEST,
                f"Member {member_id} uses the classic protocol and has metadata for its assignor, and the "
                f"versions of {offer.name} begin with {offer.minimum_version}; offer {offer.name} from "
                f"version {CLASSIC_VERSION} on.",
            )
