-------------------------- MODULE MCOwnershipBroken -------------------------
(***************************************************************************)
(* Controls of Ownership, a rule each.  A configuration puts one of these  *)
(* in the place of the coordinator's, or the members', own operator; then  *)
(* some step is none of Ownership, and the refinement must fail.           *)
(***************************************************************************)
EXTENDS MCOwnershipClosed

\* Without R7: partitions that others hold are given, too.
\* @type: ($group, Str) => Set($partition);
HeldByNobody(g, m) == {}

\* Without E1: a removal raises no epoch.
\* @type: ($group, Str -> Int, Str) => $group;
QuietlyRemoved(g, cluster, m) == RefreshGroup([g EXCEPT !.members[m] = NoMember], cluster, FALSE)

\* Without E4: the group epoch goes back from 2 to 1.
\* @type: ($group) => $group;
BumpedInCircles(g) == [g EXCEPT !.epoch = IF g.epoch = 1 THEN 2 ELSE 1, !.assignmentEpoch = 0]

\* Without R6: a removal is everyone's.
\* @type: ($group, Str -> Int, Str) => $group;
AllRemoved(g, cluster, m) == RefreshGroup([g EXCEPT !.members = NoGroup.members], cluster, TRUE)

\* Without R1: partitions that a member is to give up are released at once.
\* @type: ($group, Str, Set($partition), Set($partition)) => $group;
ReleasedAtOnce(g, m, keeps, gives) ==
  [g EXCEPT !.members[m].assigned = keeps, !.members[m].revoking = {}]

\* Without E3: a member is at an epoch that the group does not have yet.
\* @type: ($group, Str) => $group;
BumpedForOne(g, m) ==
  [g EXCEPT !.members[m].epoch = g.assignmentEpoch + 1,
            !.members[m].assigned = TargetOf(g, m) \ HeldByOthers(g, m),
            !.members[m].revoking = {}]

\* Without E4: a member's epoch goes back as it is given something.
\* @type: ($group, Str) => $group;
AssignedBefore(g, m) ==
  [g EXCEPT !.members[m].epoch = IF @ = 0 THEN g.assignmentEpoch ELSE @ - 1,
            !.members[m].assigned = TargetOf(g, m) \ HeldByOthers(g, m),
            !.members[m].revoking = {}]

\* Without S1: a member that leaves for a while makes a new group epoch.
\* @type: ($group, Str) => $group;
KeptWithABump(g, m) ==
  [g EXCEPT !.epoch = @ + 1, !.assignmentEpoch = g.epoch + 1,
            !.members[m].epoch = Away, !.members[m].revoking = {}]

\* Without E5: a group counts as empty although it has members.
\* @type: ($group) => Str;
EmptyWhoeverIsThere(g) == IF Exists(g) THEN "Empty" ELSE "Dead"

\* Without S2: a member that joins with an instance id takes the place of the
\* member that has it.
\* @type: ($group, $request) => Bool;
TakesOver(g, request) == request.epoch = 0 /\ HolderOf(g, request) # {}

\* Without R7's exemption: no process is a zombie.
\* @type: ($group, $group, $step) => Set(Str);
NobodyEnds(g, h, s) == {}

\* Without R3: a process uses pending partitions, too.
\* @type: ($client, $response) => $client;
UsesPending(client, response) ==
  IF response.error # "NONE" THEN NewClient(client.subscription)
  ELSE LET told == IF response.assignment = {} THEN client.told
                   ELSE UNION {a.assigned \cup a.pending : a \in response.assignment}
       IN [client EXCEPT !.epoch = response.epoch, !.told = told, !.owned = told, !.report = TRUE]
=============================================================================
