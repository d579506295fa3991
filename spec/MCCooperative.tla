---------------------------- MODULE MCCooperative ---------------------------
(***************************************************************************)
(* Bounds of incremental cooperative rebalancing: 2 members, one topic of  *)
(* up to 2 partitions; any `Budget` disturbances; configurations that stay.*)
(***************************************************************************)
EXTENDS Cooperative, ClassicProperties

TwoMembers == {"m1", "m2"}
InRank == [m \in TwoMembers |-> IF m = "m1" THEN 1 ELSE 2]
OneTopic == {"foo"}
TwoPartitions == {<<"foo", 0>>, <<"foo", 1>>}
FooWithTwo == [t \in OneTopic |-> 2]
FooWithOne == [t \in OneTopic |-> 1]
FooOrNothing == {{"foo"}, {}}
OnlyFoo == {{"foo"}}
\* @type: $partition -> Str;
Claim == [p \in TwoPartitions |-> IF p = <<"foo", 0>> THEN "owns foo-0" ELSE "owns foo-1"]

Configs == {"old", "both", "new"}
\* The assignors of old byte code, of the first bounce, of the second.
\* @type: Str -> Seq(Str);
Assignors ==
  [c \in Configs |-> IF c = "old" THEN <<"range">>
                     ELSE IF c = "both" THEN <<"cooperative-sticky", "range">> ELSE <<"cooperative-sticky">>]
Stays == [c \in Configs |-> c]
AllNew == [m \in TwoMembers |-> "new"]
OneOfEach == [m \in TwoMembers |-> IF m = "m1" THEN "both" ELSE "new"]
OnlyNew == {"new"}
NotOld == {"both", "new"}

\* Invariants.
TypeOK == ClassicTypeOK(group) /\ budget \in 0..Budget
LeaderOK == LeaderIsMember(group)
WaitsOK == WaitsAreOfTheState(group) /\ NeverWaitsForNothing(group)
ProtocolOK == ProtocolOfAll(group) /\ SomeProtocolOfAll(group)

\* The invariants at once, for the other engine; and where it starts, as it sees a
\* few steps far: m1 owns all and leads, m2 has joined, nothing is handed out yet.
CoopSafe == TypeOK /\ OwnedByOneMember /\ HandedOutWhenFree /\ EagerOwnsNothingBetween
\* @type: (Str) => Set(Str);
ReportedBy(m) == IF m = "m1" THEN OneTopic \cup Claims(TwoPartitions) ELSE OneTopic
BeforeHandOut ==
  /\ group = Save([NoClassicGroup EXCEPT
       !.state = "CompletingRebalance", !.generation = 2, !.type = "consumer", !.leader = "m1",
       !.protocol = "cooperative-sticky",
       !.members = [m \in TwoMembers |->
          [NoClassicMember EXCEPT !.place = "member", !.protocols = Assignors["new"],
                                  !.subscription = ReportedBy(m), !.owesSync = TRUE]]])
  /\ clients = [m \in TwoMembers |->
       [up |-> TRUE, known |-> TRUE, phase |-> "sync", generation |-> 2, subscription |-> OneTopic,
        owned |-> IF m = "m1" THEN TwoPartitions ELSE {},
        leads |-> IF m = "m2" THEN {}
                  ELSE {[member |-> n, instance |-> None, subscription |-> ReportedBy(n)] : n \in TwoMembers}]]
  /\ topics = InitialTopics
  /\ unseen = FALSE
  /\ responses = [m \in TwoMembers |-> {}]
  /\ budget = Budget
  /\ disturbed = ""
  /\ step = NoClassicStep
  /\ config = FirstConfig

\* C6: partitions of a member that was removed or refused, and those of a deleted
\* topic, are lost; all others that go are revoked. An assignment always has a
\* callback.
CallbacksExactly ==
  step'.action \in {"ReceiveResponse", "NoticeTopics", "ChangeSubscription"} =>
    LET m == step'.member
        goes == clients[m].owned \ clients'[m].owned
        vanished == {p \in goes : topics[p[1]] <= p[2]}
        answers == IF step'.action = "ReceiveResponse" THEN responses[m] ELSE {}
        removed == \E r \in answers : r.error \in LostErrors \cup {"INCONSISTENT_GROUP_PROTOCOL"}
        assigned == \E r \in answers : clients[m].known /\ r.api = "SyncGroup" /\ r.error = "NONE"
    IN IF assigned THEN step'.branch \in {"assigned", "revoked assigned", "revoked assigned lost"}
       ELSE step'.branch = IF goes = {} THEN ""
                           ELSE IF removed \/ vanished = goes THEN "lost"
                           ELSE IF vanished = {} THEN "revoked" ELSE "lost revoked"

\* Step properties.
GenerationsNeverDecrease == [][GenerationMonotone(group, group', step')]_coopVars
BarrierHolds == [][BarrierHeld(group, group', step')]_coopVars
AnswersAgree == [][JoinAnswersAgree(group', step') /\ SyncAnswersAgree(group', step')]_coopVars
AllAnswered == [][EveryRequestIsAnswered(group, group', step')]_coopVars
JoinsAreKept == [][JoinIsKept(group', step')]_coopVars
KeptUntilTheyMove == [][KeepsWhatStays]_coopVars
RevokersRejoin == [][RevokedThenRejoins]_coopVars
CallbacksSayWhatGoes == [][CalledForWhatGoes]_coopVars
FailuresHaveReasons == [][FailsWithAReason]_coopVars
CallbacksAreExact == [][CallbacksExactly]_coopVars
=============================================================================
