---------------------------- MODULE ClassicGroups ---------------------------
(***************************************************************************)
(* Operators that read a classic group, and the responses that are made    *)
(* from it: ClassicCoordinator and the modules around it share these.      *)
(***************************************************************************)
EXTENDS ClassicTypes, FiniteSets, Sequences

CONSTANTS
  \* The member ids that exist.
  \* @type: Set(Str);
  MemberIds,
  \* The order of members: where any member would do, the first is taken.
  \* @type: Str -> Int;
  MemberRank,
  \* Every partition that can ever exist.
  \* @type: Set($partition);
  Partitions,
  \* Is a generation in the log before it is synchronised, and does a JoinGroup
  \* abort the synchronization (C2)?
  \* @type: Bool;
  GenerationRecorded,
  \* How often the initial delay may be prolonged: as often as it fits into
  \* the rebalance time-out, less one.
  \* @type: Int;
  Extensions

\* @type: $classicGroup;
NoClassicGroup ==
  [state |-> "Dead", generation |-> 0, type |-> "", protocol |-> "", leader |-> None,
   initial |-> FALSE, newMember |-> FALSE, extensions |-> 0,
   members |-> [m \in MemberIds |-> NoClassicMember], saved |-> {}]

\* @type: $classicRequest;
NoClassicRequest ==
  [member |-> None, instance |-> {}, generation |-> NoGeneration, type |-> {}, protocol |-> {},
   protocols |-> NoProtocols, subscription |-> {}, assignments |-> [m \in MemberIds |-> {}]]

\* @type: $classicStep;
NoClassicStep ==
  [action |-> "Init", branch |-> "", member |-> None, request |-> NoClassicRequest,
   response |-> NoClassicResponse, completed |-> {}, topic |-> "", partitions |-> 0,
   partition |-> {}, offset |-> 0]

(***************************************************************************)
(* Reading a group                                                         *)
(***************************************************************************)

\* @type: ($classicGroup) => Bool;
ClassicExists(g) == g.state # "Dead"

\* @type: ($classicGroup) => Set(Str);
InGroup(g) == {m \in MemberIds : g.members[m].place = "member"}

\* C1: ids that were made and are expected to join with.
\* @type: ($classicGroup) => Set(Str);
PendingIds(g) == {m \in MemberIds : g.members[m].place = "pending"}

\* @type: ($classicGroup) => Set(Str);
Joining(g) == {m \in InGroup(g) : g.members[m].joining}

\* C1: are all members behind the barrier?  Where no member is left the barrier
\* need not wait for pending ids.
\* @type: ($classicGroup) => Bool;
AllJoined(g) == InGroup(g) = Joining(g) /\ (PendingIds(g) = {} \/ InGroup(g) = {})

\* @type: (Set(Str)) => Str;
FirstMember(members) == CHOOSE m \in members : \A n \in members : MemberRank[m] <= MemberRank[n]

\* The member that has an instance id, an option.
\* @type: ($classicGroup, Set(Str)) => Set(Str);
InstanceHolder(g, instance) ==
  {m \in InGroup(g) : instance # {} /\ g.members[m].instance = TextOr(instance, None)}

\* C1: may the sender of a request be `m`, perhaps with an instance id?
\* @type: ($classicGroup, Str, Set(Str)) => Str;
IdentityError(g, m, instance) ==
  LET holder == InstanceHolder(g, instance) IN
  IF instance # {} /\ holder = {} THEN "UNKNOWN_MEMBER_ID"
  ELSE IF instance # {} /\ holder # {m} THEN "FENCED_INSTANCE_ID"
  ELSE IF m \notin InGroup(g) THEN "UNKNOWN_MEMBER_ID" ELSE "NONE"

\* The protocols that all members support.
\* @type: ($classicGroup) => Set(Str);
Candidates(g) ==
  {p \in UNION {{g.members[m].protocols[i] : i \in DOMAIN g.members[m].protocols} : m \in InGroup(g)} :
     \A m \in InGroup(g) : \E i \in DOMAIN g.members[m].protocols : g.members[m].protocols[i] = p}

\* C1: each member votes for the first of its protocols that all members
\* support; of the protocols with most votes the leader's preference decides.
\* @type: ($classicGroup) => Str;
SelectProtocol(g) ==
  LET candidates == Candidates(g)
      votes == [p \in candidates |->
                  Cardinality({m \in InGroup(g) : FirstOf(g.members[m].protocols, candidates) = p})]
      most == {p \in candidates : \A q \in candidates : votes[q] <= votes[p]}
  IN FirstOf(g.members[g.leader].protocols, most)

\* C1: can one join that has these protocols?  The first one decides the
\* protocol type.
\* @type: ($classicGroup, $classicRequest) => Bool;
Supports(g, request) ==
  IF g.state \in {"Dead", "Empty"} THEN TextOr(request.type, "") # "" /\ DOMAIN request.protocols # {}
  ELSE /\ request.type = {g.type}
       /\ \/ InGroup(g) = {}
          \/ \E i \in DOMAIN request.protocols : request.protocols[i] \in Candidates(g)

\* H8: the session of a member whose request waits does not expire, unless the
\* member never was in a generation: its client may have gone (C1).
\* @type: ($classicGroup, Str) => Bool;
ClassicSessionArmed(g, m) ==
  LET member == g.members[m] IN
  \/ member.place = "pending"
  \/ member.place = "member" /\ (member.fresh \/ ~(member.joining \/ member.syncing))

\* C1: the time-out of the barrier, or the initial delay.
\* @type: ($classicGroup) => Bool;
JoinTimerArmed(g) == g.state = "PreparingRebalance"

\* @type: ($classicGroup) => Set(Str);
OwingSync(g) == {m \in InGroup(g) : g.members[m].owesSync}

(***************************************************************************)
(* Responses                                                               *)
(***************************************************************************)

\* @type: (Str, Str, Str) => $classicResponse;
ClassicError(api, m, error) ==
  [NoClassicResponse EXCEPT !.api = api, !.error = error, !.member = m]

\* @type: ($classicGroup, Str) => Set($joined);
MemberListFor(g, m) ==
  IF m # g.leader THEN {}
  ELSE {[member |-> n, instance |-> g.members[n].instance, subscription |-> g.members[n].subscription] :
          n \in InGroup(g)}

\* C1: the generation in the answer to a member; the leader gets the list of
\* all members.
\* @type: ($classicGroup, Str, Bool) => $classicResponse;
JoinResponse(g, m, skip) ==
  [api |-> "JoinGroup", error |-> "NONE", member |-> m, generation |-> g.generation, type |-> g.type,
   protocol |-> g.protocol, leader |-> g.leader, skipAssignment |-> skip, members |-> MemberListFor(g, m),
   assignment |-> {}]

\* @type: ($classicGroup, Str) => $classicResponse;
SyncResponse(g, m) ==
  [NoClassicResponse EXCEPT !.api = "SyncGroup", !.error = "NONE", !.type = g.type,
                            !.protocol = g.protocol, !.assignment = g.members[m].assignment]

\* The answers to what waits of `m`.
\* @type: ($classicGroup, Str, Str, Str) => Set($answer);
Unanswered(g, m, told, error) ==
  {[member |-> m, response |-> ClassicError("JoinGroup", told, error)] : x \in {y \in {m} : g.members[y].joining}}
  \cup
  {[member |-> m, response |-> ClassicError("SyncGroup", None, error)] : x \in {y \in {m} : g.members[y].syncing}}
=============================================================================
