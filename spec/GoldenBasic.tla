---------------------------- MODULE GoldenBasic -----------------------------
(***************************************************************************)
(* KIP-848, case study "Basic": A joins an empty group with 3 partitions,  *)
(* then B, then C; each waits for what the others release.                 *)
(***************************************************************************)
EXTENDS Golden

GoldenPartitions == {F(0), F(1), F(2)}
GoldenCounts == {[t \in OneTopic |-> 3]}
GoldenFirst == NoGroup

Target1 == Target({F(0), F(1), F(2)}, {}, {})
Target2 == Target({F(0), F(1)}, {F(2)}, {})
Target3 == Target({F(0)}, {F(2)}, {F(1)})

\* @type: Seq($request);
GoldenScript == <<
  Joins("A"),
  Joins("B"),
  Heartbeats("A", 1),
  Reports("A", 1, {F(0), F(1)}),
  Heartbeats("B", 2),
  Joins("C"),
  Heartbeats("B", 2),
  Heartbeats("C", 3),
  Heartbeats("A", 2),
  Reports("A", 2, {F(0)}),
  Heartbeats("C", 3)
>>

\* @type: Seq($printed);
GoldenPrinted == <<
  \* A joins and gets everything.
  Group(1, Target1, Has(1, {F(0), F(1), F(2)}), Absent, Absent),
  \* B joins: it is at epoch 2, and foo-2 is pending until A releases it.
  Group(2, Target2, Has(1, {F(0), F(1), F(2)}), Has(2, {}), Absent),
  \* A heartbeats and is told to revoke foo-2.
  Group(2, Target2, Has(1, {F(0), F(1), F(2)}), Has(2, {}), Absent),
  \* A acknowledges: epoch 2, and foo-2 is free for B (erratum: at once).
  Group(2, Target2, Has(2, {F(0), F(1)}), Has(2, {F(2)}), Absent),
  \* B heartbeats and gets foo-2.
  Group(2, Target2, Has(2, {F(0), F(1)}), Has(2, {F(2)}), Absent),
  \* C joins: foo-1 is pending until A releases it.
  Group(3, Target3, Has(2, {F(0), F(1)}), Has(2, {F(2)}), Has(3, {})),
  \* B heartbeats: nothing to revoke, epoch 3.
  Group(3, Target3, Has(2, {F(0), F(1)}), Has(3, {F(2)}), Has(3, {})),
  \* C heartbeats and cannot get foo-1 yet.
  Group(3, Target3, Has(2, {F(0), F(1)}), Has(3, {F(2)}), Has(3, {})),
  \* A heartbeats and is told to revoke foo-1.
  Group(3, Target3, Has(2, {F(0), F(1)}), Has(3, {F(2)}), Has(3, {})),
  \* A acknowledges (erratum: B has foo-2, not foo-1 as printed).
  Group(3, Target3, Has(3, {F(0)}), Has(3, {F(2)}), Has(3, {F(1)})),
  \* C heartbeats and gets foo-1.
  Group(3, Target3, Has(3, {F(0)}), Has(3, {F(2)}), Has(3, {F(1)}))
>>

\* As the document prints it: B has foo-1, as C does.
\* @type: Seq($printed);
Uncorrected == [GoldenPrinted EXCEPT ![10].members["B"].partitions = {F(1)}]
=============================================================================
