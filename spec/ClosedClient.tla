----------------------------- MODULE ClosedClient ----------------------------
(***************************************************************************)
(* The closed instance with client-side assignors: members that follow the *)
(* coordinator, until one hangs (it sends heartbeats, but computes         *)
(* nothing) or dies.  Faults of networks are in ClosedGroup; here no       *)
(* message is lost, so that a member always knows its epoch and its        *)
(* assignment.                                                             *)
(***************************************************************************)
EXTENDS ClientAssignors

CONSTANTS
  \* How many members may hang or die.
  \* @type: Int;
  MaxIll

VARIABLES
  \* @type: $group;
  group,
  \* @type: $computation;
  computation,
  \* State of each process: not started, "well", "hung" or "dead".
  \* @type: Str -> Str;
  health,
  \* Partitions that each process owns, as far as it has followed the
  \* coordinator.
  \* @type: Str -> Set($partition);
  owned,
  \* The member whose turn it is: of the running members none is left out for
  \* ever.
  \* @type: Str;
  turn

closedVars == <<group, computation, health, owned, turn>>

AllTopics == [t \in Topics |-> 1]
\* @type: Seq($offer);
Offered == <<[name |-> "x", min |-> 0, max |-> 0, version |-> 0, reason |-> 0, metadata |-> ""]>>

ClosedInit ==
  /\ group = NoGroup /\ computation = NoComputation
  /\ health = [m \in MemberIds |-> ""] /\ owned = [m \in MemberIds |-> {}]
  /\ turn \in MemberIds

\* A heartbeat, and the member's handling of the answer: the member owns its
\* assignment at once.
\* @type: (Str, $request, Set(Seq($offer))) => Bool;
Sends(m, request, said) ==
  \E first \in {UpdateOffering(group, computation, AllTopics, m, request, said)} :
  \E offers \in {OffersAfter(computation, m, request, first, said)} :
  \E c \in {ComputationAfter(group, computation, first.group, m, request, first, offers)} :
  \E changed \in {OffersChanged(group, computation, m, request, first, offers)} :
  \E updated \in {[first EXCEPT !.group = Bumped(group, first.group, changed, ClientSide(first.group, c))]} :
    LET Answer(installed, settled) ==
          \E handled \in {HandleOffering(group, m, request, updated, installed, settled, said)} :
            /\ group' = handled.group /\ computation' = handled.computation
            /\ owned' = [owned EXCEPT ![m] = UNION {a.assigned : a \in handled.step.response.assignment}
                                             \cup (IF handled.step.response.assignment = {} THEN @ ELSE {})]
    IN UpdateClientTarget(updated.group, c, Answer)

\* H1.
Start(m) ==
  /\ health[m] = ""
  /\ Sends(m, [NoRequest EXCEPT !.member = m, !.owned = {{}}, !.subscription = {Topics}], {Offered})
  /\ health' = [health EXCEPT ![m] = "well"]

\* R1, R5: the member reports its owned partitions.
Beat(m) ==
  /\ Sends(m, [NoRequest EXCEPT !.member = m, !.epoch = group.members[m].epoch, !.owned = {owned[m]}], {})
  /\ UNCHANGED health

\* A5: a healthy process that was told to compute computes any legal
\* assignment.
\* @type: (Str) => Bool;
Computes(m) == health[m] = "well" /\ computation.chosen = m /\ computation.notified

Prepare(m) ==
  /\ computation' = Prepared(group, computation)
  /\ UNCHANGED <<group, health, owned>>

Install(m) ==
  /\ \E owner \in [Partitions -> MemberIds] :
       LET carried == [NoClientStep EXCEPT !.groupEpoch = computation.base.epoch,
                                           !.assignment = {<<owner[p], p>> : p \in Partitions}] IN
       /\ InstallError(group, computation, m, group.members[m].epoch, carried) = "NONE"
       /\ \E installed \in {Installed(group, computation, carried)} :
            /\ group' = installed
            /\ computation' \in Settle(installed, NewsByInstall(group, computation, carried))
  /\ UNCHANGED <<health, owned>>

\* Each chosen member may hang or die, one after the other.
FallIll(m) ==
  /\ health[m] = "well" /\ Cardinality({n \in MemberIds : health[n] \in {"hung", "dead"}}) < MaxIll
  /\ \E ill \in {"hung", "dead"} : health' = [health EXCEPT ![m] = ill]
  /\ UNCHANGED <<group, computation, owned>>

\* A5: the time-out ends the computation of a process that computes nothing; a
\* healthy process has enough time.
RunsOut(m) ==
  /\ computation' \in TooLate(group, computation)
  /\ UNCHANGED <<group, health, owned>>

\* H8: the session of a dead process expires.
Expires(m) ==
  /\ \E removed \in {RemoveMember(group, AllTopics, m)} :
       LET c == [computation EXCEPT !.offers[m] = NoOffers, !.told[m] = NoNews]
           Then(installed, settled) == group' = installed /\ computation' = settled
       IN UpdateClientTarget(removed, c, Then)
  /\ owned' = [owned EXCEPT ![m] = {}]
  /\ UNCHANGED health

\* The next step of a member, or of the clock.
Acts(m) ==
  IF m \notin Members(group) THEN UNCHANGED <<group, computation, health, owned>>
  ELSE IF Computes(m) THEN IF computation.prepared THEN Install(m) ELSE Prepare(m)
  ELSE IF computation.chosen = m /\ computation.notified THEN RunsOut(m)
  ELSE IF health[m] = "dead" THEN Expires(m)
  ELSE Beat(m)

\* The members in their order, again and again.
\* @type: (Str) => Str;
After(m) ==
  LET later == {n \in MemberIds : Order[n] > Order[m]}
      next == IF later = {} THEN MemberIds ELSE later
  IN CHOOSE n \in next : \A k \in next : Order[n] <= Order[k]

Disturbance == (\E m \in MemberIds : Start(m) \/ FallIll(m)) /\ UNCHANGED turn
Turn == Acts(turn) /\ turn' = After(turn)

\* Turns go on; no process must start, hang or die.
ClosedSpec ==
  ClosedInit /\ [][Disturbance \/ Turn]_closedVars /\ []<><<turn' # turn>>_turn

\* Invariant.  R7: no two processes own a partition.
OwnedOnce ==
  \A m \in MemberIds, n \in MemberIds : m # n => owned[m] \cap owned[n] = {}

\* R8, A5: while one process of the group is healthy the group converges,
\* although every other chosen member may hang or die.
SomebodyIsWell == \E m \in Members(group) : health[m] = "well"
EventuallyConverged ==
  <>[](SomebodyIsWell => GroupState(group) = "Stable")
=============================================================================
