----------------------------- MODULE Conversions ----------------------------
(***************************************************************************)
(* Online migration (M1) of classic groups in full: the conversion of a    *)
(* group of ClassicCoordinator to a group of Migration, and back.          *)
(*                                                                         *)
(* A classic group is converted by way of the one "in short" that          *)
(* Migration has (InShort).  The partitions that a member owns, and their  *)
(* generation, are in its subscription, which the coordinator reads only   *)
(* here: they are strings among its topics, ClaimName and GenerationName.  *)
(* A subscription without a generation is of a version that is too old     *)
(* (M2).                                                                   *)
(*                                                                         *)
(* Decided here: where several members claim a partition, the member of    *)
(* the latest generation owns it, and among those the first.  Left out:    *)
(* user data (M4), assignments that cannot be read.                        *)
(***************************************************************************)
EXTENDS Migration

CONSTANTS
  \* As in ClassicGroups.
  \* @type: Str -> Int;
  MemberRank,
  \* @type: Bool;
  GenerationRecorded,
  \* @type: Int;
  Extensions,
  \* How a claim of a partition, and its generation, read in a subscription.
  \* @type: $partition -> Str;
  ClaimName,
  \* @type: Int -> Str;
  GenerationName

(*
  What a member of the classic protocol said in its last JoinGroup.
  @typeAlias: words = {protocols: Seq(Str), subscription: Set(Str)};
*)
Conversions_aliases == TRUE

Classic == INSTANCE ClassicCoordinator

\* @type: $words;
NoWords == [protocols |-> <<>>, subscription |-> {}]
\* @type: Str -> Str;
NoPhases == [m \in MemberIds |-> ""]

(***************************************************************************)
(* Subscriptions of members of the classic protocol                        *)
(***************************************************************************)

\* The names of all topics.
Names == {TopicName[t] : t \in Topics}
\* @type: (Set(Str)) => Set(Str);
TopicsIn(subscription) == Names \cap subscription
\* @type: (Set(Str)) => Set($partition);
ClaimedIn(subscription) == {p \in Partitions : ClaimName[p] \in subscription}
\* @type: (Set(Str)) => Bool;
IsTooOld(subscription) == \A g \in DOMAIN GenerationName : GenerationName[g] \notin subscription
\* @type: (Set(Str)) => Int;
GenerationIn(subscription) == CHOOSE g \in DOMAIN GenerationName : GenerationName[g] \in subscription
\* @type: (Set(Str), Set($partition), Int) => Set(Str);
SubscriptionText(names, owned, generation) == names \cup {ClaimName[p] : p \in owned} \cup {GenerationName[generation]}
\* @type: (Seq(Str)) => Set(Str);
NamesIn(protocols) == {protocols[i] : i \in DOMAIN protocols}

(***************************************************************************)
(* Conversion (M1)                                                         *)
(***************************************************************************)

\* M1: members that have been in a generation are brought along.
\* @type: ($classicGroup) => Set(Str);
Kept(c) == {m \in Classic!InGroup(c) : ~c.members[m].fresh}

\* R7: where several claim a partition, the claim of the latest generation.
\* @type: ($classicGroup, Str) => Set($partition);
BestClaims(c, m) ==
  LET Of(n) == c.members[n].subscription
      Beats(n) == \/ GenerationIn(Of(n)) > GenerationIn(Of(m))
                  \/ GenerationIn(Of(n)) = GenerationIn(Of(m)) /\ MemberRank[n] < MemberRank[m]
  IN {p \in ClaimedIn(Of(m)) : \A n \in Kept(c) \ {m} : p \in ClaimedIn(Of(n)) => ~Beats(n)}

\* The assignment of a member in the log.
\* @type: ($classicGroup, Str) => Set($partition);
SavedAssignment(c, m) == UNION UNION {s.members[m].assignment : s \in c.saved}

\* A classic group as Migration has it in short.
\* @type: ($classicGroup, Str -> Int) => $mixed;
InShort(c, topics) ==
  LET members == [m \in MemberIds |->
        IF m \notin Classic!InGroup(c) THEN NoMember
        ELSE [NoMember EXCEPT !.epoch = c.generation, !.instance = c.members[m].instance,
                              !.subscription = TopicsIn(c.members[m].subscription),
                              !.assigned = SavedAssignment(c, m)]]
      kept == [NoGroup EXCEPT !.members = [m \in MemberIds |-> IF m \in Kept(c) THEN members[m] ELSE NoMember]]
  IN [kind |-> "classic",
      phase |-> [m \in MemberIds |->
        IF m \notin Classic!InGroup(c) THEN ""
        ELSE IF c.members[m].fresh THEN "fresh" ELSE IF c.members[m].joining THEN "joined" ELSE "stable"],
      said |-> [m \in MemberIds |-> IF m \in Kept(c) THEN BestClaims(c, m) ELSE {}],
      group |-> [NoGroup EXCEPT !.epoch = c.generation, !.metadata = MetadataOf(kept, topics),
                                !.members = members]]

