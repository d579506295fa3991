------------------------------ MODULE Ownership ------------------------------
(***************************************************************************)
(* The protocol on one page: the members that may use a partition, and     *)
(* those that do. Coordinator with its members refines this module         *)
(* (OwnershipOfClosed): each of their steps is a step of this module, or   *)
(* changes none of its variables.                                          *)
(*                                                                         *)
(* The group gives each partition to one member at a time.  The owner      *)
(* changes only after a release, or when a membership ends: by leaving, by *)
(* fencing or by a time-out, and that raises the group epoch.  A process   *)
(* whose membership has ended without its knowledge is a zombie, and may   *)
(* go on to use its partitions.                                            *)
(*                                                                         *)
(* Left out: requests and their answers, targets, subscriptions, the       *)
(* partitions that a member is told to revoke, and the time of any step    *)
(* (R8).                                                                   *)
(***************************************************************************)
EXTENDS GroupTypes

CONSTANTS
  \* @type: Set(Str);
  MemberIds,
  \* @type: Set($partition);
  Partitions,
  \* The epochs that there are.
  \* @type: Set(Int);
  Epochs

VARIABLES
  \* The group epoch, 0 while there is no group (E1).
  \* @type: Int;
  epoch,
  \* The epoch of each member (E3), NotInGroup, or Away (S1).
  \* @type: Str -> Int;
  members,
  \* The member that each partition is given to, or None (R7).
  \* @type: $partition -> Str;
  owner,
  \* Partitions that each process uses.
  \* @type: Str -> Set($partition);
  uses,
  \* Zombies: processes that do not know that their membership has ended (R7).
  \* @type: Set(Str);
  zombies

vars == <<epoch, members, owner, uses, zombies>>

\* @type: (Str) => Set($partition);
OwnedBy(m) == {p \in Partitions : owner[p] = m}

Init ==
  /\ epoch = 0
  /\ members = [m \in MemberIds |-> NotInGroup]
  /\ owner = [p \in Partitions |-> None]
  /\ uses = [m \in MemberIds |-> {}]
  /\ zombies = {}

\* E1, E4: the group epoch never decreases.
\* @type: (Int) => Bool;
AtLeast(e) == epoch' \in Epochs /\ epoch' >= e

\* E3, E4: `m` is now at an epoch that the group has had, all others as before.
\* @type: (Str, Int) => Bool;
MovesTo(m, e) == e <= epoch' /\ members' = [members EXCEPT ![m] = e]

\* R7: a step about `m` releases a partition, or gives `m` a partition without
\* an owner.
\* @type: (Str, Set($partition)) => Bool;
Hands(m, released) ==
  /\ owner' \in [Partitions -> MemberIds \cup {None}]
  /\ \A p \in Partitions :
       owner'[p] # owner[p] =>
         \/ owner[p] = None /\ owner'[p] = m
         \/ p \in released /\ owner'[p] = None

\* The process of `m` has ended or knows of its removal, and uses nothing; or
\* it is a zombie.
\* @type: (Str) => Bool;
Ends(m) ==
  \/ zombies' = zombies \cup {m} /\ UNCHANGED uses
  \/ zombies' = zombies \ {m} /\ uses' = [uses EXCEPT ![m] = {}]

(***************************************************************************)
(* The group                                                               *)
(***************************************************************************)

\* H1: a process becomes a member.  A process that was a zombie learns of its
\* removal.
Join(m) ==
  /\ members[m] = NotInGroup
  /\ AtLeast(epoch)
  /\ \E e \in 0..epoch' : MovesTo(m, e)
  /\ Hands(m, {})
  /\ Ends(m) /\ zombies' \subseteq zombies

\* R1-R3: a member moves on; it gets free partitions, and the group takes back
\* partitions that its process does not use any more.
Heartbeat(m) ==
  /\ members[m] >= 0
  /\ AtLeast(epoch)
  /\ \E e \in members[m]..epoch' : MovesTo(m, e)
  /\ Hands(m, IF m \in zombies THEN OwnedBy(m) ELSE OwnedBy(m) \ uses[m])
  /\ UNCHANGED <<uses, zombies>>

