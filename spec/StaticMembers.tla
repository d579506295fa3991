---------------------------- MODULE StaticMembers ---------------------------
(***************************************************************************)
(* Static membership (KIP-345 in KIP-848; S1, S2): a member with an        *)
(* instance id may leave for a while and come back, under a new member id, *)
(* to the place that the group keeps for it.                               *)
(*                                                                         *)
(* While the member is away its member epoch is Away (-2): the group waits *)
(* for the member, and a heartbeat of the process that left is fenced. A   *)
(* member that is not back within the session time-out is removed like any *)
(* other (SessionTimeout).                                                 *)
(***************************************************************************)
EXTENDS Groups

\* @type: ($group, Str) => Bool;
IsAway(g, m) == g.members[m].epoch = Away

\* The member with that instance id, if there is one.
\* @type: ($group, Str) => Set(Str);
Holder(g, instance) ==
  IF instance = None THEN {} ELSE {m \in Members(g) : g.members[m].instance = instance}

\* @type: ($group, $request) => Set(Str);
HolderOf(g, request) == UNION {Holder(g, i) : i \in request.instance}

\* S1: a join with the instance id of a member that is away.
\* @type: ($group, $request) => Bool;
Returns(g, request) ==
  request.epoch = 0 /\ \E n \in HolderOf(g, request) : IsAway(g, n)

\* S2: another member still uses the instance id, and must leave first.
\* @type: ($group, Str, $request) => Bool;
InstanceConflict(g, m, request) ==
  ~Returns(g, request) /\ \E n \in HolderOf(g, request) : n # m

\* S1: the member keeps its place and its assignment.  The partitions that it
\* was told to revoke are free, since its process has ended.  The group epoch
\* stays.
\* @type: ($group, Str) => $group;
KeepPlace(g, m) ==
  [g EXCEPT !.members[m].epoch = Away,
            !.members[m].previousEpoch = IF Dialect.RevocationRecorded THEN @ ELSE 0,
            !.members[m].revoking = {},
            !.members[m].acknowledged = FALSE]

\* S1: `m` takes the place of `n`, with its target and the partitions that it
\* held.  `m` owns nothing, so all held partitions are acknowledged as
\* released; reconciling `m` in the same step gives back those of its target.
\* @type: ($group, Str, Str, $member) => $group;
TakePlace(g, n, m, joining) ==
  LET place == g.members[n] IN
  [g EXCEPT !.members = [k \in MemberIds |->
                           IF k = m THEN [joining EXCEPT !.revoking = place.assigned]
                           ELSE IF k = n THEN NoMember ELSE g.members[k]],
            !.target = [p \in Partitions |->
                          IF g.target[p] = n THEN m ELSE IF g.target[p] = m THEN None ELSE g.target[p]]]
=============================================================================
