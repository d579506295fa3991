-------------------------- MODULE ClassicProperties -------------------------
(***************************************************************************)
(* Rules that a classic group must always satisfy, in the coordinator's    *)
(* view: one operator a requirement, over the state before and after a     *)
(* step.                                                                   *)
(***************************************************************************)
EXTENDS ClassicCoordinator

\* Types and canonical form: a member that is not in the group has no state,
\* and a variable that no state of the group needs is empty, too.
\* @type: ($classicGroup) => Bool;
ClassicTypeOK(g) ==
  /\ g.state \in {"Dead", "Empty", "PreparingRebalance", "CompletingRebalance", "Stable"}
  /\ g.generation >= 0
  /\ g.state = "Dead" => g = NoClassicGroup
  /\ g.state = "Empty" => InGroup(g) = {}
  /\ g.state # "PreparingRebalance" => ~g.initial /\ ~g.newMember /\ g.extensions = 0
  /\ \A m \in MemberIds :
       LET member == g.members[m] IN
       /\ member.place \in {"", "pending", "member"}
       /\ member.place # "member" => member = [NoClassicMember EXCEPT !.place = member.place]
       /\ UNION member.assignment \subseteq Partitions
       /\ Cardinality(member.assignment) <= 1

\* C1: only the initial delay counts its extensions, and notices new members.
\* @type: ($classicGroup) => Bool;
DelayIsInitial(g) ==
  /\ g.extensions \in 0..Extensions
  /\ ~g.initial => ~g.newMember /\ g.extensions = 0

\* C1: a group with members has a leader, and the leader is a member.
\* @type: ($classicGroup) => Bool;
LeaderIsMember(g) ==
  IF InGroup(g) = {} THEN g.leader = None ELSE g.leader \in InGroup(g)

\* C1: a request waits only for what its state can bring: behind the barrier a
\* JoinGroup, after it a SyncGroup until the leader's comes.  Never both.
\* @type: ($classicGroup) => Bool;
WaitsAreOfTheState(g) ==
  \A m \in InGroup(g) :
    /\ g.members[m].joining => g.state = "PreparingRebalance"
    /\ g.members[m].syncing => g.state = "CompletingRebalance" /\ m # g.leader
    /\ g.members[m].fresh => g.members[m].joining
    /\ g.members[m].owesSync => g.state \in {"CompletingRebalance", "Stable"} /\ ~g.members[m].syncing

\* C1: no rebalance can stop for ever: a timer is armed, or a member still owes
\* a request whose time-out is armed.
\* @type: ($classicGroup) => Bool;
NeverWaitsForNothing(g) ==
  /\ g.state = "PreparingRebalance" => JoinTimerArmed(g)
  /\ g.state = "CompletingRebalance" => OwingSync(g) # {}
  /\ \A m \in PendingIds(g) : ClassicSessionArmed(g, m)

\* C1: each member supports the protocol of its generation.
\* @type: ($classicGroup) => Bool;
ProtocolOfAll(g) ==
  g.state \in {"CompletingRebalance", "Stable"} =>
    /\ InGroup(g) # {}
    /\ g.protocol \in Candidates(g)

\* C1: members of one group agree on some protocol, whatever the state.
\* @type: ($classicGroup) => Bool;
SomeProtocolOfAll(g) == InGroup(g) # {} => Candidates(g) # {}

\* S1: no two members have the same instance id.
\* @type: ($classicGroup) => Bool;
ClassicInstancesUnique(g) ==
  \A m \in InGroup(g), n \in InGroup(g) :
    m # n => g.members[m].instance = None \/ g.members[m].instance # g.members[n].instance

\* C1: the generation never decreases while the group exists and its log is
\* unchanged, and each step creates at most one generation.
\* @type: ($classicGroup, $classicGroup, $classicStep) => Bool;
GenerationMonotone(g, h, s) ==
  ClassicExists(g) /\ ClassicExists(h) /\ s.action # "FailOver" =>
    h.generation \in {g.generation, g.generation + 1}

\* Has a step sent `m` the generation of the group after the step?
\* @type: ($classicGroup, Str, $classicStep) => Bool;
LearnsGeneration(h, m, s) ==
  \/ m = s.member /\ s.response.error = "NONE" /\ s.response.generation = h.generation
  \/ \E a \in s.completed : a.member = m /\ a.response.error = "NONE" /\ a.response.generation = h.generation

\* C1: members are in a generation because all of them joined it: it begins with
\* an answer for each that waited, its leader among them, and only a static
\* member may be in it that did not.
\* @type: ($classicGroup, $classicGroup, $classicStep) => Bool;
BarrierHeld(g, h, s) ==
  h.generation = g.generation + 1 /\ InGroup(h) # {} /\ s.action # "FailOver" =>
    /\ h.state = "CompletingRebalance"
    /\ \A m \in InGroup(h) : h.members[m].instance # None \/ LearnsGeneration(h, m, s)
    /\ LearnsGeneration(h, h.leader, s)
    /\ PendingIds(g) \cap PendingIds(h) = {} \/ s.action = "JoinTimeout"

\* C1: all answers to JoinGroup have the generation, protocol and leader of the
\* group; the leader's answer alone has the members.
\* @type: ($classicGroup, $classicStep) => Bool;
JoinAnswersAgree(h, s) ==
  \A r \in {s.response} \cup {a.response : a \in s.completed} :
    r.api = "JoinGroup" /\ r.error = "NONE" =>
      /\ r.generation = h.generation /\ r.protocol = h.protocol /\ r.leader = h.leader
      /\ {j.member : j \in r.members} = IF r.member = h.leader THEN InGroup(h) ELSE {}

\* C1: the answer to a SyncGroup has the assignment that the group keeps for the
\* member; LeaderAssigns says from whom.
\* @type: ($classicGroup, $classicStep) => Bool;
SyncAnswersAgree(h, s) ==
  /\ \A a \in s.completed :
       a.response.api = "SyncGroup" /\ a.response.error = "NONE" =>
         h.state = "Stable" /\ a.response.assignment = h.members[a.member].assignment
  /\ s.response.api = "SyncGroup" /\ s.response.error = "NONE" =>
       /\ h.state = "Stable" /\ s.request.generation = h.generation
       /\ s.response.assignment = h.members[s.member].assignment

\* C1: no request is forgotten.  A member whose request waits before a step
\* waits after the step, or is answered in the step (except where the
\* coordinator failed over); where a member sends a second request while its
\* first one waits, the first one is answered, too.
\* @type: ($classicGroup, $classicGroup, $classicStep) => Bool;
EveryRequestIsAnswered(g, h, s) ==
  s.action # "FailOver" =>
    \A m \in MemberIds :
      /\ g.members[m].joining /\ ~h.members[m].joining =>
           \/ \E a \in s.completed : a.member = m /\ a.response.api = "JoinGroup"
           \/ s.action = "JoinGroup" /\ s.member = m /\ s.response.error # ""
      /\ g.members[m].syncing /\ ~h.members[m].syncing =>
           \/ \E a \in s.completed : a.member = m /\ a.response.api = "SyncGroup"
           \/ s.action = "SyncGroup" /\ s.member = m /\ s.response.error # ""
      /\ g.members[m].joining /\ s.action = "JoinGroup" /\ s.member = m /\ s.branch # "refused" =>
           \E a \in s.completed : a.member = m /\ a.response.api = "JoinGroup"
      /\ g.members[m].syncing /\ s.action = "SyncGroup" /\ s.member = m /\ s.branch # "refused" =>
           \E a \in s.completed : a.member = m /\ a.response.api = "SyncGroup"

\* C1: each JoinGroup and SyncGroup gets one answer.  The requests of a member
\* that wait before a step, and the request of the step, are as many as the
\* answers of the step and the requests that wait after it.
\* @type: ($classicGroup, $classicGroup, $classicStep) => Bool;
OneAnswerForEachRequest(g, h, s) ==
  s.action # "FailOver" =>
    \A m \in MemberIds, api \in {"JoinGroup", "SyncGroup"} :
      LET \* @type: ($classicGroup) => Bool;
          WaitsBehind(x) == IF api = "JoinGroup" THEN x.members[m].joining ELSE x.members[m].syncing
          \* @type: (Bool) => Int;
          One(condition) == IF condition THEN 1 ELSE 0
          sent == s.action = api /\ s.member = m
          answers == {a \in s.completed : a.member = m /\ a.response.api = api}
      IN One(WaitsBehind(g)) + One(sent) =
           Cardinality(answers) + One(sent /\ s.response.error # "") + One(WaitsBehind(h))

\* S1: a JoinGroup is answered with skipAssignment exactly if it returns a leader
\* to a Stable group.
\* @type: ($classicGroup, $classicStep) => Bool;
SkipsAssignmentExactly(h, s) ==
  /\ s.response.skipAssignment = (s.action = "JoinGroup" /\ s.branch = "return" /\ s.member = h.leader)
  /\ \A a \in s.completed : ~a.response.skipAssignment

\* C1: a member whose JoinGroup is accepted has the protocols and fields of
\* that request from then on, since the next generation is made from them.
\* @type: ($classicGroup, $classicStep) => Bool;
JoinIsKept(h, s) ==
  s.action = "JoinGroup" /\ s.response.error \in {"", "NONE"} /\ s.member \in InGroup(h) =>
    /\ h.members[s.member].protocols = s.request.protocols
    /\ h.members[s.member].subscription = s.request.subscription

\* C1: the reasons of the errors, stated without the rules' own operators. When
\* an error must come is in MembersAreKnown and InconsistentExactly.
\* @type: ($classicGroup, $classicGroup, $classicStep) => Bool;
ClassicErrorsExactly(g, h, s) ==
  LET m == s.request.member
      error == s.response.error
      fenced == \E n \in InGroup(g) : n # m /\ s.request.instance # {} /\ {g.members[n].instance} = s.request.instance
  IN /\ error \in {"ILLEGAL_GENERATION", "REBALANCE_IN_PROGRESS", "UNKNOWN_MEMBER_ID", "FENCED_INSTANCE_ID",
                   "INCONSISTENT_GROUP_PROTOCOL"} => h.members = g.members /\ h.state = g.state
     /\ error = "ILLEGAL_GENERATION" => m \in InGroup(g) /\ s.request.generation # g.generation
     /\ error = "FENCED_INSTANCE_ID" => fenced
     /\ error = "REBALANCE_IN_PROGRESS" =>
          /\ m \in InGroup(g) /\ s.request.generation = g.generation
          /\ g.state = IF s.action = "OffsetCommit" THEN "CompletingRebalance" ELSE "PreparingRebalance"
     /\ s.action \in {"SyncGroup", "ClassicHeartbeat"} /\ error = "NONE" =>
          m \in InGroup(g) /\ ~fenced /\ s.request.generation = g.generation
     /\ error = "MEMBER_ID_REQUIRED" => m = None /\ s.request.instance = {} /\ h.members[s.member].place = "pending"

\* O2: only a member of the generation commits, and not while its generation
\* has no assignment; or any client while the group has no members.
\* @type: ($classicGroup, $classicStep) => Bool;
CommitsAreFenced(g, s) ==
  s.action = "OffsetCommit" /\ s.response.error = "NONE" =>
    IF s.request.member = None /\ s.request.generation < 0 THEN InGroup(g) = {}
    ELSE /\ s.request.member \in InGroup(g) /\ s.request.generation = g.generation
         /\ g.state # "CompletingRebalance"

\* O2: the answer to a commit without member id and generation, with an
\* instance id or without. A group in its initial delay is not Empty, though
\* its members may have left.
\* @type: ($classicGroup, $classicStep) => Bool;
NobodyCommits(g, s) ==
  LET held == \E n \in InGroup(g) : s.request.instance # {} /\ {g.members[n].instance} = s.request.instance
  IN s.action = "OffsetCommit" /\ s.request.member = None /\ s.request.generation < 0 =>
       s.response.error = IF g.state \in {"Dead", "Empty"} THEN "NONE"
                          ELSE IF held THEN "FENCED_INSTANCE_ID" ELSE "UNKNOWN_MEMBER_ID"

\* C1: a SyncGroup that is accepted, or answered with a rebalance, names the
\* group's type and protocol, or none.
\* @type: ($classicGroup, $classicStep) => Bool;
SyncOfTheProtocol(g, s) ==
  s.action = "SyncGroup" /\ s.response.error \in {"", "NONE", "REBALANCE_IN_PROGRESS"} =>
    s.request.type \subseteq {g.type} /\ s.request.protocol \subseteq {g.protocol}

\* P3: a generation whose assignments the coordinator has sent is in the log; with
\* GenerationRecorded (C2) so is a generation that a JoinGroup was answered with.
\* StableIsSaved compares the record with the group.
\* @type: ($classicGroup, $classicStep) => Bool;
ToldIsSaved(h, s) ==
  \A r \in {s.response} \cup {a.response : a \in s.completed} :
    /\ r.api = "SyncGroup" /\ r.error = "NONE" =>
         \E saved \in h.saved : saved.generation = h.generation
    /\ r.api = "JoinGroup" /\ r.error = "NONE" /\ GenerationRecorded =>
         \E saved \in h.saved : saved.generation = r.generation /\ saved.leader = r.leader

\* C2, P2: a new coordinator has the last generation that the log has, its
\* leader and its members, and what each was assigned.
\* @type: ($classicGroup, $classicGroup, $classicStep) => Bool;
FailOverRecovers(g, h, s) ==
  s.action = "FailOver" =>
    /\ h.saved = g.saved
    /\ \A saved \in g.saved :
         /\ h.generation = saved.generation /\ h.leader = saved.leader
         /\ InGroup(h) = {m \in MemberIds : saved.members[m].there}
         /\ \A m \in InGroup(h) : h.members[m].assignment = saved.members[m].assignment
    /\ g.state \in {"Stable", "Empty"} /\ h.state # g.state =>
         \A m \in MemberIds : g.members[m].assignment = {}
    /\ GenerationRecorded /\ g.state = "CompletingRebalance" =>
         h.state = "CompletingRebalance" /\ h.generation = g.generation

\* C2, failure 2: a member that joins during a synchronization aborts the
\* synchronization, whatever its request has: all members must rejoin, and a
\* member that waits for its assignment is told so at once.  In Kafka a join
\* without changes does not abort it.
\* @type: ($classicGroup, $classicGroup, $classicStep) => Bool;
SynchronizationIsAborted(g, h, s) ==
  LET joins == s.action = "JoinGroup" /\ s.response.error \in {"", "NONE"} IN
  GenerationRecorded /\ joins /\ g.state = "CompletingRebalance" =>
    /\ h.state = "PreparingRebalance" \/ h.generation = g.generation + 1
    /\ \A m \in InGroup(h) : g.members[m].syncing =>
         \E a \in s.completed :
           a.member = m /\ a.response.api = "SyncGroup" /\ a.response.error = "REBALANCE_IN_PROGRESS"

\* S1: a process that joins a Stable group with the instance id of a member, and
\* with the protocols of that member, takes its place and its assignment: the
\* generation stays, and no other member has to rejoin.
\* @type: ($classicGroup, $classicGroup, $classicStep) => Bool;
ReturnChangesNoOther(g, h, s) ==
  LET holders == {n \in InGroup(g) : s.request.instance # {} /\ {g.members[n].instance} = s.request.instance}
      joins == s.action = "JoinGroup" /\ s.request.member = None /\ s.response.error \in {"", "NONE"}
  IN joins /\ g.state = "Stable" =>
       \A n \in holders : g.members[n].protocols = s.request.protocols =>
         /\ h.state = "Stable" /\ h.generation = g.generation /\ s.response.generation = g.generation
         /\ h.members[s.member].assignment = g.members[n].assignment
         /\ InGroup(h) = (InGroup(g) \ {n}) \cup {s.member}
         /\ \A m \in InGroup(g) \ {n} : h.members[m] = g.members[m]

\* C1: a synchronization ends with the SyncGroup of the leader and of no other
\* member, and gives each member what that request has for it; after that no
\* assignment changes before the next rebalance.
\* @type: ($classicGroup, $classicGroup, $classicStep) => Bool;
LeaderAssigns(g, h, s) ==
  s.action # "FailOver" /\ h.state = "Stable" =>
    IF g.state = "Stable"
    THEN \A m \in InGroup(g) \cap InGroup(h) : h.members[m].assignment = g.members[m].assignment
    ELSE /\ g.state = "CompletingRebalance" /\ s.action = "SyncGroup" /\ s.request.member = g.leader
         /\ \A m \in InGroup(h) : h.members[m].assignment = s.request.assignments[m]

\* C1: a new generation has the protocol that most members prefer among those
\* that all members have; of several such the one that the leader prefers.
\* @type: ($classicGroup, $classicGroup, $classicStep) => Bool;
MostPreferred(g, h, s) ==
  h.generation = g.generation + 1 /\ InGroup(h) # {} /\ s.action # "FailOver" =>
    LET \* @type: (Str) => Seq(Str);
        ListOf(m) == h.members[m].protocols
        \* @type: (Str, Str) => Int;
        Place(m, p) == CHOOSE i \in DOMAIN ListOf(m) : ListOf(m)[i] = p
        common == {p \in {ListOf(h.leader)[i] : i \in DOMAIN ListOf(h.leader)} :
                     \A m \in InGroup(h) : \E i \in DOMAIN ListOf(m) : ListOf(m)[i] = p}
        \* @type: (Str) => Int;
        Votes(p) == Cardinality({m \in InGroup(h) : \A q \in common : Place(m, p) <= Place(m, q)})
    IN /\ h.protocol \in common
       /\ \A p \in common \ {h.protocol} :
            \/ Votes(p) < Votes(h.protocol)
            \/ Votes(p) = Votes(h.protocol) /\ Place(h.leader, h.protocol) < Place(h.leader, p)

\* C1: a group with members refuses exactly the joins of another protocol type,
\* and those without a protocol that all members have.
\* @type: ($classicGroup, $classicStep) => Bool;
InconsistentExactly(g, s) ==
  LET \* @type: (Str, Str) => Bool;
      Has(m, p) == \E i \in DOMAIN g.members[m].protocols : g.members[m].protocols[i] = p
      common == \E i \in DOMAIN s.request.protocols : \A m \in InGroup(g) : Has(m, s.request.protocols[i])
  IN s.action = "JoinGroup" /\ InGroup(g) # {} =>
       (s.response.error = "INCONSISTENT_GROUP_PROTOCOL") = (s.request.type # {g.type} \/ ~common)

\* C1: a member that has sent its SyncGroup owes none.
\* @type: ($classicGroup, $classicStep) => Bool;
SyncIsNotOwed(h, s) ==
  s.action = "SyncGroup" /\ s.response.error \in {"", "NONE"} => ~h.members[s.member].owesSync

\* C1, C2: a follower of a Stable group that joins again as before, because its
\* answer was lost, gets the generation, and nothing changes.
\* @type: ($classicGroup, $classicGroup, $classicStep) => Bool;
RejoinChangesNothing(g, h, s) ==
  LET m == s.request.member
      same == /\ g.members[m].protocols = s.request.protocols
              /\ g.members[m].subscription = s.request.subscription
  IN /\ s.action = "JoinGroup" /\ s.response.error \in {"", "NONE"} /\ g.state = "Stable"
     /\ m \in InGroup(g) \ {g.leader}
     => (same => h = g /\ s.response.generation = g.generation)

\* C1: the barrier is closed only while a member, or an id that was made, has
\* not joined, or during the initial delay.
\* @type: ($classicGroup) => Bool;
BarrierOpensAtOnce(g) ==
  g.state = "PreparingRebalance" /\ ~g.initial =>
    (\E m \in InGroup(g) : ~g.members[m].joining) \/ (PendingIds(g) # {} /\ InGroup(g) # {})

\* C1, S1: the members that a step removes: those whose session or time ran out,
\* those that left, and those whose place is taken.  The time-out of the barrier
\* removes no static member.
\* @type: ($classicGroup, $classicGroup, $classicStep) => Bool;
RemovedExactly(g, h, s) ==
  LET gone == InGroup(g) \ InGroup(h)
      accepted == s.response.error \in {"", "NONE"}
      holders == {n \in InGroup(g) : s.request.instance # {} /\ {g.members[n].instance} = s.request.instance}
      named == IF s.request.member = None THEN holders ELSE {s.request.member} \cap InGroup(g)
      late == {m \in InGroup(g) : ~g.members[m].joining /\ g.members[m].instance = None}
  IN s.action # "FailOver" =>
       gone = IF s.action = "SessionTimeout" THEN {s.member} \cap InGroup(g)
              ELSE IF s.action = "SyncTimeout" THEN {m \in InGroup(g) : g.members[m].owesSync}
              ELSE IF s.action = "JoinTimeout" THEN IF h.initial THEN {} ELSE late
              ELSE IF s.action = "LeaveGroup" /\ accepted THEN named
              ELSE IF s.action = "JoinGroup" /\ accepted /\ s.request.member = None THEN holders
              ELSE {}

\* P2, S1: a new coordinator has the type and the protocol of the group, and the
\* instance ids and subscriptions of its members.
\* @type: ($classicGroup, $classicGroup, $classicStep) => Bool;
FailOverKeepsFields(g, h, s) ==
  s.action = "FailOver" =>
    \A saved \in g.saved :
      /\ h.type = saved.type /\ h.protocol = saved.protocol
      /\ \A m \in InGroup(h) : /\ h.members[m].instance = saved.members[m].instance
                               /\ h.members[m].subscription = saved.members[m].subscription

\* P3: the log of a Stable group has its members, with their fields and their
\* assignments.
\* @type: ($classicGroup) => Bool;
StableIsSaved(g) ==
  g.state = "Stable" =>
    \E saved \in g.saved :
      /\ saved.generation = g.generation /\ saved.leader = g.leader /\ saved.protocol = g.protocol
      /\ \A m \in MemberIds :
           /\ saved.members[m].there = (m \in InGroup(g))
           /\ saved.members[m].instance = g.members[m].instance
           /\ saved.members[m].subscription = g.members[m].subscription
           /\ saved.members[m].assignment = g.members[m].assignment

\* C1: a request of a member gets ILLEGAL_GENERATION exactly for another
\* generation, never UNKNOWN_MEMBER_ID; a heartbeat gets REBALANCE_IN_PROGRESS
\* exactly while the member has to rejoin.
\* @type: ($classicGroup, $classicStep) => Bool;
MembersAreKnown(g, s) ==
  LET m == s.request.member
      error == s.response.error
      itself == m \in InGroup(g) /\ \A i \in s.request.instance : g.members[m].instance = i
      current == s.request.generation = g.generation
  IN s.action \in {"SyncGroup", "ClassicHeartbeat", "OffsetCommit"} /\ itself =>
       /\ (error = "ILLEGAL_GENERATION") = ~current
       /\ error # "UNKNOWN_MEMBER_ID"
       /\ s.action = "ClassicHeartbeat" =>
            (error = "REBALANCE_IN_PROGRESS") = (current /\ g.state = "PreparingRebalance")
=============================================================================
