---------------------------- MODULE MixedChanges -----------------------------
(***************************************************************************)
(* The open instance of online migration with events around its members:   *)
(* topics grow (E1), and a static consumer leaves for a while (S1), whose  *)
(* place a process of either protocol takes.                               *)
(*                                                                         *)
(* A classic group knows nothing of topics; when it is converted it gets   *)
(* the topics as they are by then.  Left out: topics that are deleted or   *)
(* recreated, and regular expressions.                                     *)
(***************************************************************************)
EXTENDS OpenMigration

\* S1, H2: a static member says that it leaves for a while; as others it must be a
\* consumer of a consumer group.
ConsumerAwayRequest ==
  \E m \in MemberIds, instance \in InstanceIds :
    ConsumerRequest(m, [NoRequest EXCEPT !.member = m, !.epoch = Away, !.instance = {instance}])

\* S1: it comes back, or another process takes its place, with the consumer protocol.
ConsumerReturnRequest ==
  \E m \in MemberIds, instance \in InstanceIds :
    /\ \E n \in Holder(consumer, instance) : IsAway(consumer, n)
    /\ ConsumerRequest(m, [NoRequest EXCEPT !.member = m, !.instance = {instance}, !.owned = {{}},
                                            !.subscription = {Names}])

\* E1: a topic has one more partition; a consumer group notices at once, and
\* each member of the classic protocol must rejoin for its next target (M3).
AddPartitions ==
  \E p \in Partitions :
    /\ p[2] = topics[p[1]]
    /\ topics' = [topics EXCEPT ![p[1]] = p[2] + 1]
    /\ step' = EventStep("AddPartitions", None, p[1], p[2] + 1)
    /\ classicStep' = NoRequestOf("AddPartitions", None)
    /\ converted' = NoGroup
    /\ UNCHANGED <<words, classic>>
    /\ IF ~Exists(consumer) THEN UNCHANGED <<consumer, phase>>
       ELSE LET Install(installed) ==
                  \E next \in {FollowPhases([Mixed EXCEPT !.group = installed])} :
                    consumer' = next.group /\ phase' = next.phase
            IN UpdateTarget(NoticeTopics(consumer, topics'), TRUE, Install)

ChangesNext == Next \/ ConsumerAwayRequest \/ ConsumerReturnRequest \/ AddPartitions

(***************************************************************************)
(* Properties                                                              *)
(***************************************************************************)

\* S1: a member that leaves for a while keeps its place and its assignment, and
\* the group its kind: another process of the consumer protocol is still a
\* member.
AwayKeepsTheKind ==
  [][step'.action = "LeaveTemporarily" /\ step'.response.error = "NONE" =>
       LET m == step'.member IN
       /\ Exists(consumer') /\ consumer'.epoch = consumer.epoch
       /\ IsAway(consumer', m) /\ phase'[m] = "" /\ consumer'.members[m].instance = consumer.members[m].instance
       /\ consumer'.members[m].assigned = consumer.members[m].assigned
       /\ TargetOf(consumer', m) = TargetOf(consumer, m)]_vars

\* S1, M1: a process that takes the place of a member that is away has its
\* target, without a bump, unless it gives up a place of its own; if it takes
\* the place of the last consumer, with the classic protocol, the group is
\* converted back.
PlaceIsTaken ==
  [][\A n \in Members(consumer) :
       IsAway(consumer, n) /\ n \notin Members(consumer') /\ step'.action \in {"JoinGroup", "Return"} =>
         LET m == step'.member
             last == {k \in Members(consumer) : phase[k] = ""} = {n}
         IN IF step'.action = "JoinGroup" /\ last
            THEN m \in Classic!InGroup(classic') /\ classic'.members[m].instance = consumer.members[n].instance
            ELSE /\ m \in Members(consumer') /\ consumer'.members[m].instance = consumer.members[n].instance
                 /\ IF m \in Members(consumer) THEN consumer'.epoch = consumer.epoch + 1
                    ELSE consumer'.epoch = consumer.epoch /\ TargetOf(consumer', m) = TargetOf(consumer, n)]_vars

\* E1, M3: a topic that grows causes a new target. Each member of the classic
\* protocol is told of it, unless the member must give partitions up first; a
\* classic group learns of the topic when it is converted.
GrowthIsNoticed ==
  /\ Members(consumer) # {} => consumer.metadata = MetadataOf(consumer, topics)
  /\ Members(consumer) # {} => \A p \in Partitions : p[2] < topics[p[1]] => consumer.target[p] # None

GrowthRejoinsAll ==
  [][step'.action = "AddPartitions" /\ Members(consumer) # {} =>
       /\ consumer'.epoch = consumer.epoch + 1
       /\ \A m \in ClassicMembers(Mixed) :
            phase'[m] = "prepare" \/ (phase[m] = "complete" /\ consumer.members[m].revoking # {})]_vars
=============================================================================