\* E1, H2, H5, H8, R4: a membership ends.  The epoch rises, so that the next
\* owner of its partitions has a higher epoch.
Remove(m) ==
  /\ members[m] # NotInGroup
  /\ AtLeast(epoch + 1)
  /\ MovesTo(m, NotInGroup)
  /\ owner' = [p \in Partitions |-> IF owner[p] = m THEN None ELSE owner[p]]
  /\ Ends(m)

\* H1: the same, and at once another begins under the member id.
Replace(m) ==
  /\ members[m] >= 0
  /\ AtLeast(epoch + 1)
  /\ \E e \in 0..epoch' : MovesTo(m, e)
  /\ Hands(m, OwnedBy(m))
  /\ Ends(m)

\* S1: a static member leaves for a while, and keeps its place.
Pause(m) ==
  /\ members[m] >= 0
  /\ UNCHANGED epoch
  /\ MovesTo(m, Away)
  /\ Hands(None, OwnedBy(m))
  /\ Ends(m)

\* S1: `m` takes the place of `n`, which is away: the only way from an owner to
\* the next without a step between.
Return(m, n) ==
  /\ members[n] = Away /\ (m = n \/ members[m] = NotInGroup)
  /\ AtLeast(epoch)
  /\ \E e \in 0..epoch' : members' = [members EXCEPT ![n] = NotInGroup, ![m] = e]
  /\ owner' \in [Partitions -> MemberIds \cup {None}]
  /\ \A p \in Partitions :
       owner'[p] \in IF owner[p] = n THEN {m, None} ELSE IF owner[p] = None THEN {m, None} ELSE {owner[p]}
  /\ Ends(m)

\* E1: topics change; also P2: a new coordinator has forgotten none of this.
Bump ==
  AtLeast(epoch + 1) /\ UNCHANGED <<members, owner, uses, zombies>>

\* E5: an empty group is deleted, and epochs begin anew.
Delete ==
  /\ \A m \in MemberIds : members[m] = NotInGroup
  /\ epoch' = 0
  /\ UNCHANGED <<members, owner, uses, zombies>>

(***************************************************************************)
(* The processes                                                           *)
(***************************************************************************)

\* K2, K3: a process gives up any of its partitions, and uses no more than the
\* group gave it; a zombie may still receive an assignment that was sent
\* before.
Use(m) ==
  /\ \E used \in SUBSET Partitions :
       /\ m \in zombies \/ used \subseteq uses[m] \cup (IF members[m] >= 0 THEN OwnedBy(m) ELSE {})
       /\ uses' = [uses EXCEPT ![m] = used]
  /\ UNCHANGED <<epoch, members, owner, zombies>>

\* K1: a process hears that it is no member, or ends: it uses nothing.
Abandon(m) ==
  /\ uses' = [uses EXCEPT ![m] = {}]
  /\ zombies' = zombies \ {m}
  /\ UNCHANGED <<epoch, members, owner>>

Next ==
  \/ \E m \in MemberIds :
       \/ Join(m) \/ Heartbeat(m) \/ Remove(m) \/ Replace(m) \/ Pause(m)
       \/ Use(m) \/ Abandon(m)
       \/ \E n \in MemberIds : Return(m, n)
  \/ Bump
  \/ Delete

Spec == Init /\ [][Next]_vars

(***************************************************************************)
(* Consequences                                                            *)
(***************************************************************************)

\* R7: a process uses only partitions that it owns, unless it is a zombie.
UsersOwn == \A m \in MemberIds \ zombies : uses[m] \subseteq OwnedBy(m)

\* R7: if two processes use a partition, one of them is a zombie.
OneUser ==
  \A m \in MemberIds, n \in MemberIds :
    m # n /\ uses[m] \cap uses[n] # {} => m \in zombies \/ n \in zombies

\* E4: no member is ahead of its group.
EpochsInOrder == \A m \in MemberIds : members[m] <= epoch
=============================================================================
