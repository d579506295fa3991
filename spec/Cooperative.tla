----------------------------- MODULE Cooperative ----------------------------
(***************************************************************************)
(* Incremental cooperative rebalancing (KIP-429): the closed instance of   *)
(* classic groups with members that keep their partitions as they rejoin,  *)
(* and claim them in their JoinGroup (C3).  The coordinator, the network   *)
(* and the faults are those of ClosedClassic.                              *)
(*                                                                         *)
(* A process has a configuration: its assignors, and with them its mode,   *)
(* eager or cooperative.  An upgrade changes it, one process after the     *)
(* other (Bounce); members of both modes are in one group meanwhile.       *)
(*                                                                         *)
(* The partitions that a member claims are in its subscription, which the  *)
(* coordinator does not read but compares: here a claim is a string among  *)
(* its topics, ClaimName of the partition.                                 *)
(*                                                                         *)
(* A leader that knows of claims assigns in two phases: a partition that   *)
(* another member still claims is assigned to no member, its owner revokes *)
(* it and rejoins, and the next rebalance assigns it to its new owner.     *)
(*                                                                         *)
(* Decided where the document leaves it open: claims are of version 1 of   *)
(* the embedded protocol, without their generation; only                   *)
(* onPartitionsAssigned is called with no partitions; partitions of a      *)
(* deleted topic are lost before their member rejoins, be the member eager *)
(* or cooperative; a process that is refused for good                      *)
(* (INCONSISTENT_GROUP_PROTOCOL) ends. Left out: callbacks that raise      *)
(* (they change nothing here).                                             *)
(***************************************************************************)
EXTENDS ClosedClassic

CONSTANTS
  \* How a claim of a partition reads in a subscription.
  \* @type: $partition -> Str;
  ClaimName,
  \* The configuration of each process at the start.  ProtocolsOf has the
  \* assignors of each configuration.
  \* @type: Str -> Str;
  FirstConfig,
  \* The configuration that a bounce makes of each configuration.
  \* @type: Str -> Str;
  NextConfig,
  \* A bounce waits until the group has no "member" of an earlier
  \* configuration, or until there is no such "process", or for nothing ("").
  \* @type: Str;
  BounceWaitsFor,
  \* The configurations whose processes keep their partitions as they rejoin,
  \* and those whose leaders know of claims.
  \* @type: Set(Str);
  Cooperating,
  \* @type: Set(Str);
  KnowingClaims,
  \* Do leaders that know of claims assign in two phases?
  \* @type: Bool;
  TwoPhases,
  \* Does a leader refuse to assign a partition that another still claims?
  \* @type: Bool;
  Checks,
  \* From this generation on assignors balance, and move as little as that needs;
  \* before, any legal assignment will do.
  \* @type: Int;
  StickyFrom,
  \* Does a process that was removed give up its partitions?
  \* @type: Bool;
  GivesUpWhenLost

VARIABLE
  \* @type: Str -> Str;
  config

coopState == <<state, config>>
coopVars == <<vars, config>>
coopView == coopState

CoopInit == Init /\ config = FirstConfig

\* @type: (Str) => Bool;
IsCooperative(m) == config[m] \in Cooperating

(***************************************************************************)
(* Claims and their assignment                                             *)
(***************************************************************************)

\* @type: (Set($partition)) => Set(Str);
Claims(owned) == {ClaimName[p] : p \in owned}

\* @type: (Set(Str)) => Set($partition);
ClaimedIn(subscription) == {p \in Partitions : ClaimName[p] \in subscription}

\* Claims of a member that a leader sees.
\* @type: (Str, $joined) => Set($partition);
Seen(m, j) == IF config[m] \in KnowingClaims THEN ClaimedIn(j.subscription) ELSE {}

\* @type: (Str, Set($joined), $partition) => Set(Str);
Claimants(m, leads, p) == {j.member : j \in {k \in leads : p \in Seen(m, k)}}

