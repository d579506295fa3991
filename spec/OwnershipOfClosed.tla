-------------------------- MODULE OwnershipOfClosed --------------------------
(***************************************************************************)
(* The refinement mapping: the part of a closed instance that Ownership    *)
(* shows.  The owner of a partition is the member that holds it in the     *)
(* coordinator's view; where two do, it is Several, which no step of       *)
(* Ownership gives.                                                        *)
(***************************************************************************)
EXTENDS ClosedGroup

Several == "several members"

\* @type: ($partition) => Str;
OwnerOf(p) ==
  LET holders == {m \in MemberIds : p \in Held(group, m)} IN
  IF holders = {} THEN None
  ELSE IF \E m \in holders : holders = {m} THEN CHOOSE m \in holders : TRUE ELSE Several

Page == INSTANCE Ownership WITH
  Epochs <- Nat,
  epoch <- group.epoch,
  members <- [m \in MemberIds |-> group.members[m].epoch],
  owner <- [p \in Partitions |-> OwnerOf(p)],
  uses <- [m \in MemberIds |-> clients[m].owned]

\* R7, E1, E3, E4: each step is one of Ownership, or changes nothing that it shows.
RefinesOwnership == Page!Spec
=============================================================================
