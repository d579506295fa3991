------------------------------ MODULE GroupLog ------------------------------
(***************************************************************************)
(* The log of one group (P1): the records that a step writes, the group    *)
(* that a new coordinator loads from a log (P2, P3), and compaction.       *)
(*                                                                         *)
(* A log is a set of records with offsets, not a sequence: compaction      *)
(* removes records and leaves the offsets of the others, as in Kafka, and  *)
(* both engines handle sets better.  The record of a key with the greatest *)
(* offset counts; a tombstone means that the key has no value any more.    *)
(*                                                                         *)
(* KIP-848 wants only the target's records in one atomic batch. About the  *)
(* other records it says that "atomicity is not a concern" because they    *)
(* "can be applied independently".  TornWrites shows where that is wrong:  *)
(* a write that ends before the group epoch's record, which is the last of *)
(* its kind, leaves members or subscriptions changed and no new target     *)
(* due. Partitions stay without an owner, and the request, sent again,     *)
(* changes nothing any more.  No partition has two owners by that.  Here   *)
(* all records of one request or event are one batch.                      *)
(*                                                                         *)
(* Left out: the fields of records that no rule reads.                     *)
(***************************************************************************)
EXTENDS Offsets

CONSTANT
  \* The order of the member ids, from 1: records of several members are
  \* written in it.
  \* @type: Str -> Int;
  MemberRank

(*
  What is in a record's value: each type uses some of the fields.
  @typeAlias: value = {
    epoch: Int, metadata: Str -> Int, instance: Str, subscription: Set(Str),
    regex: Str, assignor: Str, partitions: Set($partition), topic: Str, committed: Int
  };

  `type`, `member` and `partition` are the key; no value is a tombstone.
  @typeAlias: record = {
    offset: Int, type: Str, member: Str, partition: Set($partition), value: Set($value)
  };
*)
GroupLog_aliases == TRUE

\* Kafka's keys 1 and 3 to 8.
CommittedOffset == "OffsetCommit"
GroupMetadata == "ConsumerGroupMetadata"
PartitionMetadata == "ConsumerGroupPartitionMetadata"
MemberMetadata == "ConsumerGroupMemberMetadata"
TargetMetadata == "ConsumerGroupTargetAssignmentMetadata"
TargetMember == "ConsumerGroupTargetAssignmentMember"
CurrentAssignment == "ConsumerGroupCurrentMemberAssignment"

\* @type: $value;
NoValue == [epoch |-> 0, metadata |-> [t \in Topics |-> 0], instance |-> None,
            subscription |-> {}, regex |-> None, assignor |-> "", partitions |-> {},
            topic |-> None, committed |-> NoOffset]

\* @type: (Int, Str, Str, $value) => $record;
Entry(offset, type, m, value) ==
  [offset |-> offset, type |-> type, member |-> m, partition |-> {}, value |-> {value}]

\* @type: (Int, Str, Str) => $record;
Tombstone(offset, type, m) ==
  [offset |-> offset, type |-> type, member |-> m, partition |-> {}, value |-> {}]

\* @type: ($record, $record) => Bool;
SameKey(r, q) == r.type = q.type /\ r.member = q.member /\ r.partition = q.partition

(***************************************************************************)
(* Records that a step writes (P1)                                         *)
(***************************************************************************)

\* The places of records in a write, in KIP-848's order.  The places of records
\* that are not written stay empty, until Appended closes the gaps.
Size == Cardinality(MemberIds)
\* @type: (Str) => Int;
PlaceOfRemoval(m) == 3 * MemberRank[m]
\* @type: (Str) => Int;
PlaceOfMember(m) == 3 * Size + 2 + MemberRank[m]
PlaceOfPartitions == 4 * Size + 3
PlaceOfGroup == 4 * Size + 4
\* @type: (Str) => Int;
PlaceOfTarget(m) == 4 * Size + 4 + MemberRank[m]
PlaceOfTargetMetadata == 5 * Size + 5
\* @type: (Str) => Int;
PlaceOfCurrent(m) == 5 * Size + 5 + MemberRank[m]

\* Tombstones of the members that are gone.
\* @type: ($group, $group) => Set($record);
Removals(g, h) ==
  UNION {{Tombstone(PlaceOfRemoval(m), CurrentAssignment, m),
          Tombstone(PlaceOfRemoval(m) + 1, TargetMember, m),
          Tombstone(PlaceOfRemoval(m) + 2, MemberMetadata, m)} : m \in Members(g) \ Members(h)}

\* Value of a member's record: the fields that the member sends.
\* @type: ($member) => $value;
Described(member) ==
  [NoValue EXCEPT !.instance = member.instance, !.subscription = member.subscription,
                  !.regex = member.regex, !.assignor = member.assignor]

\* Group metadata: the members that differ, the partitions, the epoch last.
\* @type: ($group, $group, Set(Str)) => Set($record);
GroupRecords(g, h, fresh) ==
  {Entry(PlaceOfMember(m), MemberMetadata, m, Described(h.members[m])) :
     m \in {n \in Members(h) : n \in fresh \/ Described(h.members[n]) # Described(g.members[n])}}
  \cup (IF h.metadata # g.metadata \/ (Exists(h) /\ ~Exists(g))
        THEN {Entry(PlaceOfPartitions, PartitionMetadata, None,
                    [NoValue EXCEPT !.epoch = h.epoch, !.metadata = h.metadata])} ELSE {})
  \cup (IF h.epoch # g.epoch
        THEN {Entry(PlaceOfGroup, GroupMetadata, None, [NoValue EXCEPT !.epoch = h.epoch])} ELSE {})

\* The target: its difference, its epoch last, if it was computed.  A target
\* that a member took over with a place (S1) is written anyway, under its own
\* key.
\* @type: ($group, $group, Set(Str), Set(Str)) => Set($record);
TargetRecords(g, h, fresh, returned) ==
  LET computed == h.assignmentEpoch # g.assignmentEpoch
      changed == {m \in Members(h) : computed /\ (m \in fresh \/ TargetOf(h, m) # TargetOf(g, m))}
  IN {Entry(PlaceOfTarget(m), TargetMember, m, [NoValue EXCEPT !.partitions = TargetOf(h, m)]) :
        m \in changed \cup returned}
     \cup (IF computed
           THEN {Entry(PlaceOfTargetMetadata, TargetMetadata, None,
                       [NoValue EXCEPT !.epoch = h.assignmentEpoch])} ELSE {})

\* Current assignments: the epoch, and all partitions that the member holds
\* (erratum: the partitions to revoke are derived).
\* @type: ($group, $group, Set(Str)) => Set($record);
CurrentRecords(g, h, fresh) ==
  {Entry(PlaceOfCurrent(m), CurrentAssignment, m,
         [NoValue EXCEPT !.epoch = h.members[m].epoch, !.partitions = Held(h, m)]) :
     m \in {n \in Members(h) : \/ n \in fresh
                               \/ h.members[n].epoch # g.members[n].epoch
                               \/ Held(h, n) # Held(g, n)}}

\* E5: tombstones of the records that an empty group still has in the log.
\* @type: Set($record);
DeletionRecords ==
  {Tombstone(1, TargetMetadata, None), Tombstone(2, PartitionMetadata, None), Tombstone(3, GroupMetadata, None)}

\* A member that rejoined was replaced (H1); a member that returned took over a
\* place (S1), unless the place is its own: all of its records are written,
\* changed or not.
\* @type: ($group, $group, $step) => Set(Str);
Fresh(g, h, s) ==
  (Members(h) \ Members(g))
  \cup {m \in Members(h) :
          /\ m = s.member /\ s.response.error = "NONE"
          /\ s.action = "Rejoin" \/ (s.action = "Return" /\ HolderOf(g, s.request) # {m})}

\* P1: the records of the step `s` from the group `g` to `h`, at their places.
\* @type: ($group, $group, $step) => Set($record);
RecordsOf(g, h, s) ==
  IF Exists(g) /\ ~Exists(h) THEN DeletionRecords
  ELSE LET fresh == Fresh(g, h, s)
           returned == IF s.action = "Return" THEN fresh \cap {s.member} ELSE {}
       IN Removals(g, h) \cup GroupRecords(g, h, fresh)
          \cup TargetRecords(g, h, fresh, returned) \cup CurrentRecords(g, h, fresh)

\* The key of an offset has the name of the topic (O1); the id is in the value.
\* @type: ($partition) => Set($partition);
KeyOf(p) == {<<TopicName[p[1]], p[2]>>}

\* Offsets are written before all else, partitions in any order.
\* @type: $partition -> Int;
PlaceOfOffset ==
  CHOOSE places \in [Partitions -> {-n : n \in 1..Cardinality(Partitions)}] :
    \A p \in Partitions, q \in Partitions : places[p] = places[q] => p = q

\* P1: tombstones of the offsets that went with their topic (T2) or group (E5),
\* and an accepted commit, though it repeats the last.
\* @type: ($partition -> Int, $partition -> Int, $step) => Set($record);
OffsetRecordsOf(before, after, s) ==
  {[Tombstone(PlaceOfOffset[p], CommittedOffset, None) EXCEPT !.partition = KeyOf(p)] :
     p \in {q \in Partitions : before[q] # NoOffset /\ after[q] = NoOffset}}
  \cup {[Entry(PlaceOfOffset[p], CommittedOffset, None,
               [NoValue EXCEPT !.topic = p[1], !.committed = after[p]]) EXCEPT !.partition = KeyOf(p)] :
          p \in {q \in s.partition : s.action = "OffsetCommit" /\ s.response.error = "NONE"}}

\* P1: a whole group, as if it were written at once.
\* @type: ($group) => Set($record);
SnapshotOf(g) ==
  IF ~Exists(g) THEN {}
  ELSE GroupRecords(NoGroup, g, Members(g))
       \cup TargetRecords([NoGroup EXCEPT !.assignmentEpoch = -1], g, Members(g), {})
       \cup CurrentRecords(NoGroup, g, Members(g))

\* The offset after everything that is in the log.
\* @type: (Set($record)) => Int;
EndOf(log) ==
  IF log = {} THEN 0 ELSE 1 + (CHOOSE o \in {r.offset : r \in log} : \A r \in log : r.offset <= o)

\* @type: (Set($record), Set($record)) => Set($record);
Appended(log, records) ==
  LET end == EndOf(log) IN
  log \cup {[r EXCEPT !.offset = end + Cardinality({q \in records : q.offset < r.offset})] : r \in records}

(***************************************************************************)
(* Torn writes                                                             *)
(***************************************************************************)

\* P4: the records of a new target are one batch: all of them are written, or
\* none.
\* @type: ($record) => Bool;
InTargetBatch(r) == r.type \in {TargetMember, TargetMetadata} /\ r.value # {}

\* The beginnings of a write that a crash may leave: those that do not split
\* the target's batch, without the whole write.
\* @type: (Set($record)) => Set(Set($record));
TornWrites(records) ==
  {{r \in records : r.offset < cut.offset} :
     cut \in {c \in records :
                \A r \in records, q \in records :
                  InTargetBatch(r) /\ InTargetBatch(q) => (r.offset < c.offset <=> q.offset < c.offset)}}

(***************************************************************************)
(* Loading (P2, P3)                                                        *)
(***************************************************************************)

\* The value that the last of some records has; absent if it is a tombstone.
\* @type: (Set($record)) => Set($value);
LastOf(records) == UNION {r.value : r \in {last \in records : \A q \in records : q.offset <= last.offset}}

\* The last value of a key of the group.
\* @type: (Set($record), Str, Str) => Set($value);
LastValue(log, type, m) == LastOf({r \in log : r.type = type /\ r.member = m})

\* @type: (Set($value)) => $value;
Given(option) == IF option = {} THEN NoValue ELSE CHOOSE v \in option : TRUE

\* A member is there as long as its metadata is; its current assignment may be
\* missing in what a torn write leaves.
\* @type: (Set($record), Str) => $member;
LoadedMember(log, m) ==
  LET metadata == LastValue(log, MemberMetadata, m)
      said == Given(metadata)
      current == Given(LastValue(log, CurrentAssignment, m))
  IN IF metadata = {} THEN NoMember
     ELSE [NoMember EXCEPT !.epoch = current.epoch, !.instance = said.instance,
                           !.subscription = said.subscription, !.regex = said.regex,
                           !.assignor = said.assignor, !.assigned = current.partitions]

\* The group that a new coordinator has before it takes over its duties (P2):
\* any record may come first, as compaction leaves them in any order.
\* @type: (Set($record)) => $group;
Loaded(log) ==
  [epoch |-> Given(LastValue(log, GroupMetadata, None)).epoch,
   assignmentEpoch |-> Given(LastValue(log, TargetMetadata, None)).epoch,
   target |-> [p \in Partitions |->
      LET owners == {m \in MemberIds : p \in Given(LastValue(log, TargetMember, m)).partitions}
      IN IF owners = {} THEN None ELSE CHOOSE m \in owners : TRUE],
   metadata |-> Given(LastValue(log, PartitionMetadata, None)).metadata,
   members |-> [m \in MemberIds |-> LoadedMember(log, m)]]

\* The committed offsets that a new coordinator has; that of another topic of the
\* same name is none (T2).
\* @type: (Set($record)) => ($partition -> Int);
LoadedOffsets(log) ==
  [p \in Partitions |->
     LET last == Given(LastOf({r \in log : r.type = CommittedOffset /\ r.partition = KeyOf(p)}))
     IN IF last.topic = p[1] THEN last.committed ELSE NoOffset]

(***************************************************************************)
(* Compaction (P3)                                                         *)
(***************************************************************************)

\* The log after the records from offset i to j were compacted: of each key the
\* last in the range stays.  Later on (`drops`) a tombstone goes, too, if no
\* record of its key is left before the range, which would come back to life.
\* @type: (Set($record), Int, Int, Bool) => Set($record);
Compacted(log, i, j, drops) ==
  LET before == {r \in log : r.offset < i}
      range == {r \in log : r.offset \in i..j}
      lasts == {r \in range : \A q \in range : SameKey(r, q) => q.offset <= r.offset}
  IN (log \ range)
     \cup {r \in lasts : drops /\ r.value = {} => \E q \in before : SameKey(r, q)}
=============================================================================
