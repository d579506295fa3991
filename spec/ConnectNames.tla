----------------------------- MODULE ConnectNames ---------------------------
(***************************************************************************)
(* Connect groups whose workers offer assignors by name, in an order (W1,  *)
(* H3): "a common assignor that all workers support, in the order of       *)
(* precedence of the workers".  OpenConnect has one name that all workers  *)
(* offer.                                                                  *)
(*                                                                         *)
(* The decision: the order is that of a consumer group (A1): the least sum *)
(* of an assignor's places in the workers' lists, then the first by name.  *)
(* A join, or a changed list, that leaves no assignor which all workers    *)
(* offer is an UNSUPPORTED_ASSIGNOR and changes nothing.  A changed list   *)
(* bumps the group epoch (E1).                                             *)
(*                                                                         *)
(* Left out: reasons, and versions of an assignor (both are in             *)
(* OpenConnect, where every worker offers the same one name).              *)
(***************************************************************************)
EXTENDS OpenConnect, ConnectProperties, Sequences

CONSTANTS
  \* The lists of assignors that a worker may offer.
  \* @type: Set(Seq(Str));
  Lists,
  \* The order of assignors by name.
  \* @type: Str -> Int;
  NameRank

VARIABLES
  \* Assignors that each worker offers, the most wanted first; <<>> for a
  \* worker that is not here.
  \* @type: Str -> Seq(Str);
  lists,
  \* Names in the last step: the list of a heartbeat, if it has one, and the
  \* assignor in the answer to PrepareAssignment, or "".
  \* @type: {list: Set(Seq(Str)), assignor: Str};
  naming

namedVars == <<vars, lists, naming>>
namedView == <<view, lists>>

\* @type: {list: Set(Seq(Str)), assignor: Str};
NoNaming == [list |-> {}, assignor |-> ""]

\* @type: Seq(Str);
NoList == <<>>

\* @type: (Seq(Str)) => Set(Str);
NamesIn(list) == {list[i] : i \in DOMAIN list}

\* W1: assignors that all of some workers offer.
\* @type: (Str -> Seq(Str), Set(Str)) => Set(Str);
InCommon(offers, workers) ==
  {name \in DOMAIN NameRank : \A m \in workers : name \in NamesIn(offers[m])}

\* A1: the sum of its places in the workers' lists; no list has a name twice (H3).
\* @type: (Str -> Seq(Str), Set(Str), Str) => Int;
SumOfPlaces(offers, workers, name) ==
  Cardinality(UNION {{<<m, i>> : i \in {k \in DOMAIN offers[m] :
                        \E j \in DOMAIN offers[m] : k <= j /\ offers[m][j] = name}} : m \in workers})

\* W1: the assignor of the group.
\* @type: (Str -> Seq(Str), Set(Str)) => Str;
SelectedName(offers, workers) ==
  LET common == InCommon(offers, workers)
      sum == [name \in common |-> SumOfPlaces(offers, workers, name)]
      Before(a, b) == sum[a] < sum[b] \/ (sum[a] = sum[b] /\ NameRank[a] <= NameRank[b])
  IN IF common = {} THEN "" ELSE CHOOSE a \in common : \A b \in common : Before(a, b)

\* Step 1, and then what the list says (W1, E1): refused, another one, or the same.
\* @type: (Str, $request, Set(Seq(Str))) => $updated;
UpdateNamed(m, request, list) ==
  LET updated == UpdateWorker(group, work, topics, m, request, {})
      says == updated.error = "NONE" /\ updated.kind # "leave" /\ list # {} /\ list # {lists[m]}
      offers == [lists EXCEPT ![m] = CHOOSE said \in list : TRUE]
  IN IF ~says THEN updated
     ELSE IF InCommon(offers, Members(group) \cup {m}) = {}
     THEN Updated(group, "UNSUPPORTED_ASSIGNOR", "unsupported", FALSE)
     ELSE IF updated.group.epoch = group.epoch
     THEN [updated EXCEPT !.group = BumpGroupEpoch(updated.group)]
     ELSE updated

\* Offers of workers after the step that is taken: a worker that has gone
\* offers nothing.
\* @type: (Str -> Seq(Str), {list: Set(Seq(Str)), assignor: Str}) => Bool;
Follow(offers, said) ==
  /\ lists' = [m \in MemberIds |-> IF m \in Members(group') THEN offers[m] ELSE NoList]
  /\ naming' = said

