----------------------------- MODULE Validation -----------------------------
(***************************************************************************)
(* Errors of a ConsumerGroupHeartbeat before the group is looked up        *)
(* (KIP-848 "Request Validation"; H3, H4): one operator for each clause,   *)
(* with the name that the coordinator's code has.  An invalid request      *)
(* changes nothing.                                                        *)
(*                                                                         *)
(* Left out: clauses on fields that no rule of the group reads (group id,  *)
(* rebalance time-out of a join, client-side assignors); the coordinator   *)
(* has those, too.                                                         *)
(***************************************************************************)
EXTENDS Groups

\* H3: MemberId must be non-empty, except on the first join.
\* @type: ($request) => Bool;
LacksMemberId(request) == request.member = None /\ request.epoch # 0

\* H3: MemberEpoch >= -1, or >= -2 with an instance id.
\* @type: ($request) => Bool;
EpochTooLow(request) == request.epoch < IF request.instance = {} THEN -1 ELSE Away

\* H3: InstanceId, if given, is non-empty.
\* @type: ($request) => Bool;
InstanceIdEmpty(request) == request.instance = {None}

\* H3: a join has a subscription.
\* @type: ($request) => Bool;
JoinLacksSubscription(request) ==
  request.epoch = 0 /\ request.subscription = {} /\ request.regex \subseteq {None}

\* H3, T1: the regular expression is valid.
\* @type: ($request) => Bool;
RegexInvalid(request) == \E r \in request.regex : r # None /\ r \notin DOMAIN Regexes

\* H3: a join reports owned partitions, where these are looked at.
\* @type: ($request) => Bool;
JoinOwnsSomething(request) ==
  request.epoch = 0 /\ Dialect.JoinOwns = "empty" /\ request.owned # {{}}

\* H3: an assignor has a name; with the departure, an empty name is an
\* unsupported assignor.
\* @type: ($request) => Bool;
AssignorNameEmpty(request) ==
  IF Dialect.EmptyAssignorName = "unsupported" THEN FALSE ELSE request.assignor = {""}

\* @type: ($request) => Bool;
Invalid(request) ==
  \/ LacksMemberId(request) \/ EpochTooLow(request) \/ InstanceIdEmpty(request)
  \/ JoinLacksSubscription(request) \/ JoinOwnsSomething(request)
  \/ RegexInvalid(request) \/ AssignorNameEmpty(request)

\* H4.
\* @type: ($request) => Bool;
Unsupported(request) == ~(request.assignor \subseteq Assignors)
=============================================================================
