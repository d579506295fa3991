------------------------- MODULE GoldenIncremental --------------------------
(***************************************************************************)
(* KIP-848, case study "Incremental Revocation & Assignment": C joins two  *)
(* members with 3 partitions each and gets one of each as they revoke.     *)
(***************************************************************************)
EXTENDS Golden

GoldenPartitions == {F(0), F(1), F(2), F(3), F(4), F(5)}
GoldenCounts == {[t \in OneTopic |-> 6]}
\* @type: (Set($partition)) => $member;
Settled(partitions) ==
  [NoMember EXCEPT !.epoch = 21, !.previousEpoch = 20, !.subscription = {"foo"},
                   !.assigned = partitions, !.acknowledged = TRUE]

\* The group at epoch 21, as the case study begins.
GoldenFirst ==
  [epoch |-> 21, assignmentEpoch |-> 21,
   target |-> [p \in Partitions |-> IF p[2] < 3 THEN "A" ELSE "B"],
   metadata |-> [t \in Topics |-> 6],
   members |-> [m \in MemberIds |->
     IF m = "A" THEN Settled({F(0), F(1), F(2)})
     ELSE IF m = "B" THEN Settled({F(3), F(4), F(5)}) ELSE NoMember]]

Target1 == Target({F(0), F(1)}, {F(3), F(4)}, {F(2), F(5)})

\* @type: Seq($request);
GoldenScript == <<
  Joins("C"),
  Heartbeats("A", 21),
  Heartbeats("B", 21),
  Heartbeats("C", 22),
  Reports("A", 21, {F(0), F(1)}),
  Heartbeats("C", 22),
  Reports("B", 21, {F(3), F(4)}),
  Heartbeats("C", 22)
>>

\* @type: Seq($printed);
GoldenPrinted == <<
  \* C joins: foo-2 and foo-5 are pending.
  Group(22, Target1, Has(21, {F(0), F(1), F(2)}), Has(21, {F(3), F(4), F(5)}), Has(22, {})),
  \* A heartbeats and is told to revoke foo-2.
  Group(22, Target1, Has(21, {F(0), F(1), F(2)}), Has(21, {F(3), F(4), F(5)}), Has(22, {})),
  \* B heartbeats and is told to revoke foo-5.
  Group(22, Target1, Has(21, {F(0), F(1), F(2)}), Has(21, {F(3), F(4), F(5)}), Has(22, {})),
  \* C heartbeats, no changes for it.
  Group(22, Target1, Has(21, {F(0), F(1), F(2)}), Has(21, {F(3), F(4), F(5)}), Has(22, {})),
  \* A acknowledges and foo-2 is free.
  Group(22, Target1, Has(22, {F(0), F(1)}), Has(21, {F(3), F(4), F(5)}), Has(22, {F(2)})),
  \* C heartbeats and gets foo-2; foo-5 is held.
  Group(22, Target1, Has(22, {F(0), F(1)}), Has(21, {F(3), F(4), F(5)}), Has(22, {F(2)})),
  \* B acknowledges and foo-5 is free.
  Group(22, Target1, Has(22, {F(0), F(1)}), Has(22, {F(3), F(4)}), Has(22, {F(2), F(5)})),
  \* C heartbeats and has foo-2 and foo-5.
  Group(22, Target1, Has(22, {F(0), F(1)}), Has(22, {F(3), F(4)}), Has(22, {F(2), F(5)}))
>>

\* C at epoch 0 after its join, as the document prints it (erratum: 22).
\* @type: Seq($printed);
Uncorrected == [GoldenPrinted EXCEPT ![1].members["C"].epoch = 0]
=============================================================================
