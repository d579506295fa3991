------------------------- MODULE MigrationProperties ------------------------
(***************************************************************************)
(* Properties of every group that migrates, and of each of its steps,      *)
(* whatever requests there are (OpenMigration).  Those of a classic group  *)
(* alone are in ClassicProperties, those of a consumer group without       *)
(* members of the classic protocol in GroupProperties.                     *)
(***************************************************************************)
EXTENDS OpenMigration

\* A group is of one kind at a time.
OneKind == ~(IsClassic /\ Exists(consumer))

\* M1: a consumer group has a member of the consumer protocol, or no members.
KindFollowsMembers == Members(consumer) # {} => ClassicMembers(Mixed) # Members(consumer)

\* R7, coordinator's view.
NoDoubleHolding == \A m, n \in MemberIds : m # n => Held(consumer, m) \cap Held(consumer, n) = {}

\* E4.
EpochsInOrder ==
  /\ consumer.assignmentEpoch <= consumer.epoch
  /\ \A m \in Members(consumer) : consumer.members[m].epoch <= consumer.assignmentEpoch

\* M2: only a member that has sent a subscription must rejoin or owes a
\* SyncGroup.
PhasesOfMembers ==
  \A m \in MemberIds :
    /\ phase[m] # "" => m \in Members(consumer)
    /\ (phase[m] # "") = (words[m] # NoWords)

(***************************************************************************)
(* Members that must rejoin (M3)                                           *)
(***************************************************************************)

\* Partitions of a member's target that it does not have.
\* @type: ($group, Str) => Set($partition);
Lacks(g, m) == TargetOf(g, m) \ g.members[m].assigned

\* M3: no member of the classic protocol is left behind unless it is told so. A
\* stable member knows the last target, holds nothing else, and waits for
\* partitions that others hold; a member that has rejoined is behind only while
\* it must give partitions up.
WhoMustRejoinIsTold ==
  \A m \in ClassicMembers(Mixed) :
    LET member == consumer.members[m] IN
    /\ phase[m] = "stable" =>
         /\ member.epoch = consumer.epoch
         /\ Held(consumer, m) \subseteq TargetOf(consumer, m)
         /\ Lacks(consumer, m) # {} => Lacks(consumer, m) \cap HeldByOthers(consumer, m) # {}
    /\ phase[m] = "complete" => member.epoch = consumer.epoch \/ member.revoking # {}

\* M3: there is something that the member must rejoin for.
\* @type: ($group, Str) => Bool;
HasToRejoin(g, m) ==
  \/ g.members[m].epoch < g.epoch
  \/ ~(g.members[m].assigned \subseteq TargetOf(g, m))
  \/ Lacks(g, m) # {} /\ Lacks(g, m) \cap HeldByOthers(g, m) = {}

\* M3: no other member is told to rejoin: neither twice for the same target,
\* nor before all partitions are free.
NobodyRejoinsInVain ==
  [][\A m \in MemberIds :
       phase'[m] = "prepare" /\ (phase[m] # "prepare" \/ step'.action = "FailOver") => HasToRejoin(consumer', m)]_vars

(***************************************************************************)
(* Answers to requests of the classic protocol (M2)                        *)
(***************************************************************************)

\* The member and its instance id, if any, are in the consumer group, and it
\* uses the classic protocol.
\* @type: ($classicRequest) => Bool;
IsItself(request) ==
  /\ request.member \in Members(consumer) /\ phase[request.member] # ""
  /\ \A i \in request.instance : consumer.members[request.member].instance = i

\* M2, S2: a Heartbeat tells a member to rejoin exactly while it must, a
\* SyncGroup never; a request of a wrong generation, or of no member, gets its
\* error first.
RebalanceIsTold ==
  [][Exists(consumer) /\ step'.action \in {"SyncGroup", "ClassicHeartbeat"} =>
       LET request == classicStep'.request
           error == classicStep'.response.error
           current == request.generation = consumer.members[request.member].epoch
           held == \E i \in request.instance : \E n \in Members(consumer) : consumer.members[n].instance = i
       IN IF ~IsItself(request)
          THEN error = IF held /\ consumer.members[request.member].instance \notin request.instance
                       THEN "FENCED_INSTANCE_ID" ELSE "UNKNOWN_MEMBER_ID"
          ELSE LET told == step'.action = "ClassicHeartbeat" /\ phase[request.member] = "prepare"
               IN /\ (error = "ILLEGAL_GENERATION") = ~current
                  /\ (error = "REBALANCE_IN_PROGRESS") = (current /\ told)
                  /\ (error = "NONE") = (current /\ ~told)]_vars

\* M2: the answer to a SyncGroup has the partitions that the member may use
\* now; a member that is behind its target gets only those that it already has,
\* too.  A SyncGroup ends the rebalance of a member that owes it; a member that
\* must rejoin still must.  A Heartbeat changes nothing, and neither does a
\* refused request.
SyncEndsTheRebalance ==
  [][Exists(consumer) /\ step'.action \in {"SyncGroup", "ClassicHeartbeat"} =>
       LET m == step'.member
           synced == step'.action = "SyncGroup" /\ classicStep'.response.error = "NONE"
       IN /\ UNCHANGED <<consumer, words>>
          /\ \A n \in MemberIds : phase'[n] # phase[n] => n = m /\ synced
          /\ synced =>
               LET member == consumer.members[m]
                   behind == member.epoch < consumer.assignmentEpoch
               IN /\ phase'[m] # "complete" /\ (phase[m] = "prepare" => phase'[m] = "prepare")
                  /\ classicStep'.response.assignment =
                       {{p \in member.assigned : behind => p \in TargetOf(consumer, m)}}]_vars

\* M2: is a JoinGroup one of a consumer that all other members can be in a group
\* with?
\* @type: ($classicRequest) => Bool;
FitsTheOthers(request) ==
  LET replaced == {n \in Members(consumer) : consumer.members[n].instance \in request.instance}
      others == {n \in Members(consumer) : phase[n] # ""} \ (replaced \cup {request.member})
  IN /\ request.type = {"consumer"}
     /\ \E g \in DOMAIN GenerationName : GenerationName[g] \in request.subscription
     /\ \E p \in NamesIn(request.protocols) : \A n \in others : p \in NamesIn(words[n].protocols)

\* M2, H6: generations that a JoinGroup of a member may have: the current one, the
\* one before (a lost answer) while it owns no more than its target, or none.
\* @type: (Str, $classicRequest) => Bool;
MayRejoin(m, request) ==
  LET generation == GenerationIn(request.subscription) IN
  \/ generation \in {NoGeneration, consumer.members[m].epoch}
  \/ /\ generation = consumer.members[m].previousEpoch
     /\ ClaimedIn(request.subscription) \subseteq TargetOf(consumer, m)

\* M2, C1: the error of a JoinGroup to a group with members.
JoinIsRefusedFor ==
  [][step'.action = "JoinGroup" /\ Members(consumer) # {} =>
       LET request == classicStep'.request
           m == request.member
           error == classicStep'.response.error
           fits == FitsTheOthers(request)
           new == request.member \notin Members(consumer)
       IN /\ (error = "INCONSISTENT_GROUP_PROTOCOL") = ~fits
          /\ (error = "MEMBER_ID_REQUIRED") = (fits /\ m = None /\ request.instance = {})
          /\ (error = "UNKNOWN_MEMBER_ID") =
               (fits /\ m # None /\ (IF new THEN GenerationIn(request.subscription) # NoGeneration ELSE phase[m] = ""))
          /\ (error = "ILLEGAL_GENERATION") = (fits /\ m # None /\ ~new /\ phase[m] # "" /\ ~MayRejoin(m, request))
          /\ error \notin {"NONE", ""} => UNCHANGED view]_vars

\* M2: a JoinGroup has the member's fields from then on, and its answer has the
\* member's new epoch: that of the target, with all of its partitions that are
\* free; or (R1) the epoch that the member had, while it must give up
\* partitions that it claims (a request of the previous generation acknowledges
\* nothing, H6).  The member owes its SyncGroup then.  A member that is new, or
\* begins anew, owns nothing and bumps the epoch (E1); a member that takes a
\* place (S1) or changes no field does not. The member has acknowledged its
\* assignment if it claims just that (R5).
JoinIsTranslated ==
  [][step'.action = "JoinGroup" /\ Members(consumer) # {} /\ classicStep'.response.error = "NONE" /\ Exists(consumer') =>
       LET m == step'.member
           request == classicStep'.request
           member == consumer'.members[m]
           replaced == {n \in Members(consumer) : consumer.members[n].instance \in request.instance}
           anew == GenerationIn(request.subscription) = NoGeneration /\ replaced = {}
           before == {consumer.members[n].subscription : n \in replaced \cup {m}}
       IN /\ phase'[m] = "complete"
          /\ consumer'.epoch = consumer.epoch + (IF anew \/ member.subscription \notin before THEN 1 ELSE 0)
          /\ words'[m] = [protocols |-> request.protocols, subscription |-> request.subscription]
          /\ member.subscription = TopicsIn(request.subscription)
          /\ classicStep'.response.generation = member.epoch
          /\ ClaimedIn(request.subscription) \cap Held(consumer, m) \subseteq Held(consumer', m)
          /\ m \in Members(consumer) /\ GenerationIn(request.subscription) = consumer.members[m].epoch =>
               member.acknowledged = (member.assigned = consumer.members[m].assigned
                                        /\ member.assigned = ClaimedIn(request.subscription))
          /\ IF member.revoking = {}
             THEN /\ member.epoch = consumer'.epoch
                  /\ member.assigned = TargetOf(consumer', m) \ HeldByOthers(consumer', m)
             ELSE /\ ~anew /\ member.epoch = consumer.members[m].epoch
                  /\ Held(consumer', m) = Held(consumer, m)
                  /\ \/ ClaimedIn(request.subscription) \cap member.revoking # {}
                     \/ GenerationIn(request.subscription) # member.epoch]_vars

\* M2, R1: a member that must give up partitions keeps those of its assignment
\* that the target has, also where the target changes during a revocation.
JoinRevokesBeyondTarget ==
  [][step'.action = "JoinGroup" /\ Members(consumer) # {} /\ classicStep'.response.error = "NONE" /\ Exists(consumer') =>
       LET m == step'.member
           member == consumer'.members[m]
       IN member.revoking # {} =>
            member.assigned = consumer.members[m].assigned \cap TargetOf(consumer', m)]_vars

\* M1: a group without members becomes a classic one as soon as a process
\* begins to join with that protocol; the generation is the epoch.
EmptyChangesKind ==
  [][Exists(consumer) /\ Members(consumer) = {} /\ step'.action = "JoinGroup" =>
       /\ ~Exists(consumer') = (classicStep'.request.member = None)
       /\ ~Exists(consumer') => classic'.generation = consumer.epoch]_vars

\* M2: a LeaveGroup, a time-out or a session ends the membership.
WhoGoesIsGone ==
  [][Exists(consumer) /\ (\/ step'.action \in {"SessionTimeout", "RebalanceTimeout", "JoinTimeout", "SyncTimeout"}
                          \/ step'.action = "LeaveGroup" /\ classicStep'.response.error = "NONE") =>
       /\ step'.member \in Members(consumer)
       /\ step'.member \notin Members(consumer') \cup Classic!InGroup(classic')
       /\ step'.action = "JoinTimeout" => phase[step'.member] = "prepare"
       /\ step'.action = "SyncTimeout" => phase[step'.member] = "complete"
       /\ step'.action = "LeaveGroup" => phase[step'.member] # ""
       /\ Exists(consumer') => consumer'.epoch = consumer.epoch + 1]_vars

\* M2: one of the classic protocol may leave.
LeaveIsRefusedFor ==
  [][Exists(consumer) /\ step'.action = "LeaveGroup" =>
       classicStep'.response.error =
         IF step'.member \in Members(consumer) /\ phase[step'.member] # "" THEN "NONE" ELSE "UNKNOWN_MEMBER_ID"]_vars

(***************************************************************************)
(* Answers to requests of the consumer protocol (M1)                       *)
(***************************************************************************)

\* The actions of a ConsumerGroupHeartbeat that joins.
Joins == {"Join", "Rejoin", "Return"}

\* M1, H5: a sender that does not join is no member of a classic group, and a
\* member of the classic protocol is no member of the consumer protocol; a sender
\* that joins is.
ConsumersAreMembers ==
  [][/\ step'.action \in {"Heartbeat", "Leave"} =>
          /\ ~Exists(consumer) => step'.response.error = Dialect.UnknownGroupError
          /\ phase[step'.member] # "" => step'.response.error = "UNKNOWN_MEMBER_ID" /\ UNCHANGED view
     /\ step'.action \in Joins /\ step'.response.error = "NONE" =>
          step'.member \in Members(consumer') /\ phase'[step'.member] = ""]_vars

\* M1, M2: the error of a join that would convert a group: some members are no
\* consumers, or have been in a generation with a protocol that is too old.
UpgradeIsRefusedFor ==
  [][IsClassic /\ step'.action \in Joins =>
       LET others == classic.type # "consumer" /\ Classic!InGroup(classic) # {}
           old == \E m \in Kept(classic) :
                    \A g \in DOMAIN GenerationName : GenerationName[g] \notin classic.members[m].subscription
       IN /\ others => step'.response.error = Dialect.OtherKindError
          /\ ~others => (step'.response.error = "INVALID_REQUEST") = (old /\ classic.generation > 0)
          /\ step'.response.error = "GROUP_ID_NOT_FOUND" => others
          /\ step'.response.error # "NONE" => UNCHANGED view]_vars

(***************************************************************************)
(* Conversion (M1)                                                         *)
(***************************************************************************)

\* M1, E4: no step but the deletion of the group takes its epoch back, and no
\* conversion does.
EpochsNeverDecrease ==
  [][step'.action # "DeleteGroup" => consumer'.epoch + classic'.generation >= consumer.epoch + classic.generation]_vars

Upgrades == IsClassic /\ consumer'.epoch > 0
Downgrades == Exists(consumer) /\ classic'.state \notin {"Dead", "Empty"}

\* M1, R7: a member that has not rejoined since owns its assignment in the log
\* after an upgrade; no partition belongs to two members.
UpgradeKeepsAssignments ==
  [][Upgrades =>
       /\ \A m \in Kept(classic) :
            ~classic.members[m].joining => SavedAssignment(classic, m) \subseteq Held(converted', m)
       /\ \A m, n \in MemberIds : m # n => Held(converted', m) \cap Held(converted', n) = {}]_vars

\* M1, R7: a partition that some member claims is held, by the member to which
\* the log assigns it or by a member that claims it; no other claim is of a
\* later generation.
UpgradeKeepsClaims ==
  [][Upgrades /\ classic.generation > 0 =>
       LET Declares(m, p) == p \in ClaimedIn(classic.members[m].subscription)
           Since(m) == GenerationIn(classic.members[m].subscription)
           Has(m, p) == ~classic.members[m].joining /\ p \in SavedAssignment(classic, m)
       IN \A p \in Partitions :
            /\ (\E m \in Kept(classic) : Declares(m, p)) => \E m \in Kept(classic) : p \in Held(converted', m)
            /\ \A m \in Kept(classic) : p \in Held(converted', m) =>
                 \/ Has(m, p)
                 \/ Declares(m, p) /\ \A n \in Kept(classic) : Declares(n, p) => Since(n) <= Since(m)]_vars

\* M1: the epochs are the generation; each process of that generation is a
\* member with the fields of its last request, and holds its target; a process
\* that joins then bumps the epoch, except in the place of another (S1).
UpgradeKeepsMembers ==
  [][Upgrades /\ classic.generation > 0 =>
       /\ converted'.epoch = classic.generation /\ converted'.assignmentEpoch = classic.generation
       /\ Members(converted') = Kept(classic)
       /\ \A m \in Kept(classic) :
            /\ converted'.members[m].epoch = classic.generation
            /\ converted'.members[m].instance = classic.members[m].instance
            /\ converted'.members[m].assigned = TargetOf(converted', m)
       /\ \A m \in MemberIds : phase'[m] # "" =>
            words'[m] = [protocols |-> classic.members[m].protocols, subscription |-> classic.members[m].subscription]
       /\ consumer'.epoch = classic.generation + (IF step'.action = "Return" THEN 0 ELSE 1)]_vars

\* M1, C1: nothing waits for an answer that never comes.
UpgradeAnswersAll ==
  [][Upgrades =>
       /\ {a.member : a \in classicStep'.completed} =
            {m \in Classic!InGroup(classic) : classic.members[m].joining \/ classic.members[m].syncing}
       /\ \A a \in classicStep'.completed : a.response.error = "REBALANCE_IN_PROGRESS"]_vars

\* M1, R7: a member that is converted back claims the partitions that it held.
DowngradeKeepsHeld ==
  [][Downgrades /\ Members(consumer) # {} =>
       \A m \in Kept(classic') \cap Members(consumer) :
         ClaimedIn(classic'.members[m].subscription) = Held(consumer, m)]_vars

\* M1: all members of the classic protocol are converted back as they are, and
\* no member of the other protocol; the generation is the epoch, and they must
\* rejoin: the log assigns nothing to them.
DowngradeKeepsMembers ==
  [][Downgrades /\ Members(consumer) # {} =>
       LET there == Classic!InGroup(classic') \cap Members(consumer) IN
       /\ there = {m \in Members(consumer) : phase[m] # ""}
       /\ \A m \in there :
            /\ classic'.members[m].protocols = words[m].protocols
            /\ classic'.members[m].instance = consumer.members[m].instance
            /\ TopicsIn(classic'.members[m].subscription) = consumer.members[m].subscription
            /\ GenerationIn(classic'.members[m].subscription) = consumer.epoch
            /\ ~classic'.members[m].joining /\ SavedAssignment(classic', m) = {}
       /\ classic'.type = "consumer"
       /\ IF there = {} THEN classic'.state = "CompletingRebalance" /\ classic'.generation = consumer.epoch + 1
          ELSE classic'.state = "PreparingRebalance" /\ classic'.generation = consumer.epoch]_vars

(***************************************************************************)
(* Fail-over (P2)                                                          *)
(***************************************************************************)

\* P2: the partitions that members hold, their epochs and their subscriptions are
\* in the log; a SyncGroup that a member owes is not.
FailOverKeepsMembers ==
  [][step'.action = "FailOver" /\ Exists(consumer) =>
       /\ UNCHANGED words
       /\ \A m \in MemberIds :
            /\ phase'[m] # "complete"
            /\ Held(consumer', m) = Held(consumer, m)
            /\ consumer'.members[m].epoch = consumer.members[m].epoch]_vars

\* M1, P3: a group that is converted back is in the log as it is, with each of
\* its members.
DowngradeIsSaved ==
  [][Downgrades /\ Members(consumer) # {} =>
       \E s \in classic'.saved :
         /\ s.generation \in {consumer.epoch, classic'.generation} /\ s.type = "consumer"
         /\ \A m \in MemberIds :
              /\ s.members[m].there = (m \in Classic!InGroup(classic'))
              /\ s.members[m].instance = classic'.members[m].instance
              /\ s.members[m].subscription = classic'.members[m].subscription]_vars

\* M1, C2, P2: where a group has just been converted back, all of its members
\* must rejoin after a fail-over, too; no member waits for a SyncGroup of the
\* leader.
FailOverStillRejoins ==
  [][step'.action = "FailOver" /\ classic.state = "PreparingRebalance" /\ ConvertedBack(classic) =>
       /\ classic'.state = "PreparingRebalance" /\ classic'.generation = classic.generation
       /\ \A m \in Classic!InGroup(classic') : ~classic'.members[m].owesSync]_vars

\* M1, S1: a consumer that joins with the instance id of a member of the classic
\* protocol takes that member's place and target at once, without a bump.
PlaceMovesToConsumer ==
  [][Exists(consumer) /\ step'.action \in Joins =>
       \A n \in Members(consumer) :
         phase[n] # "" /\ consumer.members[n].instance \in step'.request.instance =>
           LET m == step'.member IN
           /\ step'.response.error = "NONE" /\ n \notin Members(consumer')
           /\ phase'[m] = "" /\ consumer'.members[m].instance = consumer.members[n].instance
           /\ consumer'.epoch = consumer.epoch /\ TargetOf(consumer', m) = TargetOf(consumer, n)]_vars

\* S2: no two members have the same instance id.
OneOfEachInstance ==
  \A m, n \in Members(consumer) :
    m # n => consumer.members[m].instance = None \/ consumer.members[m].instance # consumer.members[n].instance

(***************************************************************************)
(* The fields of answers, time-outs, and what a fail-over leaves           *)
(***************************************************************************)

\* C1, M2: an answer to a JoinGroup names the sender, with the id that was made
\* for it, and so does one to a LeaveGroup; an accepted JoinGroup or SyncGroup is
\* answered with the protocol that the member prefers.  An error has no other
\* field (H9).
AnswersHaveTheirFields ==
  [][Members(consumer) # {} /\ Exists(consumer') =>
       LET m == step'.member
           response == classicStep'.response
           joins == step'.action = "JoinGroup"
           named == response.error \in {"NONE", "MEMBER_ID_REQUIRED"}
       IN /\ joins => response.member = IF named THEN m ELSE classicStep'.request.member
          /\ step'.action = "LeaveGroup" => response.member = m
          /\ (joins \/ step'.action = "SyncGroup") /\ response.error = "NONE" =>
               response.type = "consumer" /\ response.protocol = words'[m].protocols[1]
          /\ step'.response.error \notin {"", "NONE"} =>
               step'.response.member = None /\ step'.response.epoch = 0 /\ step'.response.assignment = {}]_vars

\* R4: the rebalance time-out removes a member only while it has something to
\* give up.
TimeoutOfARevocation ==
  [][step'.action = "RebalanceTimeout" =>
       Held(consumer, step'.member) # consumer.members[step'.member].assigned]_vars

\* E5: only a group without members is deleted, and nothing is left of it.
EmptyIsDeleted ==
  [][step'.action = "DeleteGroup" =>
       /\ Members(consumer) = {} /\ Classic!InGroup(classic) = {}
       /\ ~Exists(consumer') /\ ~IsClassic']_vars

\* P2: no record has a member's previous epoch (H6), its acknowledgement (R5), or
\* the requests that wait; partitions to give up follow from the target (R4).  A
\* classic group that goes on rebalancing waits for no new members.
FailOverForgets ==
  [][step'.action = "FailOver" =>
       /\ \A m \in Members(consumer) :
            LET member == consumer'.members[m] IN
            /\ member.previousEpoch = 0 /\ ~member.acknowledged
            /\ member.revoking = Held(consumer, m) \ TargetOf(consumer, m)
       /\ \A m \in MemberIds :
            LET member == classic'.members[m] IN
            member.place # "pending" /\ ~member.joining /\ ~member.syncing
       /\ ~classic'.initial]_vars

\* M1, P3: a group that is converted back is in the log with a leader among its
\* members and a protocol that all of them have: a new coordinator needs both.
DowngradeSavesItsProtocol ==
  [][Downgrades /\ Members(consumer) # {} =>
       \E s \in classic'.saved :
         /\ s.leader \in Classic!InGroup(classic')
         /\ \A m \in Classic!InGroup(classic') : s.protocol \in NamesIn(classic'.members[m].protocols)]_vars

\* M1, S1: a process of the classic protocol that takes the place of the last
\* member of the other protocol is a member, with its fields; it waits for the
\* others, or is in the next generation where there are none.
LastPlaceIsTaken ==
  [][Downgrades /\ Members(consumer) # {} /\ step'.action = "JoinGroup" =>
       LET member == classic'.members[step'.member]
           request == classicStep'.request
       IN /\ member.place = "member" /\ ~member.fresh /\ member.instance \in request.instance
          /\ member.protocols = request.protocols /\ member.subscription = request.subscription
          /\ member.joining = (classic'.state = "PreparingRebalance")
          /\ (classicStep'.response.error = "NONE") = ~member.joining]_vars
=============================================================================
