--------------------------- MODULE MCMigrationTour ---------------------------
(***************************************************************************)
(* Bounds of the open instance of online migration: 2 members, 1 partition *)
(* and a stable classic group at the start.  Epochs and generations above  *)
(* MaxEpoch are cut off, which is sound here: no property is a promise of  *)
(* progress.                                                               *)
(***************************************************************************)
EXTENDS MigrationProperties

CONSTANT
  \* @type: Int;
  MaxEpoch

TwoMembers == {"a", "b"}
InOrder == [m \in TwoMembers |-> IF m = "a" THEN 1 ELSE 2]
OneTopic == {"foo"}
OnePartition == {<<"foo", 0>>}
MCTopics == [t \in OneTopic |-> Cardinality(Partitions)]
MCClaimNames == [p \in OnePartition |-> "owns foo 0"]
MCGenerationNames ==
  [g \in -1..4 |-> IF g = -1 THEN "generation -1" ELSE IF g = 1 THEN "generation 1"
                   ELSE IF g = 2 THEN "generation 2" ELSE IF g = 3 THEN "generation 3"
                   ELSE IF g = 4 THEN "generation 4" ELSE "generation 0"]
\* @type: Set(Seq(Str));
OneList == {<<"range">>}
\* @type: Set(Seq(Str));
TwoLists == {<<"range">>, <<"sticky">>}
OneType == {"consumer"}
TwoTypes == {"consumer", "connect"}
NothingOrAll == {{}, Partitions}
\* @type: Set(Set($partition));
OnlyNothing == {{}}
\* @type: Set(Str);
NoStrings == {}
OneInstance == {"i"}
\* @type: Set(Int);
NoInts == {}
NoOldOnes == {FALSE}
SomeOldOnes == {FALSE, TRUE}
MCEpochs == 1..MaxEpoch
Both == {TwoMembers}
FirstOrBoth == {{"a"}, TwoMembers}
ThreeMembers == {"a", "b", "c"}
ThreeInOrder == [m \in ThreeMembers |-> IF m = "a" THEN 1 ELSE IF m = "b" THEN 2 ELSE 3]
AllToFirst == {[m \in ThreeMembers |-> IF m = "a" THEN {OnePartition} ELSE {{}}]}
FirstOrNone == {{}, {"a"}}
\* All to one member, and nothing to the other.
MCAssignments == {[m \in TwoMembers |-> IF m = "a" THEN {OnePartition} ELSE {{}}]}

BoundedNext == Next /\ consumer'.epoch <= MaxEpoch /\ classic'.generation <= MaxEpoch

\* No more than two of the three ids are in the group at a time: a process takes
\* the place of another.
AtMostTwo(c, g) ==
  Cardinality(Classic!InGroup(c) \cup Classic!PendingIds(c)) <= 2 /\ Cardinality(Members(g)) <= 2
StaticNext == BoundedNext /\ AtMostTwo(classic', consumer')
StaticSpec == Init /\ [][StaticNext]_vars
BoundedSpec == Init /\ [][BoundedNext]_vars

\* Three members: two of a classic group, which the third converts as it joins;
\* then one leaves, and a member is left of each protocol.
GoneNext ==
  /\ BoundedNext
  /\ \/ step'.action \in {"Join", "LeaveGroup", "Leave", "SessionTimeout", "JoinTimeout"}
     \/ step'.action \in {"JoinGroup", "SyncGroup"} /\ Exists(consumer) /\ step'.member = "b"
GoneSpec == Init /\ [][GoneNext]_vars
=============================================================================
