------------------------- MODULE MigrationProperties ------------------------
(***************************************************************************)
(* What must hold of every group that migrates, and of each of its steps,  *)
(* whatever requests there are (OpenMigration).  What must hold of a       *)
(* classic group alone is in ClassicProperties, of a consumer group without*)
(* members of the classic protocol in GroupProperties.                     *)
(***************************************************************************)
EXTENDS OpenMigration

\* A group is of one kind at a time.
OneKind == ~(IsClassic /\ Exists(consumer))

\* M1: in a consumer group somebody uses the consumer protocol, or there is
\* nobody.
KindFollowsMembers == Members(consumer) # {} => ClassicMembers(Mixed) # Members(consumer)

\* R7, coordinator's view.
NoDoubleHolding == \A m, n \in MemberIds : m # n => Held(consumer, m) \cap Held(consumer, n) = {}

\* E4.
EpochsInOrder ==
  /\ consumer.assignmentEpoch <= consumer.epoch
  /\ \A m \in Members(consumer) : consumer.members[m].epoch <= consumer.assignmentEpoch

\* M2: who must rejoin or owes a SyncGroup is a member that has said something.
PhasesOfMembers ==
  \A m \in MemberIds :
    /\ phase[m] # "" => m \in Members(consumer)
    /\ (phase[m] # "") = (words[m] # NoWords)

\* M3: nobody that uses the classic protocol is left behind unless it is told so.
WhoMustRejoinIsTold ==
  \A m \in ClassicMembers(Mixed) : phase[m] = "stable" => ~MustRejoin(Mixed, m)

\* M1, E4: no step but the deletion of the group takes its epoch back, and no
\* conversion does.
EpochsNeverDecrease ==
  [][step'.action # "DeleteGroup" => consumer'.epoch + classic'.generation >= consumer.epoch + classic.generation]_vars

Upgrades == IsClassic /\ consumer'.epoch > 0
Downgrades == Exists(consumer) /\ classic'.state \notin {"Dead", "Empty"}

\* M1, R7: what the log assigns to a member that has not rejoined since is its
\* own after an upgrade; nothing is two members'.
UpgradeKeepsAssignments ==
  [][Upgrades =>
       /\ \A m \in Kept(classic) :
            ~classic.members[m].joining => SavedAssignment(classic, m) \subseteq Held(converted', m)
       /\ \A m, n \in MemberIds : m # n => Held(converted', m) \cap Held(converted', n) = {}]_vars

\* M1, C1: nothing waits for an answer that never comes.
UpgradeAnswersAll ==
  [][Upgrades =>
       {a.member : a \in classicStep'.completed} =
         {m \in Classic!InGroup(classic) : classic.members[m].joining \/ classic.members[m].syncing}]_vars

\* M1, R7: who is brought back says what it held.
DowngradeKeepsHeld ==
  [][Downgrades /\ Members(consumer) # {} =>
       \A m \in Kept(classic') \cap Members(consumer) :
         ClaimedIn(classic'.members[m].subscription) = Held(consumer, m)]_vars
=============================================================================
