------------------------------ MODULE MCOffsets -----------------------------
(***************************************************************************)
(* Bounds of the open instance with offsets: 2 members that may be static, *)
(* one topic name whose topic may be recreated; and what offsets must      *)
(* always satisfy, stated without the operators of Offsets.                *)
(***************************************************************************)
EXTENDS MCOpen, OpenOffsets

\* "foo#2" is the second topic of the name foo (T2).
FooTwice == {"foo", "foo#2"}
NamedFoo == [t \in FooTwice |-> "foo"]
OnePartitionEach == {<<"foo", 0>>, <<"foo#2", 0>>}
OnlyFirstFoo == {[t \in FooTwice |-> IF t = "foo" THEN 1 ELSE 0]}
OneInstanceId == {"i1"}
OnlyFoo == {{"foo"}}
MCOffsetValues == {0, 1}
MCCommitEpochs == {Away} \cup 0..(MaxEpoch + 1)

\* A topic of one partition that may grow: the second is not there at first.
OnlyM1 == {"m1"}
GrowingFoo == {[t \in MCTopics |-> 1]}
FirstOffset == {0}
FirstEpoch == {1}

OffsetBoundedNext == OffsetNext /\ group'.epoch <= MaxEpoch
OffsetBoundedSpec == OffsetInit /\ [][OffsetBoundedNext]_offsetVars

\* Invariants.
OffsetsTypeOK == \A p \in Partitions : offsets[p] \in OffsetValues \cup {NoOffset}

\* T2: nothing is kept of a topic that is not there.
NoOffsetsOfOtherTopics == \A p \in Partitions : topics[p[1]] <= p[2] => offsets[p] = NoOffset

Commits == step'.action = "OffsetCommit"
Fetches == step'.action = "OffsetFetch"
\* @type: ($step) => Bool;
Accepted(s) == s.response.error = "NONE"

\* Step properties.  O2, O4: the requests that are accepted, and why the
\* others are not.
FencedExactly ==
  [][Commits \/ Fetches =>
       LET m == step'.member
           epoch == step'.request.epoch
           isMember == m \in MemberIds /\ group.members[m].epoch # NotInGroup
           isCurrent == isMember /\ epoch = group.members[m].epoch /\ epoch >= 0
           isAlone == epoch = -1 /\ \A n \in MemberIds : group.members[n].epoch = NotInGroup
           nobodyMay == m = None /\ epoch = -1 /\ (Fetches \/ isAlone)
           there == \A p \in step'.partition : p[2] < topics[p[1]]
           noTopic == \A p \in step'.partition : topics[p[1]] <= 0
           error == step'.response.error
       IN /\ (error = "NONE") = ((isCurrent \/ nobodyMay) /\ there)
          /\ (error = "STALE_MEMBER_EPOCH") = (isMember /\ ~isCurrent)
          /\ (error = "UNKNOWN_TOPIC_ID") = ((isCurrent \/ nobodyMay) /\ noTopic)
          /\ (error = "UNKNOWN_TOPIC_OR_PARTITION") = ((isCurrent \/ nobodyMay) /\ ~there /\ ~noTopic)
          /\ (error = "UNKNOWN_MEMBER_ID") = (~isMember /\ ~nobodyMay)]_offsetVars

\* O2: a commit or fetch, fenced or not, leaves group and topics as they are:
\* no member joins or is removed by it, and no session is extended.
CommitsLeaveTheGroup ==
  [][Commits \/ Fetches => UNCHANGED <<group, topics>>]_offsetVars

\* O2: offsets change by an accepted commit, one at a time, or vanish with
\* their topic or group.
ChangedOnlyByCommits ==
  [][\A p \in Partitions :
       offsets'[p] # offsets[p] =>
         \/ Commits /\ Accepted(step') /\ step'.partition = {p} /\ offsets'[p] = step'.offset
         \/ offsets'[p] = NoOffset /\ topics'[p[1]] = -1
         \/ offsets'[p] = NoOffset /\ group'.epoch = 0 /\ group.epoch > 0]_offsetVars

\* O3, O4: an accepted commit is kept, and a fetch returns it; a refused fetch
\* returns no offset.
KeptAndAnswered ==
  [][/\ Commits /\ Accepted(step') => \A p \in step'.partition : offsets'[p] = step'.offset
     /\ Fetches =>
          \A p \in step'.partition : step'.offset = IF Accepted(step') THEN offsets[p] ELSE -1]_offsetVars

\* E5: nothing is left of a deleted group.
DeletedWithTheGroup ==
  [][step'.action = "DeleteGroup" => offsets' = NoOffsets]_offsetVars
=============================================================================