\* M1: the consumer group that results from a classic one; nothing is left of a
\* classic group that never had a generation.
\* @type: ($classicGroup, Str -> Int) => $mixed;
Upgraded(c, topics) ==
  IF c.generation > 0 THEN ConvertUp(InShort(c, topics))
  ELSE [kind |-> "consumer", phase |-> NoPhases, said |-> [m \in MemberIds |-> {}], group |-> NoGroup]

\* H5, M1, M2: the error of a join of the consumer protocol: a heartbeat's errors
\* have none for a group of another kind, so that it is INVALID_REQUEST.
\* @type: ($classicGroup) => Str;
UpgradeError(c) ==
  IF Classic!InGroup(c) # {} /\ c.type # "consumer" THEN Dialect.OtherKindError
  ELSE IF c.generation > 0 /\ \E m \in Kept(c) : IsTooOld(c.members[m].subscription)
  THEN "INVALID_REQUEST" ELSE "NONE"

\* All requests that wait are answered with the error to join again.
\* @type: ($classicGroup) => Set($answer);
RejoinAnswers(c) == UNION {Classic!Unanswered(c, m, m, "REBALANCE_IN_PROGRESS") : m \in Classic!InGroup(c)}

\* M1: the remaining members, in a classic group, with the partitions that they
\* hold as their claims.
\* @type: ($mixed, Str -> $words) => Str -> $classicMember;
BroughtBack(x, words) ==
  LET back == ConvertBack(x)
      Declares(m) == SubscriptionText(TopicsIn(words[m].subscription), back.said[m], back.group.epoch)
  IN [m \in MemberIds |->
        IF m \notin Members(back.group) THEN Classic!NoClassicMember
        ELSE [Classic!NoClassicMember EXCEPT
                !.place = "member", !.instance = back.group.members[m].instance,
                !.protocols = words[m].protocols, !.subscription = Declares(m)]]

\* M1: the classic group of these members.  The log has no assignment; all
\* members must rejoin.
\* @type: (Int, Str -> $classicMember) => $outcome;
BackToClassic(generation, members) ==
  LET group == [Classic!NoClassicGroup EXCEPT !.generation = generation, !.type = "consumer", !.members = members]
      there == Classic!InGroup(group)
      led == [group EXCEPT !.state = "Stable", !.leader = Classic!FirstMember(there)]
  IN IF there = {} THEN Classic!Same(Classic!Save([group EXCEPT !.state = "Empty"]))
     ELSE Classic!Prepare(Classic!Same(Classic!Save([led EXCEPT !.protocol = Classic!SelectProtocol(led)])))

\* @type: ($mixed, Str -> $words) => $classicGroup;
Downgraded(x, words) == BackToClassic(x.group.epoch, BroughtBack(x, words)).group

\* M1: has the group just been converted back?  Only then has a member claims
\* of this very generation: a member that joins a generation has claims of an
\* earlier one.
\* @type: ($classicGroup) => Bool;
ConvertedBack(c) ==
  \E s \in c.saved : \E m \in MemberIds :
    /\ s.type = "consumer" /\ s.members[m].there
    /\ s.generation \in DOMAIN GenerationName
    /\ GenerationName[s.generation] \in s.members[m].subscription

\* C2, M1: the group as a new coordinator loads it from the log.  A group that
\* has just been converted back has no leader to synchronise it: all members
\* must rejoin, as before.
\* @type: ($classicGroup) => $outcome;
LoadedClassic(c) ==
  LET loaded == Classic!ClassicAfterFailOver(c) IN
  IF loaded.state = "CompletingRebalance" /\ ConvertedBack(c)
  THEN Classic!Prepare(Classic!Same([loaded EXCEPT !.state = "Stable"]))
  ELSE Classic!Same(loaded)

\* M1, S1: the same as a process takes the place of the last member of the
\* consumer protocol: its JoinGroup waits for the others.
\* @type: ($mixed, Str -> $words, Str, $classicRequest) => $handled;
DowngradedBy(x, words, m, request) ==
  LET joins == Classic!JoinsWith([Classic!NoClassicMember EXCEPT
                                    !.place = "member", !.instance = TextOr(request.instance, None)], request)
  IN Classic!Waited("JoinGroup", "mixed-return", m, request,
                    BackToClassic(x.group.epoch, [BroughtBack(x, words) EXCEPT ![m] = joins]))

\* A classic group of these members that is stable: the first one has all, and
\* perhaps an instance id.
\* @type: (Set(Str), Seq(Str), Str) => $classicGroup;
StableGroup(members, protocols, instance) ==
  LET Member(m) == [Classic!NoClassicMember EXCEPT
        !.place = "member", !.instance = IF m = Classic!FirstMember(members) THEN instance ELSE None,
        !.protocols = protocols, !.subscription = SubscriptionText(Names, {}, NoGeneration),
        !.assignment = {IF m = Classic!FirstMember(members) THEN Partitions ELSE {}}]
  IN Classic!Save([Classic!NoClassicGroup EXCEPT
       !.state = "Stable", !.generation = 1, !.type = "consumer", !.protocol = protocols[1],
       !.leader = Classic!FirstMember(members),
       !.members = [m \in MemberIds |-> IF m \in members THEN Member(m) ELSE Classic!NoClassicMember]])
=============================================================================
