------------------------------- MODULE MCRules ------------------------------
(***************************************************************************)
(* Rules that no property of another module states, each without the       *)
(* operator of the specification that makes it, so that a wrong operator   *)
(* is not wrong in its property, too: the group's state (E5), a changed    *)
(* assignor (E1), when a revocation ends (R1), the vote among assignors    *)
(* (A1), what `uniform` spreads and moves (A2), how long a place is kept   *)
(* (S1), and which timers run, also after a fail-over (H8, R4, P2).        *)
(***************************************************************************)
EXTENDS MCOpen

\* Bounds: one partition that is there from the start, or is not.
OnePartition == {<<"foo", 0>>}
OneOrNone == {[t \in MCTopics |-> n] : n \in 0..1}
OneAlready == {[t \in MCTopics |-> 1]}
OnlyFoo == {{"foo"}}
OneInstanceId == {"i1"}
BothAssignors == {"range", "uniform"}

\* @type: ($group, Str) => Bool;
IsMember(g, m) == g.members[m].epoch # NotInGroup
\* @type: ($group, Str) => Set($partition);
AllOf(g, m) == {p \in Partitions : g.target[p] = m}

\* E5: a state each, by what the document says of each.
StateIsExact ==
  LET members == {m \in MemberIds : IsMember(group, m)}
      there == \A m \in members :
                 /\ group.members[m].epoch = group.epoch
                 /\ group.members[m].revoking = {}
                 /\ group.members[m].assigned = AllOf(group, m)
  IN GroupState(group) =
       IF group = NoGroup THEN "Dead"
       ELSE IF members = {} THEN "Empty"
       ELSE IF group.assignmentEpoch # group.epoch THEN "Assigning"
       ELSE IF there THEN "Stable" ELSE "Reconciling"

\* E1: a member that names another assignor than before makes a new version of
\* the group's metadata; a member that names the same assignor again does not.
AssignorChangeIsNoticed ==
  [][step'.action = "Heartbeat" /\ step'.response.error = "NONE" /\ step'.request.assignor # {} =>
       LET before == group.members[step'.member]
           after == group'.members[step'.member]
       IN /\ step'.request.assignor = {after.assignor}
          /\ after.assignor # before.assignor => group'.epoch = group.epoch + 1
          /\ after.assignor = before.assignor /\ after.subscription = before.subscription
             /\ group'.metadata = group.metadata => group'.epoch = group.epoch]_vars

\* R1: a revocation ends with the heartbeat of the member's epoch that reports
\* owned partitions, none of the revoked ones among them; no other heartbeat
\* ends it.
RevocationEndsWhenAcknowledged ==
  [][step'.action = "Heartbeat" /\ step'.response.error = "NONE" =>
       LET member == group.members[step'.member]
           owned == step'.request.owned
           reported == /\ step'.request.epoch = member.epoch
                       /\ owned # {} /\ \A own \in owned : own \cap member.revoking = {}
           ended == group'.members[step'.member].revoking \cap member.revoking = {}
       IN member.revoking # {} => (reported <=> ended)]_vars

\* A1: no other assignor is named by more members; of a tie, and if none is
\* named, it is the first.
MostNamedIsPreferred ==
  LET Named(a) == {m \in MemberIds : IsMember(group, m) /\ group.members[m].assignor = a}
      chosen == Preferred(group)
      best(a) == \A b \in Assignors : Cardinality(Named(b)) <= Cardinality(Named(a))
  IN /\ best(chosen)
     /\ best(FirstAssignor) => chosen = FirstAssignor

\* @type: ($group, Str) => Int;
SizeOf(g, m) == Cardinality(AllOf(g, m))
\* @type: ($group, Str) => Bool;
Wants(g, m) == IsMember(g, m) /\ "foo" \in g.members[m].subscription

\* A2 `uniform`: of two members that may have the same partitions, none is to have
\* two more than the other.
EvenlySpread ==
  group.assignmentEpoch = group.epoch =>
    \A m \in MemberIds, n \in MemberIds :
      Wants(group, m) /\ Wants(group, n) => SizeOf(group, m) <= SizeOf(group, n) + 1

\* A2, A3 `uniform` is sticky: a partition moves only away from a member that,
\* even without it, has no fewer partitions than the receiver; and no two
\* members swap partitions.  Stated for two members of one topic.
MovesOnlyForBalance ==
  [][group'.assignmentEpoch # group.assignmentEpoch =>
       \A p \in Partitions :
         LET from == group.target[p]
             to == group'.target[p]
         IN from # None /\ to # None /\ from # to /\ Wants(group', from) =>
              /\ SizeOf(group', from) >= SizeOf(group', to)
              /\ \A q \in Partitions : ~(group.target[q] = to /\ group'.target[q] = from)]_vars

\* S1: a member that left for a while keeps its place until its session ends, it
\* leaves for good, a process with its instance id takes the place, or the
\* process that left sends a heartbeat, which is fenced (H5).
PlaceUntilTheSessionEnds ==
  [][\A m \in MemberIds :
       group.members[m].epoch = Away /\ ~IsMember(group', m) =>
         \/ step'.action \in {"SessionTimeout", "Leave"} /\ step'.member = m
         \/ step'.response.error = "FENCED_MEMBER_EPOCH" /\ step'.member = m
         \/ /\ step'.action = "Return" /\ step'.response.error = "NONE"
            /\ step'.request.instance = {group.members[m].instance}]_vars

\* H8, S1: the session of every member may end, also that of a member that is
\* away.  R4: so may the time-out of a member that must revoke, and of no
\* other.
TimersRun ==
  \A m \in MemberIds :
    /\ IsMember(group, m) <=> ENABLED (SessionTimeout /\ step'.member = m)
    /\ group.members[m].revoking # {} <=> ENABLED (RebalanceTimeout /\ step'.member = m)

\* P2, R4: after a fail-over a member that has more than its target is told to
\* revoke the rest, and has the time-out for it.
RevocationsGoOn ==
  [][step'.action = "FailOver" =>
       \A m \in MemberIds :
         LET held == group.members[m].assigned \cup group.members[m].revoking IN
         IsMember(group, m) /\ group.members[m].epoch # Away =>
           group'.members[m].revoking = held \ AllOf(group', m)]_vars
=============================================================================
