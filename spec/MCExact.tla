------------------------------- MODULE MCExact ------------------------------
(***************************************************************************)
(* Rules that no property stated, as seeded bugs of the specification      *)
(* showed: requirements of KIP-848's text, each without the operators of   *)
(* Coordinator that it is about, since a wrong rule would be wrong in its  *)
(* property, too.                                                          *)
(***************************************************************************)
EXTENDS MCOpen

\* The member of the last step, before and after it.
Old == group.members[step'.member]
New == group'.members[step'.member]
Accepted == step'.action \in {"Join", "Rejoin", "Heartbeat"} /\ step'.response.error = "NONE"

\* A4: no member gets a partition of a topic that it does not subscribe to.
OnlySubscribed ==
  \A p \in Partitions :
    group.target[p] # None => p[1] \in TopicsOf(group.members[group.target[p]])

\* H5, H6: a heartbeat is accepted if its epoch is the member's, or the
\* previous one with reported partitions, if any, that are all in the member's
\* target; else it is fenced.
AcceptedExactly ==
  [][step'.action = "Heartbeat" /\ Old.epoch # NotInGroup =>
       LET request == step'.request
           inTarget == \A owned \in request.owned : \A p \in owned : group.target[p] = step'.member
           accepted == request.epoch = Old.epoch \/ (request.epoch = Old.previousEpoch /\ inTarget)
       IN step'.response.error = IF accepted THEN "NONE" ELSE "FENCED_MEMBER_EPOCH"]_vars

\* H1: whatever the member id had before, it starts anew.
JoinsFresh ==
  [][step'.action \in {"Join", "Rejoin"} =>
       /\ New.epoch = group'.assignmentEpoch /\ New.previousEpoch = 0
       /\ New.revoking = {} /\ ~New.acknowledged
       /\ \A p \in New.assigned : \A m \in MemberIds : p \notin Held(group, m) \/ m = step'.member]_vars

\* R2, R3: a member with nothing left to revoke is at the target epoch, has all
\* partitions of its target that no other member holds, and is told of the
\* rest.
MovesOnAtOnce ==
  [][Accepted /\ New.revoking = {} =>
       LET target == {p \in Partitions : group'.target[p] = step'.member}
           others == MemberIds \ {step'.member}
           free == {p \in target : \A m \in others : p \notin Held(group', m)}
       IN /\ New.epoch = group'.assignmentEpoch
          /\ New.assigned = free
          /\ \A a \in step'.response.assignment : a.pending = target \ free]_vars

\* R5: the assignment is left out only for a member that has reported exactly
\* this one.
ToldUntilAcknowledged ==
  [][Accepted =>
       /\ step'.response.assignment = {} => New.acknowledged
       /\ New.acknowledged =>
            /\ New.assigned = Old.assigned
            /\ \/ Old.acknowledged
               \/ step'.request.epoch = Old.epoch /\ step'.request.owned = {New.assigned}]_vars

\* R1: a partition that a member must revoke is not assigned to that member
\* again before the member acknowledges the revocation, or joins again.
RevokedStaysRevoked ==
  [][\A m \in MemberIds :
       LET revoked == group.members[m].revoking \cap group'.members[m].assigned
           released == /\ step'.action \in {"Heartbeat", "Rejoin"} /\ step'.member = m
                       /\ step'.request.epoch \in {0, group.members[m].epoch}
                       /\ \E owned \in step'.request.owned : owned \cap group.members[m].revoking = {}
       IN revoked # {} => released]_vars
=============================================================================
