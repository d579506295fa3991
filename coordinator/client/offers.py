"""What members offer: are the versions of a request compatible with those of the others (A8, H4)?"""

from __future__ import annotations

from coordinator.client.select import offer_of
from coordinator.errors import ErrorCode, RequestRejected
from coordinator.model import Group
from coordinator.request import HeartbeatRequest


def check_versions(group: Group, request: HeartbeatRequest, place_of: str | None) -> None:
    """OverlapsNone (A8). Raises RequestRejected with UNSUPPORTED_ASSIGNOR for an assignor whose versions
    overlap with those of none of the others who offer it; `place_of` is whose place the member takes (S1)."""
    for offer in request.client_assignors or ():
        known = [
            other
            for member_id, member in group.members.items()
            if member_id not in (request.member_id, place_of)
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
