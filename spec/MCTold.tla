------------------------------- MODULE MCTold -------------------------------
(***************************************************************************)
(* R5 at the clients: no answer takes a partition from a process and gives *)
(* it another.  NeverRevokeAndAssign states this of the coordinator's      *)
(* answers. A process that lost an answer knows an older assignment, and   *)
(* so does a process that a new coordinator answers, which does not know   *)
(* the assignment that was sent (P2).  There an answer does both.  The     *)
(* hazard is for clients that give partitions to their application before  *)
(* they have taken others from it; a client that revokes first (K2) owns   *)
(* nothing that another has.                                               *)
(***************************************************************************)
EXTENDS MCSmall

TwoThere == {[t \in MCTopics |-> 2]}

\* R5, by the last and the present answer to a process, as long as it is the
\* same member.
NeverBothTold ==
  [][\A m \in MemberIds :
       LET before == clients[m]
           after == clients'[m]
       IN before.epoch > 0 /\ after.epoch > 0 =>
            before.told \subseteq after.told \/ after.told \subseteq before.told]_vars

\* Every answer arrives, and the coordinator does not fail.
AnsweredNext ==
  \/ \E m \in MemberIds :
       \/ SendRequest(m) \/ ReceiveResponse(m)
       \/ FinishRevocation(m) \/ ChangeSubscription(m)
       \/ SessionTimeout(m) \/ RebalanceTimeout(m)
       \/ Crash(m) \/ LeaveGroup(m) \/ Start(m) \/ LoseRequest(m)
  \/ \E p \in Partitions : CreateTopic(p) \/ AddPartitions(p)
  \/ \E t \in Topics : DeleteTopic(t)
AnsweredSpec == Init /\ [][AnsweredNext]_vars

\* Two hazards, in fixed roles so that the counterexamples are found in
\* seconds: m1 gets the answers, m2 gives its place up and takes it again.
\* Both must fail.  A lost answer that raises the member epoch is followed by a
\* fence (H6), so the lost answer is one that assigns pending partitions in the
\* same epoch.
Roles ==
  \/ \E m \in MemberIds : SendRequest(m) \/ ReceiveResponse(m) \/ FinishRevocation(m)
  \/ ChangeSubscription("m2")
LostSpec == Init /\ [][Roles \/ LoseResponse("m1")]_vars
FailOverSpec == Init /\ [][Roles \/ LoseRequest("m1") \/ FailOver]_vars
=============================================================================
