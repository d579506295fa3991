----------------------------- MODULE MCHandOver -----------------------------
(***************************************************************************)
(* Bounds of the closed instance with offsets: 2 members, one topic of one *)
(* partition with one record.                                              *)
(***************************************************************************)
EXTENDS ClosedOffsets, GroupProperties

MCMemberIds == {"m1", "m2"}
MCTopics == {"foo"}
OnePartition == {<<"foo", 0>>}
TwoPartitions == {<<"foo", 0>>, <<"foo", 1>>}
AllThere == {[t \in MCTopics |-> Cardinality(Partitions)]}
MCSubscriptions == {{}, {"foo"}}

\* Two processes of one static member.
OneInstance == [m \in MCMemberIds |-> "i1"]

OffsetsTypeOK ==
  \A p \in Partitions :
    /\ offsets[p] \in NoOffset..EndOffset /\ processed[p] \in 0..EndOffset
    /\ stopped[p] \in NoOffset..EndOffset
    /\ \A m \in MemberIds :
         /\ positions[m][p] \in NoOffset..EndOffset
         /\ positions[m][p] # NoOffset => p \in clients[m].owned

Commits == step'.action = "OffsetCommit"
Fetches == step'.action = "OffsetFetch"
Accepted == step'.response.error = "NONE"

\* O2: only an accepted commit of the holder writes an offset; the rest vanish.
WrittenByTheHolder ==
  [][\A p \in Partitions :
       offsets'[p] # offsets[p] /\ offsets'[p] # NoOffset =>
         /\ Commits /\ Accepted /\ step'.partition = {p} /\ offsets'[p] = step'.offset
         /\ p \in Held(group, step'.member)
         /\ step'.request.epoch = group.members[step'.member].epoch]_offsetVars

\* O3, as the next owner sees it.
BeginsWhereTheLastStopped ==
  [][Fetches /\ Accepted =>
       \A p \in step'.partition :
         /\ stopped[p] # NoOffset => step'.offset = stopped[p]
         /\ step'.offset <= processed[p]]_offsetVars

\* O2: a commit or fetch changes nothing of the group.
CommitsLeaveTheGroup ==
  [][Commits \/ Fetches => UNCHANGED <<group, topics, clients, responses>>]_offsetVars

\* O3, O4, K3: a position begins at the answer to the fetch, goes on by one
\* with each record, and ends as the member gives the partition up.
PositionsAreExact ==
  [][\A m \in MemberIds, p \in Partitions :
       LET own == step'.member = m /\ step'.partition = {p}
           at == positions[m][p]
       IN positions'[m][p] =
            IF p \notin clients[m].owned \cap clients'[m].owned THEN NoOffset
            ELSE IF own /\ Fetches /\ Accepted THEN IF step'.offset = NoOffset THEN 0 ELSE step'.offset
            ELSE IF own /\ step'.action = "Consume" THEN at + 1 ELSE at]_offsetVars

\* K2: a partition that a member must give up is not consumed any more.
RevokedIsNotConsumed ==
  [][step'.action = "Consume" => step'.partition \subseteq clients[step'.member].told]_offsetVars

\* O3: a member commits its position, unless the commit comes late.
PositionIsCommitted ==
  [][Commits =>
       \A p \in step'.partition :
         \/ step'.offset = positions[step'.member][p]
         \/ \E commit \in lateCommits :
              /\ commit.member = step'.member /\ commit.epoch = step'.request.epoch
              /\ commit.partition = p /\ commit.offset = step'.offset]_offsetVars

\* Two partitions and a fail-over, which is the only disturbance: a member
\* commits one partition while it must give up the other.
NextFailOver ==
  /\ OffsetNext
  /\ step'.action \notin {"Crash", "CrashSending", "Leave", "ChangeSubscription", "LoseRequest",
                         "LoseResponse", "AddPartitions", "DeleteTopic", "RebalanceTimeout"}
  /\ step'.action = "SessionTimeout" => ~clients[step'.member].up
SpecFailOver == OffsetInit /\ [][NextFailOver]_offsetVars

(***************************************************************************)
(* Controls                                                                *)
(***************************************************************************)

\* O2 without the check of the epoch: any member of the group may commit.
ReceiveLateCommitUnfenced ==
  \E commit \in lateCommits :
    LateCommitArrives(commit, IF commit.member \in Members(group) THEN "NONE" ELSE "UNKNOWN_MEMBER_ID")

UnfencedSpec == OffsetInit /\ [][OffsetNext \/ ReceiveLateCommitUnfenced]_offsetVars

\* Without R9, for commits only, in fixed roles: m1 sends the late commit, and
\* is told to revoke twice in a row; m2 takes over.
NextNoR9 ==
  \/ GroupStep /\ step'.action \in {"Join", "Heartbeat", "ReceiveResponse"}
  \/ GroupStep /\ step'.action \in {"FinishRevocation", "ChangeSubscription"} /\ step'.member = "m1"
  \/ \E m \in MemberIds, p \in Partitions : OffsetFetch(m, p)
  \/ \E p \in Partitions : LoseCommit("m1", p) \/ Consume("m2", p) \/ OffsetCommit("m2", p)
  \/ ReceiveLateCommit("m1")

SpecNoR9 == OffsetInit /\ [][NextNoR9]_offsetVars

\* O2 violated: a late commit sets back the commit of a successor.
NeverSetBack ==
  [][\A p \in Partitions : offsets'[p] >= offsets[p]]_offsetVars

\* A member that commits a record before it has processed it loses the record
\* (O3).
CommitAhead ==
  \E m \in MemberIds, p \in Partitions :
    /\ Consumes(m, p) /\ positions[m][p] # NoOffset /\ positions[m][p] < EndOffset
    /\ LET commit == [CommitOf(m, p) EXCEPT !.offset = positions[m][p] + 1]
       IN HandleCommit(commit, ErrorOf(commit))
    /\ UNCHANGED <<groupVars, budget, positions, lateCommits, processed, stopped>>

CommitAheadSpec == OffsetInit /\ [][OffsetNext \/ CommitAhead]_offsetVars
=============================================================================