\* @type: (Str, Set($joined), $partition -> Str) => Set($partition);
Moved(m, leads, owner) == {p \in Partitions : owner[p] # None /\ Claimants(m, leads, p) \ {owner[p]} # {}}

\* @type: ($partition -> Str, Str) => Int;
Share(owner, n) == Cardinality({p \in Partitions : owner[p] = n})

\* @type: (Set($joined), $partition -> Str) => Bool;
Balanced(leads, owner) ==
  \A j \in leads, k \in leads :
    j.subscription \cap Topics = k.subscription \cap Topics => Share(owner, j.member) <= Share(owner, k.member) + 1

\* No partition that moves could stay: its owner has its full share without it,
\* and got no partition in exchange that it did not have.
\* @type: (Str, Set($joined), $partition -> Str) => Bool;
MovesLittle(m, leads, owner) ==
  \A p \in Moved(m, leads, owner) :
    \A n \in Claimants(m, leads, p) \ {owner[p]} :
      /\ Share(owner, n) >= Share(owner, owner[p])
      /\ \A q \in Partitions : owner[q] = n => n \in Claimants(m, leads, q)

\* C5: an assignment that an assignor may intend.
\* @type: (Str, Set($joined), $partition -> Str) => Bool;
MayIntend(m, leads, owner) ==
  /\ LegalAssignment(leads, owner)
  /\ clients[m].generation >= StickyFrom => Balanced(leads, owner) /\ MovesLittle(m, leads, owner)

\* C3: the assignment that is sent where `owner` is intended.  A partition that
\* others still claim (maybe-revoking) waits; a partition without a claim
\* (ready-to-migrate) goes to its new owner; a partition that is claimed and
\* not assigned (unknown-but-owned) is given back.
\* @type: (Str, Set($joined), $partition -> Str) => ($partition -> Str);
HandedOut(m, leads, owner) ==
  [p \in Partitions |->
     LET claimants == Claimants(m, leads, p) IN
     IF owner[p] = None /\ claimants # {} THEN FirstMember(claimants)
     ELSE IF TwoPhases /\ p \in Moved(m, leads, owner) THEN None
     ELSE owner[p]]

\* C4: the check of an assignment before the leader sends it: a claimed
\* partition goes to no other member.
\* @type: (Str, Set($joined), $partition -> Str) => Bool;
Consistent(m, leads, owner) == Moved(m, leads, owner) = {}

(***************************************************************************)
(* The members' requests                                                   *)
(***************************************************************************)

\* C3: a process joins, and claims its partitions.
CoopJoin(m) ==
  /\ Idle(m) /\ clients[m].phase = "join"
  /\ LET request == [NoClassicRequest EXCEPT !.member = IF clients[m].known THEN m ELSE None,
                                             !.type = {"consumer"}, !.protocols = ProtocolsOf[config[m]],
                                             !.subscription = clients[m].subscription \cup Claims(clients[m].owned)]
     IN CoordinatorStep(JoinGroup(group, m, request), {m})
  /\ UNCHANGED <<topics, unseen, clients, budget, disturbed, config>>

\* C4: a process that cannot go on says why and ends; until it is bounced it owns
\* nothing.
\* @type: ($classicClient) => $classicClient;
Failed(client) == [NewClassicClient(client.subscription) EXCEPT !.up = FALSE, !.phase = "failed"]

\* C3: the leader hands out what its assignor intends.
\* @type: (Str, $partition -> Str) => Bool;
HandOut(m, owner) ==
  LET leads == clients[m].leads
      handed == HandedOut(m, leads, owner)
  IN IF Checks /\ ~Consistent(m, leads, handed)
     THEN /\ clients' = [clients EXCEPT ![m] = Failed(clients[m])]
          /\ Record([NoClassicStep EXCEPT !.action = "AssignmentFails", !.branch = "inconsistent", !.member = m])
          /\ UNCHANGED <<group, responses>>
     ELSE /\ CoordinatorStep(SyncGroup(group, SyncRequestOf(m, AssignmentOf(leads, handed))), {m})
          /\ UNCHANGED clients

CoopSync(m) ==
  /\ Idle(m) /\ clients[m].phase = "sync"
  /\ IF clients[m].leads = {}
     THEN /\ CoordinatorStep(SyncGroup(group, SyncRequestOf(m, [n \in MemberIds |-> {}])), {m})
          /\ UNCHANGED <<unseen, clients>>
     ELSE /\ \E owner \in [Partitions -> MemberIds \cup {None}] :
               MayIntend(m, clients[m].leads, owner) /\ HandOut(m, owner)
          /\ unseen' = FALSE
  /\ UNCHANGED <<topics, budget, disturbed, config>>

(***************************************************************************)
(* The members' reactions and their callbacks                              *)
(***************************************************************************)

\* The errors after which the partitions may already belong to another member.
LostErrors == {"UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION"}

\* C6: owned partitions that are no longer there: their topic is deleted.
\* @type: (Set($partition)) => Set($partition);
Gone(owned) == {p \in owned : topics[p[1]] <= p[2]}

\* C3: an eager process gives up everything before it rejoins, a cooperative one
\* what there is no more.
\* @type: (Str, $classicClient) => $classicClient;
CoopRejoining(m, client) ==
  [client EXCEPT !.phase = "join", !.leads = {},
                 !.owned = IF IsCooperative(m) THEN client.owned \ Gone(client.owned) ELSE {}]

\* @type: (Str, $classicClient, $classicResponse) => $classicClient;
Lost(m, client, response) ==
  LET out == IF response.error = "UNKNOWN_MEMBER_ID" THEN NewClassicClient(client.subscription)
             ELSE [client EXCEPT !.phase = "join", !.generation = NoGeneration, !.leads = {}, !.owned = {}]
  IN [out EXCEPT !.owned = IF GivesUpWhenLost THEN {} ELSE client.owned]

\* C3: the assignment.  A process that revoked rejoins at once, so that it can
\* be given to its new owner.
\* @type: (Str, $classicClient, Set($partition)) => $classicClient;
Assigned(m, client, assigned) ==
  IF client.owned \subseteq assigned THEN [client EXCEPT !.owned = assigned, !.phase = "stable"]
  ELSE CoopRejoining(m, [client EXCEPT !.owned = assigned])

\* R9: the answer to a request of the process that was there before.
\* @type: ($classicClient, $classicResponse) => Bool;
OfAnEarlierProcess(client, response) ==
  ~client.known /\ response.error \notin {"MEMBER_ID_REQUIRED", "INCONSISTENT_GROUP_PROTOCOL"}

\* @type: (Str, $classicClient, $classicResponse) => $classicClient;
CoopReaction(m, client, response) ==
  IF OfAnEarlierProcess(client, response) THEN client
  ELSE IF response.error = "MEMBER_ID_REQUIRED" THEN [client EXCEPT !.known = TRUE]
  ELSE IF response.error \in LostErrors THEN Lost(m, client, response)
  ELSE IF response.error = "INCONSISTENT_GROUP_PROTOCOL" THEN Failed(client)
  ELSE IF response.error # "NONE" THEN CoopRejoining(m, client)
  ELSE IF response.api = "JoinGroup"
  THEN [client EXCEPT !.phase = "sync", !.generation = response.generation, !.leads = response.members]
  ELSE IF response.api = "SyncGroup" THEN Assigned(m, client, UNION response.assignment)
  ELSE client

\* C6: the callbacks before a process rejoins with the partitions that it
\* keeps: partitions of deleted topics are lost, the rest is revoked.  Neither
\* callback is called with no partitions.
\* @type: (Set($partition), Set($partition)) => Str;
GivesUp(owned, kept) ==
  LET goes == owned \ kept IN
  IF goes = {} THEN ""
  ELSE IF Gone(goes) = {} THEN "revoked"
  ELSE IF Gone(goes) = goes THEN "lost" ELSE "lost revoked"

\* C6: the callbacks that a reaction runs, in their order: "lost" and "revoked"
\* only on what there is, "assigned" always.
\* @type: (Str, $classicClient, $classicResponse) => Str;
Callbacks(m, client, response) ==
  IF OfAnEarlierProcess(client, response) THEN ""
  ELSE IF response.error \in LostErrors \cup {"INCONSISTENT_GROUP_PROTOCOL"}
  THEN IF client.owned = {} THEN "" ELSE "lost"
  ELSE IF response.error \notin {"NONE", "MEMBER_ID_REQUIRED"}
  THEN GivesUp(client.owned, CoopRejoining(m, client).owned)
  ELSE IF response.api = "SyncGroup"
  THEN LET assigned == UNION response.assignment IN
       IF client.owned \subseteq assigned THEN "assigned"
       ELSE IF Gone(assigned) = {} THEN "revoked assigned" ELSE "revoked assigned lost"
  ELSE ""

\* @type: (Str, Str, Str, $classicClient) => Bool;
CoopClientStep(action, callbacks, m, client) ==
  /\ clients' = [clients EXCEPT ![m] = client]
  /\ Record([NoClassicStep EXCEPT !.action = action, !.branch = callbacks, !.member = m])

CoopReceive(m) ==
  /\ \E response \in responses[m] :
       CoopClientStep("ReceiveResponse", Callbacks(m, clients[m], response), m,
                      CoopReaction(m, clients[m], response))
  /\ responses' = [responses EXCEPT ![m] = {}]
  /\ UNCHANGED <<group, topics, unseen, budget, disturbed, config>>

\* C2: the leader sees that topics changed, and rejoins.
CoopNoticeTopics(m) ==
  /\ MayNotice(m)
  /\ LET client == CoopRejoining(m, clients[m])
     IN CoopClientStep("NoticeTopics", GivesUp(clients[m].owned, client.owned), m, client)
  /\ UNCHANGED <<group, topics, unseen, responses, budget, disturbed, config>>

\* C3: a cooperative process keeps no partition of a topic that it no longer
\* subscribes to either.
CoopChangeSubscription(m) ==
  /\ Disturb(1) /\ Name("subscription")
  /\ Idle(m) /\ clients[m].phase = "stable"
  /\ \E subscription \in Subscriptions \ {clients[m].subscription} :
       LET client == CoopRejoining(m, clients[m])
           kept == {p \in client.owned : p[1] \in subscription}
       IN CoopClientStep("ChangeSubscription", GivesUp(clients[m].owned, kept), m,
                         [client EXCEPT !.subscription = subscription, !.owned = kept])
  /\ UNCHANGED <<group, topics, unseen, responses, config>>

\* C2: the leader cannot compute an assignment; it joins again.
CoopAssignmentFails(m) ==
  /\ Disturb(1) /\ Name("assignment")
  /\ Idle(m) /\ clients[m].phase = "sync" /\ clients[m].leads # {}
  /\ LET client == CoopRejoining(m, clients[m])
     IN CoopClientStep("AssignmentFails", GivesUp(clients[m].owned, client.owned), m, client)
  /\ UNCHANGED <<group, topics, unseen, responses, config>>

\* C6: a topic of the group is deleted.
CoopDeleteTopic(t) ==
  /\ Disturb(1) /\ Name("topics")
  /\ topics[t] > 0
  /\ topics' = [topics EXCEPT ![t] = 0]
  /\ unseen' = TRUE
  /\ Record([NoClassicStep EXCEPT !.action = "DeleteTopic", !.topic = t])
  /\ UNCHANGED <<group, clients, responses, config>>

(***************************************************************************)
(* Upgrades                                                                *)
(***************************************************************************)

\* May a process be bounced?  It may if no other process is a bounce behind it;
\* and a process that was killed is in the group, with its old assignors, until
\* its session expires.
\* @type: (Str) => Bool;
MayBounce(m) ==
  LET near == {config[m], NextConfig[config[m]]} IN
  /\ NextConfig[config[m]] # config[m]
  /\ BounceWaitsFor \in {"process", "member"} => \A n \in MemberIds : config[n] \in near
  /\ BounceWaitsFor = "member" =>
       \A n \in InGroup(group) : \E c \in near : group.members[n].protocols = ProtocolsOf[c]

\* C4: a process stops and starts again with its next configuration.  The
\* process leaves if it can; else its session has to expire.
Bounce(m) ==
  /\ MayBounce(m)
  /\ config' = [config EXCEPT ![m] = NextConfig[@]]
  /\ IF Idle(m) /\ clients[m].known
     THEN /\ CoordinatorStep(LeaveGroup(group, [NoClassicRequest EXCEPT !.member = m]), {})
          /\ clients' = [clients EXCEPT ![m] = NewClassicClient(clients[m].subscription)]
     ELSE /\ CoopClientStep("Crash", "bounce", m, NewClassicClient(clients[m].subscription))
          /\ responses' = [responses EXCEPT ![m] = {}]
          /\ UNCHANGED group
  /\ UNCHANGED <<topics, unseen, budget, disturbed>>

(***************************************************************************)
(* The whole                                                               *)
(***************************************************************************)

CoopNext ==
  \/ \E m \in MemberIds :
       \/ CoopJoin(m) \/ CoopSync(m) \/ CoopReceive(m) \/ CoopNoticeTopics(m)
       \/ CoopChangeSubscription(m) \/ CoopAssignmentFails(m) \/ Bounce(m)
       \/ UNCHANGED config /\ (\/ SendHeartbeat(m) \/ SessionTimeout(m) \/ Crash(m)
                               \/ Leave(m) \/ LoseResponse(m)
                               \/ clients[m].phase # "failed" /\ Start(m))
  \/ UNCHANGED config /\ (\/ JoinTimeout \/ SyncTimeout \/ FailOver \/ \E p \in Partitions : AddPartitions(p))

CoopSpec == CoopInit /\ [][CoopNext]_coopVars

\* C6: the same where topics are deleted, too.
CoopSpecWithDeletions == CoopInit /\ [][CoopNext \/ \E t \in Topics : CoopDeleteTopic(t)]_coopVars

\* R8: as in ClosedClassic; fairness of bounces is not assumed.
CoopRecovery(m) ==
  /\ ([]<>~(Idle(m) /\ clients[m].phase = "join")) \/ []<><<CoopJoin(m)>>_coopState
  /\ ([]<>~(Idle(m) /\ clients[m].phase = "sync")) \/ []<><<CoopSync(m)>>_coopState
  /\ ([]<>~(Idle(m) /\ clients[m].phase = "stable")) \/ []<><<SendHeartbeat(m)>>_coopState
  /\ ([]<>(responses[m] = {})) \/ []<><<CoopReceive(m)>>_coopState
  /\ ([]<>~MayNotice(m)) \/ []<><<CoopNoticeTopics(m)>>_coopState
  /\ ([]<>~FreeSessionTimeout(m)) \/ []<><<SessionTimeout(m)>>_coopState

CoopFairSpec ==
  /\ CoopSpec
  /\ \A m \in MemberIds : CoopRecovery(m)
  /\ ([]<>~FreeJoinTimeout) \/ []<><<JoinTimeout>>_coopState
  /\ ([]<>~FreeSyncTimeout) \/ []<><<SyncTimeout>>_coopState

(***************************************************************************)
(* Properties                                                              *)
(***************************************************************************)

\* C4: if a partition has two owners, one of them is a zombie: it was removed
\* from the group and has not learned so.  A member owns its partitions alone,
\* whatever it is doing: cooperative members own partitions between the
\* generations, too.
OwnedByOneMember ==
  \A m \in MemberIds, n \in MemberIds :
    m # n /\ clients[m].owned \cap clients[n].owned # {} => m \notin InGroup(group) \/ n \notin InGroup(group)

\* C4, by the log: no member is assigned a partition that another member
\* claimed as it joined.
HandedOutWhenFree ==
  group.state = "Stable" =>
    \A m \in InGroup(group), n \in InGroup(group) :
      m # n => UNION group.members[m].assignment \cap ClaimedIn(group.members[n].subscription) = {}

\* C3: an eager member owns nothing while it rejoins.
EagerOwnsNothingBetween ==
  \A m \in MemberIds : ~IsCooperative(m) /\ clients[m].phase # "stable" => clients[m].owned = {}

\* C3: a cooperative member keeps a partition until it is told to use others,
\* or may be replaced, or unsubscribes from its topic.
\* @type: (Str, $partition) => Bool;
MayGo(m, p) ==
  \/ ~clients'[m].up \/ config'[m] # config[m]
  \/ p[1] \notin clients'[m].subscription
  \/ p \in Gone({p})
  \/ \E r \in responses[m] :
       /\ responses'[m] = {}
       /\ \/ r.error \in LostErrors \cup {"INCONSISTENT_GROUP_PROTOCOL"}
          \/ r.api = "SyncGroup" /\ r.error = "NONE" /\ p \notin UNION r.assignment

KeepsWhatStays ==
  \A m \in MemberIds :
    IsCooperative(m) => \A p \in clients[m].owned \ clients'[m].owned : MayGo(m, p)

\* C3: a member that revoked partitions as it was assigned rejoins at once.
RevokedThenRejoins ==
  \A m \in MemberIds :
    step'.branch \in {"revoked assigned", "revoked assigned lost"} /\ step'.member = m =>
      clients'[m].phase = "join" /\ clients[m].owned \ clients'[m].owned # {}

\* C6: a callback says that partitions go exactly if some do.
CalledForWhatGoes ==
  step'.action \in {"ReceiveResponse", "NoticeTopics", "ChangeSubscription"} =>
    LET m == step'.member
        goes == clients[m].owned \ clients'[m].owned
    IN step'.branch \notin {"", "assigned"} <=> goes # {}

\* C4: only a bounce that is done wrong ends a process for good.
NobodyFails == \A m \in MemberIds : clients[m].phase # "failed"

\* C4: and a process that is ended says why.
FailsWithAReason ==
  \A m \in MemberIds :
    clients'[m].phase = "failed" /\ clients[m].phase # "failed" =>
      \/ \E r \in responses[m] : r.error = "INCONSISTENT_GROUP_PROTOCOL"
      \/ step'.action = "AssignmentFails" /\ step'.branch = "inconsistent"

\* C3: the rebalances end: all running processes own their part of all
\* partitions.
CoopConverged ==
  /\ \A m \in MemberIds :
       IF clients[m].up
       THEN /\ m \in InGroup(group)
            /\ clients[m].phase = "stable" /\ clients[m].generation = group.generation
            /\ group.members[m].subscription \cap Topics = clients[m].subscription
            /\ {clients[m].owned} = group.members[m].assignment
       ELSE m \notin InGroup(group)
  /\ UNION {clients[m].owned : m \in MemberIds} =
       {p \in Partitions : p[2] < topics[p[1]]
                           /\ \E m \in MemberIds : clients[m].up /\ p[1] \in clients[m].subscription}
  /\ group.state = "Stable" <=> \E m \in MemberIds : clients[m].up

EventuallyCoopConverged == <>[]CoopConverged
=============================================================================
