------------------------------ MODULE MCLogStep -----------------------------
(***************************************************************************)
(* Properties of the records of every step of the open instance, whose     *)
(* state has no log: the log is that of a group that is written whole.     *)
(***************************************************************************)
EXTENDS MCOpen, GroupLog

InOrder == [m \in MemberIds |-> IF m = "m1" THEN 1 ELSE 2]
OneInstance == {"i1"}
OnlyFoo == {{"foo"}}
OnePartition == {<<"foo", 0>>}
OnlyOne == {[t \in MCTopics |-> n] : n \in {1}}

\* @type: ($group) => Set($record);
LogOf(g) == Appended({}, SnapshotOf(g))

\* P1: X members take X + 2 records for the group, X + 1 for the target and X
\* for their current assignments.
WholeGroupCounted ==
  Exists(group) => Cardinality(SnapshotOf(group)) = 3 * Cardinality(Members(group)) + 3

\* P3: a group is what its whole log gives back, also with what members of this
\* model do not send: an assignor (H3) and a regular expression (T1).
SnapshotIsTheGroup ==
  LET Named(m) == [group EXCEPT !.members[m].regex = "f.*", !.members[m].assignor = "range"]
  IN \A g \in {group} \cup {Named(m) : m \in Members(group)} : Loaded(LogOf(g)) = AfterFailOver(g)

\* P1: a key is written once, one current assignment a step, and only what
\* differs, but for a member that is another with the same id.
\* @type: (Set($record), Set($record), Bool) => Bool;
OnlyDifferences(records, before, replaces) ==
  /\ \A r \in records, q \in records : SameKey(r, q) => r = q
  /\ Cardinality({r \in records : r.type = CurrentAssignment /\ r.value # {}}) <= 1
  /\ \A r \in records : ~replaces => r.value # LastValue(before, r.type, r.member)

\* P4: a write may be torn anywhere but in the target's batch; after a torn
\* write no partition has two owners, and no epoch is ahead of another.
\* @type: ($group) => Bool;
TornIsSafe(loaded) == HeldDisjoint(loaded) /\ EpochsOrdered(loaded) /\ PreviousEpochOrdered(loaded)

\* A coordinator that takes the log over notices topics (P2): is a new target due
\* if it must be?
\* @type: ($group, Str -> Int) => Bool;
TargetFollows(loaded, cluster) == TargetLegal(NoticeTopics(loaded, cluster))

\* The target follows if the group epoch was written or, where a place is taken
\* (S1) and no epoch changes, the target.
\* @type: (Set($record)) => Bool;
Decided(torn) == \E r \in torn : r.type = GroupMetadata \/ InTargetBatch(r)

\* P1, P3, P4: every step, whole and torn.
StepsAreLogged ==
  [][LET records == RecordsOf(group, group', step')
         before == LogOf(group)
         replaces == step'.action \in {"Rejoin", "Return"}
     IN IF records = {} THEN AfterFailOver(group') = AfterFailOver(group)
        ELSE /\ Loaded(Appended(before, records)) = AfterFailOver(group')
             /\ OnlyDifferences(records, before, replaces)
             /\ \A torn \in TornWrites(records) \ {{}} :
                  \E loaded \in {Loaded(Appended(before, torn))} :
                    TornIsSafe(loaded) /\ (Decided(torn) => TargetFollows(loaded, topics'))]_vars

\* P1: the types of records in the order of the text; of a member that is gone,
\* and of a group, the tombstone of the metadata comes last.
\* @type: Seq(Str);
ValuesInOrder ==
  <<MemberMetadata, PartitionMetadata, GroupMetadata, TargetMember, TargetMetadata, CurrentAssignment>>
\* @type: Seq(Str);
TombstonesInOrder ==
  <<CurrentAssignment, TargetMember, MemberMetadata, TargetMetadata, PartitionMetadata, GroupMetadata>>

\* @type: ($record) => Int;
PlaceInText(r) ==
  LET order == IF r.value = {} THEN TombstonesInOrder ELSE ValuesInOrder
  IN CHOOSE i \in 1..6 : order[i] = r.type

\* P1: tombstones come first, those of a member together, then the values.
WrittenInOrder ==
  [][\E records \in {RecordsOf(group, group', step')} :
       \A r \in records, q \in records :
         LET gone == r.value = {}
             before == IF (q.value = {}) # gone THEN gone
                       ELSE PlaceInText(r) < PlaceInText(q) /\ (gone => r.member = q.member)
         IN before => r.offset < q.offset]_vars

\* P1, H1: a member that joins again is another one with the same id: all of
\* its records are written, changed or not.
RejoinIsWritten ==
  [][step'.action = "Rejoin" /\ step'.response.error = "NONE" =>
       \A type \in {MemberMetadata, CurrentAssignment} :
         \E r \in RecordsOf(group, group', step') :
           r.type = type /\ r.member = step'.member /\ r.value # {}]_vars

\* Must fail: a write of a group that exists may be torn, even before its
\* epoch.
TornWritesAreComplete ==
  [][step'.action # "Join" =>
       \A torn \in TornWrites(RecordsOf(group, group', step')) :
         TargetFollows(Loaded(Appended(LogOf(group), torn)), topics')]_vars

\* P1: the log has no record of a member that is gone, and none of a group that
\* was deleted: each has its tombstone.
GoneAreTombstoned ==
  [][\E after \in {Appended(LogOf(group), RecordsOf(group, group', step'))} :
       \A r \in after :
         (IF r.member = None THEN group'.epoch = 0 ELSE r.member \notin Members(group')) =>
           LastValue(after, r.type, r.member) = {}]_vars
=============================================================================
