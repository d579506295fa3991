----------------------------- MODULE OpenClassic ----------------------------
(***************************************************************************)
(* The open instance of classic groups: the coordinator alone, against     *)
(* every request of a bounded domain and every event, in any order.  No    *)
(* client is modelled: requests may be absurd.  Conformance is checked     *)
(* here, because every step calls the coordinator.                         *)
(***************************************************************************)
EXTENDS ClassicCoordinator

CONSTANTS
  \* Fields that a join may have: its protocols, in order, its type, its
  \* subscription.
  \* @type: Set(Seq(Str));
  ProtocolLists,
  \* @type: Set(Str);
  ProtocolTypes,
  \* @type: Set(Set(Str));
  Subscriptions,
  \* @type: Set(Str);
  InstanceIds,
  \* The generations that a request may carry.
  \* @type: Set(Int);
  RequestGenerations,
  \* Protocols that a SyncGroup may name; it may also name none.
  \* @type: Set(Str);
  SyncProtocols,
  \* The assignments that a SyncGroup may carry.
  \* @type: Set(Str -> Set(Set($partition)));
  Assignments,
  \* The offsets that may be committed; {} for a model without commits.
  \* @type: Set(Int);
  OffsetValues,
  \* May the coordinator fail over (C2)?
  \* @type: Bool;
  WithFailOver

VARIABLES
  \* The coordinator's state of the group.
  \* @type: $classicGroup;
  group,
  \* The committed offset of each partition, -1 for none.
  \* @type: $partition -> Int;
  offsets,
  \* The last step with its parameters and responses; not part of the state.
  \* @type: $classicStep;
  step

vars == <<group, offsets, step>>
view == <<group, offsets>>

Init ==
  /\ group = NoClassicGroup
  /\ offsets = [p \in Partitions |-> -1]
  /\ step = NoClassicStep

\* @type: (Set(a)) => Set(Set(a));
Option(values) == {{}} \cup {{v} : v \in values}

\* A step of the coordinator; the singleton makes TLC evaluate it once.
\* @type: ($handled) => Bool;
Take(handled) ==
  /\ \E h \in {handled} : group' = h.group /\ step' = h.step
  /\ UNCHANGED offsets

\* C1: with a member id, or without one: then the coordinator makes an id that
\* no other process has.
JoinRequest ==
  \E m \in MemberIds, instance \in Option(InstanceIds), type \in ProtocolTypes,
     protocols \in ProtocolLists, subscription \in Subscriptions :
    LET request == [NoClassicRequest EXCEPT !.member = m, !.instance = instance, !.type = {type},
                                            !.protocols = protocols, !.subscription = subscription]
    IN \/ Take(JoinGroup(group, m, request))
       \/ group.members[m].place = "" /\ Take(JoinGroup(group, m, [request EXCEPT !.member = None]))

\* C1: an assignment means something only if it comes from the leader.
SyncRequest ==
  \E m \in MemberIds, instance \in Option(InstanceIds), generation \in RequestGenerations,
     protocol \in Option(SyncProtocols), assignments \in Assignments :
    Take(SyncGroup(group, [NoClassicRequest EXCEPT !.member = m, !.instance = instance, !.generation = generation,
                                                   !.protocol = protocol, !.assignments = assignments]))

HeartbeatRequest ==
  \E m \in MemberIds, instance \in Option(InstanceIds), generation \in RequestGenerations :
    Take(ClassicHeartbeat(group, [NoClassicRequest EXCEPT !.member = m, !.instance = instance,
                                                          !.generation = generation]))

LeaveRequest ==
  \E m \in MemberIds \cup {None}, instance \in Option(InstanceIds) :
    Take(LeaveGroup(group, [NoClassicRequest EXCEPT !.member = m, !.instance = instance]))

\* O2: a commit of a member, or (without member id and generation) of a process
\* that is none.
CommitRequest ==
  \E m \in MemberIds \cup {None}, instance \in Option(InstanceIds),
     generation \in RequestGenerations \cup {NoGeneration}, p \in Partitions, offset \in OffsetValues :
    LET request == [NoClassicRequest EXCEPT !.member = m, !.instance = instance, !.generation = generation]
        error == ClassicCommitError(group, request)
    IN /\ group' = group
       /\ offsets' = IF error = "NONE" THEN [offsets EXCEPT ![p] = offset] ELSE offsets
       /\ step' = [NoClassicStep EXCEPT !.action = "OffsetCommit", !.member = m, !.request = request,
                                        !.response = ClassicError("OffsetCommit", None, error),
                                        !.partition = {p}, !.offset = offset]

\* H8.
SessionTimeout ==
  \E m \in MemberIds : ClassicSessionArmed(group, m) /\ Take(ExpireClassic(group, m))

\* C1.
JoinTimeout == JoinTimerArmed(group) /\ Take(ExpireJoin(group))
SyncTimeout == OwingSync(group) # {} /\ Take(ExpireSync(group))

\* C2.
FailOver ==
  /\ WithFailOver /\ ClassicExists(group)
  /\ Take(ClassicEvent("FailOver", None, Same(ClassicAfterFailOver(group))))

\* E5: a group that has been empty long enough is deleted, with its committed
\* offsets (Dead).
DeleteGroup ==
  /\ group.state = "Empty"
  /\ group' = NoClassicGroup
  /\ offsets' = [p \in Partitions |-> -1]
  /\ step' = [NoClassicStep EXCEPT !.action = "DeleteGroup"]

Next ==
  \/ JoinRequest
  \/ SyncRequest
  \/ HeartbeatRequest
  \/ LeaveRequest
  \/ CommitRequest
  \/ SessionTimeout
  \/ JoinTimeout
  \/ SyncTimeout
  \/ FailOver
  \/ DeleteGroup

Spec == Init /\ [][Next]_vars
=============================================================================
