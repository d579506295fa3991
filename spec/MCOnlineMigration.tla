-------------------------- MODULE MCOnlineMigration --------------------------
(***************************************************************************)
(* KIP-848's case study "Online Migration" (G7, M1, M2), step by step: a   *)
(* classic group of three members, two of which are replaced by consumers. *)
(* After each step the group is as the text prints it: its epoch, the      *)
(* target, and of each member its epoch, its partitions and those that are *)
(* pending.                                                                *)
(*                                                                         *)
(* Two states of the text, before and after a target is computed, are one  *)
(* step here (E2).  A is static, so that it takes its own place and the    *)
(* epoch stays 22, as printed; the consumers of A and B are "A" and "B",   *)
(* the members of the classic protocol are "a", "b" and "c".               *)
(*                                                                         *)
(* Corrected: B at epoch 0 with foo-3 and foo-4 pending, after its join is *)
(* answered: a join reconciles its member in the same request (R6).  The   *)
(* states that are printed there are never reached (`NeverAsPrinted`).     *)
(***************************************************************************)
EXTENDS MigrationProperties

VARIABLE
  \* The number of the next step.
  \* @type: Int;
  turn

Names5 == {"a", "b", "c", "A", "B"}
ByRank == [m \in Names5 |-> IF m = "a" THEN 1 ELSE IF m = "b" THEN 2 ELSE IF m = "c" THEN 3
                            ELSE IF m = "A" THEN 4 ELSE 5]
OneTopic == {"foo"}
SixPartitions == {<<"foo", n>> : n \in 0..5}
SixOfFoo == [t \in OneTopic |-> 6]
ClaimNames ==
  [p \in SixPartitions |-> IF p[2] = 0 THEN "owns foo 0" ELSE IF p[2] = 1 THEN "owns foo 1"
                           ELSE IF p[2] = 2 THEN "owns foo 2" ELSE IF p[2] = 3 THEN "owns foo 3"
                           ELSE IF p[2] = 4 THEN "owns foo 4" ELSE "owns foo 5"]
GenerationNames ==
  [g \in {-1, 22, 23, 24} |-> IF g = 22 THEN "generation 22" ELSE IF g = 23 THEN "generation 23"
                              ELSE IF g = 24 THEN "generation 24" ELSE "generation -1"]
OneInstance == {"i"}
\* The value of constants that this model does not use: its steps are scripted.
Unused == {}

\* @type: (Set(Int)) => Set($partition);
Foo(numbers) == {<<"foo", n>> : n \in numbers}

\* @type: Str -> Set(Int);
AtFirst == [m \in {"a", "b", "c"} |-> IF m = "a" THEN {0, 1} ELSE IF m = "b" THEN {3, 4} ELSE {2, 5}]

\* The generic group of generation 22.
FirstGroup ==
  LET stable == StableGroup({"a", "b", "c"}, <<"range">>, "i")
      Has(m) == [stable.members[m] EXCEPT !.assignment = {Foo(AtFirst[m])}]
  IN Classic!Save([stable EXCEPT
       !.generation = 22,
       !.members = [m \in MemberIds |-> IF m \in DOMAIN AtFirst THEN Has(m) ELSE stable.members[m]]])

(***************************************************************************)
(* The steps                                                               *)
(***************************************************************************)

\* A request of the consumer protocol.
\* @type: (Str, Set(Str)) => Bool;
JoinsAs(m, instance) ==
  ConsumerRequest(m, [NoRequest EXCEPT !.member = m, !.instance = instance, !.owned = {{}}, !.subscription = {Names}])

\* @type: (Str, Int, Set(Int)) => Bool;
HeartbeatAt(m, epoch, owned) ==
  ConsumerRequest(m, [NoRequest EXCEPT !.member = m, !.epoch = epoch, !.owned = {Foo(owned)}])

\* A request of the classic protocol, of `c`.
\* @type: (Int) => $classicRequest;
OfC(generation) == [Classic!NoClassicRequest EXCEPT !.member = "c", !.generation = generation]

\* An eager member owns nothing when it joins.
\* @type: (Int) => Bool;
Rejoins(generation) ==
  JoinMixed("c", [Classic!NoClassicRequest EXCEPT !.member = "c", !.type = {"consumer"}, !.protocols = <<"range">>,
                                                  !.subscription = SubscriptionText(Names, {}, generation)])

Study ==
  \/ turn = 1 /\ JoinsAs("A", {"i"})
  \/ turn = 2 /\ LeaveMixed("b", [Classic!NoClassicRequest EXCEPT !.member = "b"])
  \/ turn = 3 /\ HeartbeatMixed("c", OfC(22))
  \/ turn = 4 /\ Rejoins(22)
  \/ turn = 5 /\ HeartbeatAt("A", 22, {0, 1})
  \/ turn = 6 /\ SyncMixed("c", OfC(23))
  \/ turn = 7 /\ JoinsAs("B", {})
  \/ turn = 8 /\ HeartbeatAt("A", 23, {0, 1, 3})
  \/ turn = 9 /\ HeartbeatAt("B", 24, {})
  \/ turn = 10 /\ HeartbeatMixed("c", OfC(23))
  \/ turn = 11 /\ Rejoins(23)
  \/ turn = 12 /\ SyncMixed("c", OfC(24))
  \/ turn = 13 /\ HeartbeatAt("A", 23, {0, 1})
  \/ turn = 14 /\ HeartbeatAt("B", 24, {})

(***************************************************************************)
(* States that the text prints                                             *)
(***************************************************************************)

\* A member has all free partitions of its target once it has the target's
\* epoch; the rest of the target is pending.
\* @type: ($group, Str) => Bool;
Converged(g, m) == g.members[m].epoch = g.assignmentEpoch /\ g.members[m].revoking = {}

\* @type: ($group, Str) => Set($partition);
ShownPartitions(g, m) ==
  IF Converged(g, m) THEN TargetOf(g, m) \ UNION {Held(g, n) : n \in Members(g) \ {m}} ELSE Held(g, m)

\* @type: ($group, Str) => Set($partition);
ShownPending(g, m) == IF Converged(g, m) THEN TargetOf(g, m) \ ShownPartitions(g, m) ELSE {}

\* @type: (Int, Set(Int), Set(Int)) => {epoch: Int, partitions: Set($partition), pending: Set($partition)};
One(epoch, partitions, pending) ==
  [epoch |-> epoch, partitions |-> Foo(partitions), pending |-> Foo(pending)]

\* @type: ($group) => (Str -> {epoch: Int, partitions: Set($partition), pending: Set($partition)});
Shown(g) ==
  [m \in Members(g) |->
     [epoch |-> g.members[m].epoch, partitions |-> ShownPartitions(g, m), pending |-> ShownPending(g, m)]]

\* The target of epoch 22, of 23 and of 24.
\* @type: (Int) => (Str -> Set($partition));
PrintedTarget(epoch) ==
  IF epoch = 22 THEN [m \in {"A", "b", "c"} |-> Foo(IF m = "A" THEN {0, 1} ELSE IF m = "b" THEN {3, 4} ELSE {2, 5})]
  ELSE IF epoch = 23 THEN [m \in {"A", "c"} |-> Foo(IF m = "A" THEN {0, 1, 3} ELSE {2, 4, 5})]
  ELSE [m \in {"A", "B", "c"} |-> Foo(IF m = "A" THEN {0, 1} ELSE IF m = "B" THEN {3, 4} ELSE {2, 5})]

\* The group epoch after the step before turn n.
\* @type: (Int) => Int;
PrintedEpoch(n) == IF n = 2 THEN 22 ELSE IF n <= 7 THEN 23 ELSE 24

\* The members then.
Printed(n) ==
  LET A == IF n <= 5 THEN One(22, {0, 1}, {}) ELSE IF n <= 7 THEN One(23, {0, 1, 3}, {})
           ELSE IF n <= 13 THEN One(23, {0, 1, 3}, {}) ELSE One(24, {0, 1}, {})
      B == IF n <= 11 THEN One(24, {}, {3, 4}) ELSE IF n <= 13 THEN One(24, {4}, {3}) ELSE One(24, {3, 4}, {})
      c == IF n <= 4 THEN One(22, {2, 5}, {}) ELSE IF n <= 11 THEN One(23, {2, 4, 5}, {}) ELSE One(24, {2, 5}, {})
  IN IF n = 2 THEN [m \in {"A", "b", "c"} |-> IF m = "A" THEN A ELSE IF m = "b" THEN One(22, {3, 4}, {}) ELSE c]
     ELSE IF n <= 7 THEN [m \in {"A", "c"} |-> IF m = "A" THEN A ELSE c]
     ELSE [m \in {"A", "B", "c"} |-> IF m = "A" THEN A ELSE IF m = "B" THEN B ELSE c]

\* C is Stable, PreparingRebalance or CompletingRebalance.
\* @type: (Int) => Str;
PrintedPhase(n) ==
  IF n \in {3, 4, 8, 9, 10, 11} THEN "prepare" ELSE IF n \in {5, 6, 12} THEN "complete" ELSE "stable"

(***************************************************************************)
(* The behaviour, and what must hold                                       *)
(***************************************************************************)

StudyStart ==
  /\ classic = FirstGroup
  /\ consumer = NoGroup /\ phase = NoPhases /\ words = [m \in MemberIds |-> NoWords]
  /\ topics = ClusterTopics /\ step = NoStep /\ classicStep = Classic!NoClassicStep /\ converted = NoGroup
  /\ turn = 1

\* The assignor gives what the text prints.
StudyNext ==
  /\ Study
  /\ turn' = turn + 1
  /\ \A m \in Members(consumer') : TargetOf(consumer', m) = PrintedTarget(PrintedEpoch(turn + 1))[m]

StudySpec == StudyStart /\ [][StudyNext]_<<vars, turn>> /\ WF_<<vars, turn>>(StudyNext)

\* G7: after each step all is as printed.
AsPrinted ==
  turn > 1 =>
    /\ consumer.epoch = PrintedEpoch(turn) /\ consumer.assignmentEpoch = PrintedEpoch(turn)
    /\ Shown(consumer) = Printed(turn)
    /\ phase["c"] = PrintedPhase(turn)

\* The erratum: B is not left at epoch 0.
NeverAsPrinted ==
  turn > 1 /\ "B" \in Members(consumer) => consumer.members["B"].epoch # 0

\* The answers of the requests: to rejoin, generations, partitions.
AnsweredAsPrinted ==
  /\ turn \in {4, 11} => classicStep.response.error = "REBALANCE_IN_PROGRESS"
  /\ turn = 5 => classicStep.response.generation = 23
  /\ turn = 7 => classicStep.response.assignment = {Foo({2, 4, 5})}
  /\ turn = 9 => step.response.assignment # {} /\ \A one \in step.response.assignment : one.assigned = Foo({0, 1})
  /\ turn = 12 => classicStep.response.generation = 24
  /\ turn = 13 => classicStep.response.assignment = {Foo({2, 5})}
  /\ turn = 15 => \E one \in step.response.assignment : one.assigned = Foo({3, 4})

\* The study is played to its end.
PlayedToTheEnd == <>(turn = 15 /\ GroupState(consumer) = "Stable")
=============================================================================
