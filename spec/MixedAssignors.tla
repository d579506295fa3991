--------------------------- MODULE MixedAssignors ----------------------------
(***************************************************************************)
(* The open instance of online migration with client-side assignors (M4):  *)
(* members of the classic protocol that have user data for their assignor, *)
(* and consumers that join with assignors of their own.                    *)
(*                                                                         *)
(* The user data of a subscription, which a member of the classic protocol *)
(* has for its assignor, is one of its topics (Conversions): the string    *)
(* UserData.  Each of its protocols counts as an assignor of versions -1   *)
(* to -1, with that as metadata.  A consumer that joins with an assignor   *)
(* of the name must read -1 if a member has user data; so a consumer is    *)
(* chosen to compute, gets that metadata, and after its target all members *)
(* must rejoin.                                                            *)
(*                                                                         *)
(* Decided here: user data of several members is judged one by one;        *)
(* versions of members of the classic protocol exclude no other member's   *)
(* offer (A8). Left out: requests that change anything else of the group,  *)
(* departures among them (OpenMigration), errors of installs and time-outs *)
(* (OpenClient), metadata that an assignor sends to members of the classic *)
(* protocol.                                                               *)
(***************************************************************************)
EXTENDS OpenMigration, ClientAssignors

CONSTANTS
  \* How user data reads in a subscription, and as metadata.
  \* @type: Str;
  UserData,
  \* @type: Str;
  UserDataBytes,
  \* Sets of members that have user data at the start.
  \* @type: Set(Set(Str));
  HaveUserData,
  \* Assignors that a join of the consumer protocol may offer.
  \* @type: Set(Seq($offer));
  OfferLists

VARIABLES
  \* @type: $computation;
  computation,
  \* Assignors in the last request and its answer; not part of the state.
  \* @type: $clientStep;
  clientStep

assignorVars == <<vars, computation, clientStep>>
assignorView == <<view, computation>>

(***************************************************************************)
(* Assignors that members offer (M4)                                       *)
(***************************************************************************)

\* M4: the protocols of a member of the classic protocol.
\* @type: ($words) => Seq($offer);
AsOffers(said) ==
  [i \in DOMAIN said.protocols |->
     [name |-> said.protocols[i], min |-> -1, max |-> -1, version |-> -1, reason |-> 0,
      metadata |-> IF UserData \in said.subscription THEN UserDataBytes ELSE ""]]

\* The computation of a group, with what its members of the classic protocol offer.
\* @type: ($mixed, Str -> $words) => $computation;
ComputationOf(x, said) ==
  [computation EXCEPT !.offers =
     [m \in MemberIds |-> IF x.phase[m] # "" THEN AsOffers(said[m]) ELSE computation.offers[m]]]

\* M4: does one of the classic protocol have metadata, while such an assignor, of
\* whatever name, does not read version -1?
\* @type: ($mixed, $computation, Str, Seq($offer)) => Bool;
CannotRead(x, c, m, offers) ==
  \E i \in DOMAIN offers, n \in ClassicMembers(x) \ {m} :
    offers[i].min > -1 /\ \E j \in DOMAIN c.offers[n] : c.offers[n][j].metadata # ""

\* Step 1, as in Coordinator, with H3, M4 and A8.
\* @type: ($mixed, $computation, Str, $request, Seq($offer)) => $updated;
UpdateJoiningOffers(x, c, m, request, offers) ==
  IF InvalidOffers(offers) \/ CannotRead(x, c, m, offers) THEN Updated(x.group, "INVALID_REQUEST", "invalid", FALSE)
  ELSE IF OverlapsNone(x.group, c, {m} \cup ClassicMembers(x), offers)
  THEN Updated(x.group, "UNSUPPORTED_ASSIGNOR", "unsupported", FALSE)
  ELSE UpdateMember(x.group, topics, m, request)

(***************************************************************************)
(* Requests                                                                *)
(***************************************************************************)

\* M1, M4: a join of the consumer protocol to a group `x`, perhaps to one that
\* the same join converts from a classic group (`through`); a target that a
\* member must compute is left to that member (A1).
\* @type: ($mixed, Str -> $words, Str, Seq($offer), Set($answer), $group) => Bool;
JoinOffering(x, said, m, offers, answers, through) ==
  LET request == [NoRequest EXCEPT !.member = m, !.owned = {{}}, !.subscription = {Names}] IN
  \E c \in {ComputationOf(x, said)} :
  \E updated \in {UpdateJoiningOffers(x, c, m, request, offers)} :
    LET before == IF c.chosen = m THEN Idle(c) ELSE c
        joined == [before EXCEPT !.offers[m] = offers, !.told[m] = NoNews]
        Answer(installed, settled) ==
          \E h \in {HandleOffering(x.group, m, request, updated, installed, settled, {offers})} :
            /\ IsConsumer(AfterHeartbeat(x, m, h.group, h.step.response), said, h.step,
                          [NoRequestOf(h.step.action, m) EXCEPT !.completed = answers], through)
            /\ computation' = h.computation /\ clientStep' = h.clientStep
    IN IF updated.error = "NONE" THEN UpdateClientTarget(updated.group, joined, Answer)
       ELSE /\ Refused(m, request, updated.error)
            /\ clientStep' = [NoClientStep EXCEPT !.offers = {offers}]
            /\ UNCHANGED computation

\* A join with offers, to a group of either protocol.
\* @type: (Str, Seq($offer)) => Bool;
JoinsOffering(m, offers) ==
  IF IsClassic
  THEN \E x \in {Upgraded(classic, topics)} :
         JoinOffering(x, ClassicWords, m, offers, RejoinAnswers(classic), x.group)
  ELSE JoinOffering(Mixed, words, m, offers, {}, NoGroup)

OfferingJoin == \E m \in MemberIds, offers \in OfferLists : JoinsOffering(m, offers)

\* A step of the member that computes.
\* @type: (Str) => $step;
Computes(action) ==
  LET m == computation.chosen IN
  [NoStep EXCEPT !.action = action, !.member = m, !.branch = "NONE",
                 !.request = [NoRequest EXCEPT !.member = m, !.epoch = consumer.members[m].epoch],
                 !.response = [NoResponse EXCEPT !.error = "NONE"]]

\* A5, M4: the member that computes gets the user data of members of the
\* classic protocol, too.
PrepareAssignment ==
  /\ computation.chosen # None
  /\ computation' = Prepared(consumer, computation)
  /\ clientStep' = NoClientStep
  /\ IsConsumer(Mixed, words, Computes("PrepareAssignment"), NoRequestOf("PrepareAssignment", computation.chosen),
                NoGroup)

\* A6, M3: everybody else must rejoin, for the target that it has computed: each
\* partition and its owner.
\* @type: (Set(<<Str, $partition>>)) => Bool;
Installs(assignment) ==
  LET carried == [NoClientStep EXCEPT !.groupEpoch = computation.base.epoch, !.assignment = assignment]
      installed == Installed(consumer, computation, carried)
  IN /\ computation.prepared
     /\ InstallError(consumer, computation, computation.chosen, consumer.members[computation.chosen].epoch,
                     carried) = "NONE"
     /\ computation' \in Settle(installed, NewsByInstall(consumer, computation, carried))
     /\ clientStep' = carried
     /\ IsConsumer(FollowPhases([Mixed EXCEPT !.group = installed]), words, Computes("InstallAssignment"),
                   NoRequestOf("InstallAssignment", computation.chosen), NoGroup)

InstallAssignment ==
  \E owner \in [Partitions -> MemberIds] : Installs({<<owner[p], p>> : p \in Partitions})

\* M2: the member is told to go on, or to rejoin.
\* @type: (Str, Int) => Bool;
HeartbeatWith(m, generation) ==
  /\ Exists(consumer)
  /\ HeartbeatMixed(m, [Classic!NoClassicRequest EXCEPT !.member = m, !.generation = generation])
  /\ clientStep' = NoClientStep
  /\ UNCHANGED computation

OfferingHeartbeat == \E m \in MemberIds, generation \in RequestGenerations : HeartbeatWith(m, generation)

\* A request that neither causes the computation of a target nor changes the
\* offered assignors.
Undisturbed ==
  /\ Exists(consumer')
  /\ consumer'.epoch = consumer.epoch /\ consumer'.assignmentEpoch = consumer.assignmentEpoch
  /\ clientStep' = NoClientStep
  /\ UNCHANGED computation

\* M2: a member of the classic protocol rejoins, with the fields of its last
\* request.
\* @type: (Str, Int, Set($partition)) => Bool;
Rejoins(m, generation, owned) ==
  /\ Exists(consumer) /\ phase[m] # ""
  /\ JoinMixed(m, [Classic!NoClassicRequest EXCEPT
                     !.member = m, !.type = {"consumer"}, !.protocols = words[m].protocols,
                     !.subscription = SubscriptionText(Names, owned, generation) \cup ({UserData} \cap words[m].subscription)])
  /\ Undisturbed

\* M2: it gets its assignment.
\* @type: (Str, Int) => Bool;
Syncs(m, generation) ==
  /\ Exists(consumer)
  /\ SyncMixed(m, [Classic!NoClassicRequest EXCEPT !.member = m, !.generation = generation])
  /\ Undisturbed

\* A member of the consumer protocol reports its owned partitions, once no
\* member computes.
\* @type: (Str, Int, Set($partition)) => Bool;
Reports(m, epoch, owned) ==
  /\ Exists(consumer) /\ phase[m] = "" /\ computation.chosen = None
  /\ Handled(Mixed, words, m, [NoRequest EXCEPT !.member = m, !.epoch = epoch, !.owned = {owned}], {}, NoGroup)
  /\ Undisturbed

\* Every member does what its protocol asks for; an eager member owns nothing.
FollowsItsProtocol ==
  \E m \in Members(consumer) :
    \E epoch \in {consumer.members[m].epoch}, owned \in {{}, consumer.members[m].assigned} :
      Rejoins(m, epoch, owned) \/ Syncs(m, epoch) \/ Reports(m, epoch, owned)

\* A stable classic group of these members, of which some have user data.
\* @type: (Set(Str), Seq(Str), Set(Str), Str -> Int) => Bool;
StartsWith(members, protocols, have, counts) ==
  /\ LET stable == StableGroup(members, protocols, None)
         ReportOf(m) == stable.members[m].subscription \cup (IF m \in have THEN {UserData} ELSE {})
     IN classic = Classic!Save([stable EXCEPT !.members = [m \in MemberIds |->
          IF m \in members THEN [stable.members[m] EXCEPT !.subscription = ReportOf(m)] ELSE stable.members[m]]])
  /\ consumer = NoGroup /\ phase = NoPhases /\ words = [m \in MemberIds |-> NoWords]
  /\ topics = counts
  /\ step = NoStep /\ classicStep = Classic!NoClassicStep /\ converted = NoGroup
  /\ computation = NoComputation /\ clientStep = NoClientStep

AssignorInit ==
  \E members \in InitialMembers, protocols \in ProtocolLists, have \in HaveUserData :
    StartsWith(members, protocols, have, ClusterTopics)

AssignorNext == OfferingJoin \/ PrepareAssignment \/ InstallAssignment \/ OfferingHeartbeat \/ FollowsItsProtocol

(***************************************************************************)
(* Properties                                                              *)
(***************************************************************************)

\* Subscriptions of the others that use the classic protocol.
\* @type: (Str) => Set($words);
WordsOfOthers(m) ==
  IF IsClassic THEN {ClassicWords[n] : n \in Kept(classic) \ {m}}
  ELSE {words[n] : n \in {k \in MemberIds \ {m} : phase[k] # ""}}

\* M4: a join is refused exactly where it offers an assignor that begins above
\* version -1, of whatever name, and a member has user data.
UnreadableIsRefused ==
  [][step'.action \in {"Join", "Rejoin"} =>
       \A offers \in clientStep'.offers :
         LET unreadable == \E i \in DOMAIN offers, said \in WordsOfOthers(step'.member) :
               offers[i].min >= 0 /\ UserData \in said.subscription
         IN /\ (step'.response.error = "INVALID_REQUEST") = unreadable
            /\ unreadable => UNCHANGED assignorView]_assignorVars

\* M4: metadata of members of the classic protocol has version -1, and is their
\* user data.
PreparedAsVersionMinusOne ==
  [][step'.action = "PrepareAssignment" =>
       \A m \in ClassicMembers(Mixed) :
         LET offer == computation'.base.members[m].offer IN
         /\ offer.version = -1 /\ offer.name = computation'.base.assignor
         /\ offer.metadata = IF UserData \in words[m].subscription THEN UserDataBytes ELSE ""]_assignorVars

\* M4, A5: only an assignor that reads the metadata of all members computes,
\* and so none of the classic protocol.
ChosenReadsAll ==
  computation.chosen # None =>
    /\ phase[computation.chosen] = ""
    /\ \E i \in DOMAIN computation.offers[computation.chosen] :
         LET offer == computation.offers[computation.chosen][i] IN
         /\ ClassicMembers(Mixed) # {} => offer.min = -1
         /\ \A m \in ClassicMembers(Mixed) : offer.name \in NamesIn(words[m].protocols)

\* M3: while a target is being computed no member is told to rejoin for it;
\* once the target is installed all members of the classic protocol are, and so
\* is a member that waits for more of it.
RejoinForWhatIsInstalled ==
  \A m \in ClassicMembers(Mixed) :
    LET behind == consumer.members[m].epoch < consumer.assignmentEpoch IN
    /\ phase[m] = "stable" => ~behind
    /\ phase[m] = "prepare" => behind \/ TargetOf(consumer, m) \ consumer.members[m].assigned # {}

\* M3: all of them, whether or not the target changes their partitions, except
\* a member that has rejoined and must give partitions up.
InstallingRejoinsAll ==
  [][step'.action = "InstallAssignment" =>
       \A m \in ClassicMembers(Mixed) :
         phase'[m] = "prepare" \/ (phase[m] = "complete" /\ consumer.members[m].revoking # {})]_assignorVars
=============================================================================
