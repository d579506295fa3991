-------------------------------- MODULE MCLog -------------------------------
(***************************************************************************)
(* Bounds of the open instance with a log, of a bounded length, and what   *)
(* must hold of logs; then the controls, which must fail.                  *)
(***************************************************************************)
EXTENDS MCOpen, OpenLog

CONSTANT
  \* The log ends before this offset.
  \* @type: Int;
  MaxOffset

OneMember == {"m1"}
OnePartition == {<<"foo", 0>>}
OneOrNone == {[t \in MCTopics |-> n] : n \in 0..1}
OnlyOne == {[t \in MCTopics |-> n] : n \in {1}}
OnlyFoo == {{"foo"}}
InOrder == [m \in MemberIds |-> IF m = "m1" THEN 1 ELSE 2]
OneInstance == {"i1"}
\* @type: Set(Int);
NoInts == {}

\* "foo#2" is the second topic of the name foo (T2).
FooTwice == {"foo", "foo#2"}
NamedFoo == [t \in FooTwice |-> "foo"]
OnePartitionEach == {<<"foo", 0>>, <<"foo#2", 0>>}
OnlyFirstFoo == {[t \in FooTwice |-> IF t = "foo" THEN 1 ELSE 0]}
OneOffset == {0}

LogNext == LoggedStep /\ group'.epoch <= MaxEpoch /\ EndOf(log') <= MaxOffset
LogSpec == LogInit /\ [][LogNext]_logVars
CompactSpec == LogInit /\ [][LogNext \/ Compact]_logVars

\* P1: the offsets are distinct; without compaction there are no gaps.
LogTypeOK ==
  /\ \A r \in log, q \in log : r.offset = q.offset => r = q
  /\ \A r \in log : r.offset >= 0 /\ Cardinality(r.value) <= 1
NoGaps == {r.offset : r \in log} = 0..(EndOf(log) - 1)

\* P1: once written a record stays as it is, until it is compacted.
AppendsOnly == [][step'.action # "Compact" => log \subseteq log']_logVars

\* P1: an accepted commit is one record, also where it repeats the last one;
\* a refused commit and a fetch are none.
CommitsAreWritten ==
  [][step'.action \in {"OffsetCommit", "OffsetFetch"} =>
       LET new == log' \ log
           key == {<<TopicName[p[1]], p[2]>> : p \in step'.partition}
       IN IF step'.action = "OffsetFetch" \/ step'.response.error # "NONE" THEN new = {}
          ELSE /\ Cardinality(new) = 1
               /\ \A r \in new :
                    /\ r.type = "OffsetCommit" /\ r.partition = key
                    /\ {<<v.topic, v.committed>> : v \in r.value} =
                         {<<p[1], step'.offset>> : p \in step'.partition}]_logVars

(***************************************************************************)
(* Controls                                                                *)
(***************************************************************************)

\* Compaction that takes tombstones out whatever is left before them.
\* @type: (Set($record), Int, Int) => Set($record);
CompactedCarelessly(records, i, j) ==
  {r \in records :
     r.offset \in i..j =>
       /\ r.value # {}
       /\ \A q \in records : SameKey(r, q) /\ r.offset < q.offset => q.offset > j}

CarelessCompactionChangesNothing ==
  \A r \in log, q \in log : Loaded(CompactedCarelessly(log, r.offset, q.offset)) = Loaded(log)

\* Loading that knows a group only from its first member metadata on.
\* @type: (Set($record)) => $group;
LoadedFromMember(records) ==
  Loaded({r \in records :
            \E q \in records : q.type = MemberMetadata /\ q.value # {} /\ q.offset <= r.offset})

MemberNeedNotBeFirst ==
  \A r \in log, q \in log :
    LoadedFromMember(Compacted(log, r.offset, q.offset, FALSE)) = Loaded(log)
=============================================================================
