---------------------------- MODULE ClosedShapes ----------------------------
(***************************************************************************)
(* The proof of ClosedInvariant, closed.  A step of a proof starts from    *)
(* states that are generated field by field, because any state at all      *)
(* would be too many.  So a proof covers only states that have the         *)
(* generated shapes.  Here the shapes are a part of the invariant: they    *)
(* hold at the start, and after each step (ShapedInv), so that every       *)
(* reachable state is among the generated ones.                            *)
(*                                                                         *)
(* In place of AnyResponses, AnyShapedResponses generates the              *)
(* coordinator's answers: an error names no member and has no epoch, and   *)
(* an answer without an error names the member that asked.                 *)
(*                                                                         *)
(* Left out: a state is generated with at most two late requests, and a    *)
(* reachable state may have more.  Each conjunct of ShapedInv speaks of    *)
(* one late request, no step handles two, and no step depends on a request *)
(* that it does not handle.  That argument is not checked by an engine.    *)
(* Dialects whose answers to a keep-alive may come before a report         *)
(* (NotesReports) have other shapes.                                       *)
(***************************************************************************)
EXTENDS ClosedInvariant

\* Errors that a request of the closed instance may get (H5, H6, S2).
Refusals == {"UNKNOWN_MEMBER_ID", "FENCED_MEMBER_EPOCH", "UNRELEASED_INSTANCE_ID", "FENCED_INSTANCE_ID"}

\* No member has a regular expression or names an assignor, and an instance id
\* is that of a process.
\* @type: ($group) => Bool;
GroupShape(g) ==
  \A m \in MemberIds :
    LET member == g.members[m] IN
    /\ member.regex = None /\ member.assignor = ""
    /\ member.instance \in {None} \cup {InstanceOf[n] : n \in MemberIds}

\* H1, H7: a process that is not in the group says everything when it joins.
\* @type: (Str) => Bool;
ClientShape(m) ==
  LET client == clients[m] IN
  /\ client.owned \subseteq Partitions /\ client.told \subseteq Partitions
  /\ client.subscription \subseteq Topics
  /\ client.epoch = 0 => client.report

\* An answer to `m`.
\* @type: (Str, $response) => Bool;
ResponseShape(m, response) ==
  IF response.error = "NONE"
  THEN /\ response.member = m
       /\ \A a \in response.assignment :
            /\ a.assigned \subseteq Partitions /\ a.pending \subseteq Partitions
            /\ response.assignment = {a}
  ELSE response.error \in Refusals /\ response = ErrorResponse(response.error)

\* H1, H2, H7: a request that may come late.  A join has all fields; a static
\* member sends its instance id beside its subscription, or when it leaves for
\* a while.
\* @type: ($request) => Bool;
LateShape(request) ==
  /\ request.member \in MemberIds
  /\ request.instance =
       {x \in {InstanceOf[request.member]} : x # None /\ (request.subscription # {} \/ request.epoch = Away)}
  /\ \A owned \in request.owned : owned \subseteq Partitions /\ request.owned = {owned}
  /\ \A names \in request.subscription : names \subseteq Topics /\ request.subscription = {names}
  /\ request.regex = {} /\ request.assignor = {}
  /\ request.epoch = 0 => request.subscription # {}

Shapes ==
  /\ GroupShape(group)
  /\ \A m \in MemberIds :
       /\ ClientShape(m)
       /\ \A response \in responses[m] : responses[m] = {response} /\ ResponseShape(m, response)
  /\ \A request \in late : LateShape(request)

ShapedInv == Inv /\ Shapes

\* The answers of ResponseShape, one for each choice of parameters.
\* @type: (Str, Str, Int, Bool, $assignment) => $response;
ShapedResponse(m, error, epoch, assigns, assignment) ==
  IF error = "NONE"
  THEN [error |-> "NONE", member |-> m, epoch |-> epoch, assignment |-> {a \in {assignment} : assigns}]
  ELSE ErrorResponse(error)

\* The requests of LateShape, and requests without a subscription at epoch 0.
\* @type: (Str, Int, Bool, Set($partition), Bool, Set(Str)) => $request;
ShapedRequest(m, epoch, ownedGiven, owned, subscribes, names) ==
  [member |-> m, epoch |-> epoch,
   instance |-> {x \in {InstanceOf[m]} : x # None /\ (subscribes \/ epoch = Away)},
   owned |-> {o \in {owned} : ownedGiven},
   subscription |-> {s \in {names} : subscribes},
   regex |-> {}, assignor |-> {}]

\* The answers that may be on the way to each process, or none.
AnyShapedResponses ==
  \E there \in [MemberIds -> BOOLEAN], assigns \in [MemberIds -> BOOLEAN],
     errors \in [MemberIds -> {"NONE"} \cup Refusals], epochs \in [MemberIds -> Int],
     assigned \in [MemberIds -> SUBSET Partitions], pending \in [MemberIds -> SUBSET Partitions] :
    responses = [m \in MemberIds |->
                  {r \in {ShapedResponse(m, errors[m], epochs[m], assigns[m],
                                         [assigned |-> assigned[m], pending |-> pending[m]])} :
                   there[m]}]

\* Up to two late requests.
AnyShapedLate ==
  \E there \in [{1, 2} -> BOOLEAN], member \in [{1, 2} -> MemberIds], epochs \in [{1, 2} -> Int],
     ownedGiven \in [{1, 2} -> BOOLEAN], owned \in [{1, 2} -> SUBSET Partitions],
     subscribes \in [{1, 2} -> BOOLEAN], names \in [{1, 2} -> SUBSET Topics] :
    late = {ShapedRequest(member[i], epochs[i], ownedGiven[i], owned[i], subscribes[i], names[i]) :
              i \in {j \in {1, 2} : there[j]}}

\* Every state of ShapedInv with at most two late requests.
ShapedInit ==
  /\ LET Is(g) == group = g IN AnyGroup({}, {InstanceOf[m] : m \in MemberIds}, Is)
  /\ topics \in [Topics -> Int]
  /\ AnyClients
  /\ AnyShapedResponses
  /\ AnyShapedLate
  /\ zombies \in SUBSET MemberIds
  /\ budget \in Nat
  /\ step = NoStep
  /\ ShapedInv

\* A control, false of some reachable state.

\* H9: the shape of AnyResponses in ClosedInvariant.
AnswersNameTheirMember == \A m \in MemberIds : \A response \in responses[m] : response.member = m
=============================================================================
