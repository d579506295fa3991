---------------------------- MODULE MCKafkaRegex ----------------------------
(***************************************************************************)
(* RegexResolution (T1): Kafka resolves a regular expression in the        *)
(* background.  Until then its members subscribe to the topics of the last *)
(* resolution, at first to none; the group epoch is bumped when a          *)
(* resolution finds other topics.  The closed instance: each subscription  *)
(* is one regular expression, and members, network and disturbances are    *)
(* those of ClosedGroup.  Is that safe, and does the group converge?       *)
(*                                                                         *)
(* The configurations put the operators here in the place of those of the  *)
(* core: `TopicsOf <- ResolvedTopicsOf`, and so on.                        *)
(*                                                                         *)
(* Left out: names of topics beside the expression, several expressions,   *)
(* the duration and the number of resolutions.                             *)
(***************************************************************************)
EXTENDS MCKafkaClosed

VARIABLE
  \* Topics that each expression was resolved to; none where no member has it.
  \* @type: Str -> Set(Str);
  resolved

regexVars == <<vars, resolved>>
regexState == <<state, resolved>>

TheRegex == "f.*"
OneRegex == [r \in {TheRegex} |-> {"foo"}]

\* @type: ($member) => Set(Str);
ResolvedTopicsOf(member) ==
  {t \in Topics :
     \/ TopicName[t] \in member.subscription
     \/ member.regex # None /\ t \in resolved[member.regex]}

\* A member is given the part of its target that it subscribes to.
\* @type: ($group, Str) => Set($partition);
SubscribedTargetOf(g, m) ==
  {p \in Partitions : g.target[p] = m /\ p[1] \in ResolvedTopicsOf(g.members[m])}

\* E1: another expression is for the group to know once it is resolved.
\* @type: ($member, $member) => Bool;
BumpsWhenResolved(new, old) ==
  \/ new.subscription # old.subscription
  \/ new.regex # old.regex /\ ResolvedTopicsOf(new) # ResolvedTopicsOf(old)
  \/ new.assignor # old.assignor /\ Dialect.AssignorChangeBumps = "always"

\* @type: ($member) => Bool;
ResolvesToNothing(member) == ResolvedTopicsOf(member) = {}

\* @type: (Str, $client) => $request;
RegexRequestOf(m, client) ==
  [member |-> m, epoch |-> client.epoch, instance |-> {},
   owned |-> IF client.report /\ (ReportsWhileRevoking \/ client.owned \subseteq client.told)
             THEN {client.owned} ELSE {},
   subscription |-> IF client.report THEN {{}} ELSE {},
   regex |-> IF client.report THEN {IF client.subscription = {} THEN None ELSE TheRegex} ELSE {},
   assignor |-> {}]

Used(g, r) == \E m \in Members(g) : g.members[m].regex = r

\* T1, E1: the background work for `r` ends.
ResolveRegex(r) ==
  LET found == {t \in Topics : TopicName[t] \in Regexes[r] /\ topics[t] > 0} IN
  /\ Used(group, r) /\ found # resolved[r]
  /\ resolved' = [resolved EXCEPT ![r] = found]
  /\ CoordinatorStep(BumpGroupEpoch(group), EventStep("ResolveRegex", None, "", 0), {})
  /\ UNCHANGED <<topics, clients, responses, late, budget>>

RegexNext ==
  \/ /\ Next
     /\ resolved' = [r \in DOMAIN Regexes |-> IF Used(group', r) THEN resolved[r] ELSE {}]
  \/ \E r \in DOMAIN Regexes : ResolveRegex(r)

RegexInit == Init /\ resolved = [r \in DOMAIN Regexes |-> {}]
RegexSpec == RegexInit /\ [][RegexNext]_regexVars

\* R8: resolutions end, too.
FairRegexSpec ==
  /\ RegexSpec
  /\ \A m \in MemberIds : Recovery(m)
  /\ \A r \in DOMAIN Regexes : WF_regexState(ResolveRegex(r))

\* R8: with what its expression matches of the topics that there are.
RegexConverged ==
  \A m \in MemberIds :
    IF clients[m].up
    THEN /\ HasConverged(group, m)
         /\ clients[m].epoch = group.epoch
         /\ clients[m].owned = SubscribedTargetOf(group, m)
         /\ ResolvedTopicsOf(group.members[m])
              = {t \in Topics : TopicName[t] \in clients[m].subscription /\ topics[t] > 0}
    ELSE m \notin Members(group)

EventuallyResolved == <>[]RegexConverged
=============================================================================