\* @type: (Str, $request, Set(Seq(Str))) => Bool;
NamedRequest(m, request, list) ==
  /\ \E updated \in {UpdateNamed(m, request, list)} :
       /\ Take(HandleWorker(group, work, m, request, {}, updated))
       /\ Follow(IF updated.error = "NONE" /\ list # {} THEN [lists EXCEPT ![m] = CHOOSE said \in list : TRUE]
                 ELSE lists, [NoNaming EXCEPT !.list = list])
  /\ UNCHANGED topics

\* H1, H3, W1: a worker that joins sends its list.
NamedJoin ==
  \E m \in MemberIds, list \in Lists :
    NamedRequest(m, [NoRequest EXCEPT !.member = m, !.owned = {{}}], {list})

\* H3, W4: a heartbeat says it, or is silent.
NamedHeartbeat ==
  \E m \in MemberIds, epoch \in RequestEpochs, owned \in Option(Owned), list \in Option(Lists) :
    NamedRequest(m, [NoRequest EXCEPT !.member = m, !.epoch = epoch, !.owned = owned], list)

\* W1: the answer names the assignor.
NamedPrepare ==
  /\ Prepare
  /\ Follow(lists, [NoNaming EXCEPT !.assignor =
       IF step'.response.error = "NONE" THEN SelectedName(lists, Members(group)) ELSE ""])

\* All that has nothing to do with assignors.
OtherStep ==
  /\ \/ LeaveRequest
     \/ Install
     \/ SessionTimeout
     \/ RebalanceTimeout
     \/ AssignmentTimeout
     \/ FailOver
     \/ DeleteGroup
  /\ Follow(lists, NoNaming)

NamedInit == Init /\ lists = [m \in MemberIds |-> NoList] /\ naming = NoNaming

NamedNext == NamedJoin \/ NamedHeartbeat \/ NamedPrepare \/ OtherStep

(***************************************************************************)
(* Properties                                                              *)
(***************************************************************************)

\* W1: there is always an assignor that all workers offer.
\* @type: ($group, Str -> Seq(Str)) => Bool;
SomethingInCommon(g, offers) ==
  /\ \A m \in MemberIds : (offers[m] = NoList) = (m \notin Members(g))
  /\ \E name \in DOMAIN NameRank : \A m \in Members(g) : \E i \in DOMAIN offers[m] : offers[m][i] = name

\* W1: a request is refused exactly if it would leave no common assignor,
\* stated without the operators above; and a refused request changes nothing.
\* @type: ($group, $group, Str -> Seq(Str), Str -> Seq(Str), $step, Set(Seq(Str))) => Bool;
RefusedExactly(g, h, before, now, s, said) ==
  LET \* @type: (Seq(Str)) => Bool;
      Shared(list) == \E i \in DOMAIN list : \A m \in Members(g) \ {s.member} :
                        \E j \in DOMAIN before[m] : before[m][j] = list[i]
  IN /\ s.response.error = "UNSUPPORTED_ASSIGNOR" => h = g /\ now = before /\ \A list \in said : ~Shared(list)
     /\ s.response.error = "NONE" /\ s.member \in Members(h) /\ said # {} =>
          \A list \in said : Shared(list) /\ now[s.member] = list

\* E1: another list is for the group to know, once.
\* @type: ($group, $group, Str -> Seq(Str), Str -> Seq(Str), $step) => Bool;
ListsBumpOnce(g, h, before, now, s) ==
  s.action # "DeleteGroup" =>
    LET changed == MetadataChanged(g, h, s) \/ \E m \in Members(g) \cap Members(h) : before[m] # now[m]
    IN h.epoch = IF changed THEN BumpGroupEpoch(g).epoch ELSE g.epoch

\* W1: no other assignor that all workers offer is preferred to the selected
\* one, worker by worker.
\* @type: ($group, Str -> Seq(Str), $step, Str) => Bool;
NamedIsCommon(g, offers, s, name) ==
  s.action = "PrepareAssignment" /\ s.response.error = "NONE" =>
    LET Place(m, one) == CHOOSE i \in DOMAIN offers[m] : offers[m][i] = one
    IN /\ \A m \in Members(g) : \E i \in DOMAIN offers[m] : offers[m][i] = name
       /\ ~\E other \in DOMAIN NameRank :
            /\ \A m \in Members(g) : \E i \in DOMAIN offers[m] : offers[m][i] = other
            /\ other # name
            /\ \A m \in Members(g) : Place(m, other) < Place(m, name)
=============================================================================
