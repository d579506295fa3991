--------------------------- MODULE MCLateMigration --------------------------
(***************************************************************************)
(* Bounds of online migration with late requests: those of MCMigration.    *)
(***************************************************************************)
EXTENDS LateMigration

TwoMembers == {"a", "b"}
OneTopic == {"foo"}
OnePartition == {<<"foo", 0>>}
TwoPartitions == {<<"foo", 0>>, <<"foo", 1>>}
MCTopics == [t \in OneTopic |-> Cardinality(Partitions)]
OnlyB == {"b"}

\* H2, C1: a late leave removes its member, if the member uses the protocol of
\* the request; otherwise it changes nothing.
LateLeavesAreExact ==
  [][\A message \in late \ late' :
       message.api # "JoinGroup" /\ message.request.epoch = -1 =>
         LET m == message.request.member
             leaves == m \in Members(mixed.group) /\ (message.api = "LeaveGroup" <=> mixed.phase[m] # "")
         IN IF leaves THEN Members(mixed'.group) = Members(mixed.group) \ {m} ELSE UNCHANGED mixed]_lateState
=============================================================================
