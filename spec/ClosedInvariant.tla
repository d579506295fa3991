--------------------------- MODULE ClosedInvariant --------------------------
(***************************************************************************)
(* The proof of the coordinator with its members and network: Inv holds in *)
(* every reachable state of the closed instance, for epochs of any size    *)
(* and any number of disturbances, and implies R7, members' view: of two   *)
(* owners of a partition one is a zombie.  The proof needs R9.             *)
(*                                                                         *)
(* `late` holds up to 2 requests.  Every conjunct of Inv speaks of one     *)
(* late request at a time and no action looks at two, so more would add    *)
(* nothing.                                                                *)
(***************************************************************************)
EXTENDS ClosedGroup, GroupInvariant

\* Has the process an incarnation in the group, as far as it knows or will know
\* by the response in flight?
\* @type: (Str) => Bool;
Alive(m) ==
  /\ clients[m].up /\ m \notin zombies
  /\ clients[m].epoch > 0 \/ \E response \in responses[m] : response.error = "NONE"

\* A process that is not in the group has nothing.
ClientTypeOK ==
  /\ \A m \in MemberIds :
       LET client == clients[m] IN
       /\ client.epoch >= 0
       /\ client.epoch = 0 \/ ~client.up => client.owned = {} /\ client.told = {}
       /\ ~client.up => client.epoch = 0 /\ responses[m] = {} /\ m \notin zombies
       /\ client.owned \subseteq client.told => client.owned = client.told
       /\ \A response \in responses[m] :
            response.error = "NONE" => response.epoch > 0 /\ (response.assignment = {} => client.epoch > 0)
  /\ zombies \subseteq MemberIds
  /\ budget >= 0

\* No epoch that a client knows, or that is in flight, is ahead of the group's.
EpochsKnown ==
  /\ \A m \in MemberIds :
       /\ clients[m].epoch <= group.epoch
       /\ \A response \in responses[m] : 0 <= response.epoch /\ response.epoch <= group.epoch
  /\ \A request \in late : request.epoch <= group.epoch

\* The coordinator holds every partition that a live member has been assigned,
\* or will be by a response in flight. The coordinator also marks partitions
\* that the member must give up as being revoked, where that is needed to tell
\* an acknowledgement from another report.
KnownIsHeld ==
  \A m \in MemberIds :
    Alive(m) =>
      /\ m \in Members(group) /\ ~IsAway(group, m)
      /\ group.members[m].instance = InstanceOf[m]
      /\ clients[m].owned \subseteq Held(group, m)
      /\ clients[m].told \subseteq Held(group, m)
      /\ ReportsWhileRevoking =>
           clients[m].owned \ clients[m].told \subseteq group.members[m].revoking
      /\ \A response \in responses[m] :
           /\ response.error = "NONE"
           /\ response.epoch = group.members[m].epoch
           /\ \A a \in response.assignment :
                /\ a.assigned \subseteq Held(group, m)
                /\ ReportsWhileRevoking => a.assigned = group.members[m].assigned

\* R9: no late request has an epoch that a member that lives is, or was, at.
LateIsOld ==
  \A request \in late :
    LET member == group.members[request.member] IN
    Alive(request.member) /\ request.epoch > 0 =>
      request.epoch < member.epoch /\ request.epoch # member.previousEpoch

\* S1: none knows the member id of a living process of a static member.
NewIdsAreNew ==
  \A request \in late : clients[request.member].up => InstanceOf[request.member] = None

Inv == GroupInv(group) /\ ClientTypeOK /\ EpochsKnown /\ KnownIsHeld /\ LateIsOld /\ NewIdsAreNew

(***************************************************************************)
(* Any state, field by field                                               *)
(***************************************************************************)

AnyClients ==
  \E up \in [MemberIds -> BOOLEAN], epochs \in [MemberIds -> Int],
     owned \in [MemberIds -> SUBSET Partitions], told \in [MemberIds -> SUBSET Partitions],
     subscriptions \in [MemberIds -> SUBSET Topics], report \in [MemberIds -> BOOLEAN] :
    clients = [m \in MemberIds |->
                [up |-> up[m], epoch |-> epochs[m], owned |-> owned[m], told |-> told[m],
                 subscription |-> subscriptions[m], report |-> report[m]]]

AnyResponses ==
  \E there \in [MemberIds -> BOOLEAN], assigns \in [MemberIds -> BOOLEAN],
     errors \in [MemberIds -> {"NONE", "UNKNOWN_MEMBER_ID", "FENCED_MEMBER_EPOCH",
                               "UNRELEASED_INSTANCE_ID"}],
     epochs \in [MemberIds -> Int],
     assigned \in [MemberIds -> SUBSET Partitions], pending \in [MemberIds -> SUBSET Partitions] :
    responses = [m \in MemberIds |->
                  {response \in
                     {[error |-> errors[m], member |-> m, epoch |-> epochs[m],
                       assignment |-> {a \in {[assigned |-> assigned[m], pending |-> pending[m]]} : assigns[m]}]} :
                   there[m]}]

\* Up to two late requests.
AnyLate ==
  \E there \in [{1, 2} -> BOOLEAN], member \in [{1, 2} -> MemberIds], epochs \in [{1, 2} -> Int],
     ownedGiven \in [{1, 2} -> BOOLEAN], owned \in [{1, 2} -> SUBSET Partitions],
     subscribes \in [{1, 2} -> BOOLEAN], subscriptions \in [{1, 2} -> SUBSET Topics] :
    late = {[member |-> member[i], epoch |-> epochs[i],
             instance |-> {x \in {InstanceOf[member[i]]} : x # None /\ (subscribes[i] \/ epochs[i] = Away)},
             owned |-> {o \in {owned[i]} : ownedGiven[i]},
             subscription |-> {s \in {subscriptions[i]} : subscribes[i]},
             regex |-> {}, assignor |-> {}] : i \in {j \in {1, 2} : there[j]}}

InvInit ==
  /\ LET Is(g) == group = g IN AnyGroup({}, {InstanceOf[m] : m \in MemberIds}, Is)
  /\ topics \in [Topics -> Int]
  /\ AnyClients
  /\ AnyResponses
  /\ AnyLate
  /\ zombies \in SUBSET MemberIds
  /\ budget \in Nat
  /\ step = NoStep
  /\ Inv

Safe == NoDoubleOwnership /\ GroupSafe(group)
StepSafe == GroupStepSafe(group, group', step')

\* Controls.
NobodyAcknowledges == step.branch # "acknowledge"
NobodyRetries == step.branch # "retry"
NobodyFinishesRevoking == step.action # "FinishRevocation"
NobodyReturns == step.branch # "return"
NobodyFailsOver == step.action # "FailOver"
=============================================================================
