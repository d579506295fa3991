---------------------------- MODULE MCDeleteAtOnce --------------------------
(***************************************************************************)
(* E5: an administrator may delete an empty group at once, while a request *)
(* of a process that died is on the way.  The epochs of the next group     *)
(* begin anew, so that the request counts as an acknowledgement of the     *)
(* next process with the member id.  Must fail.  One order of steps is     *)
(* modelled, so that the counterexample is found in seconds.               *)
(***************************************************************************)
EXTENDS MCSmall

TwoPartitions == {[t \in MCTopics |-> 2]}

VARIABLE
  \* The number of the next step.
  \* @type: Int;
  turn

\* A group without members is deleted, even if a process still has an epoch of
\* that group.
DeleteAtOnce ==
  /\ Disturb(1)
  /\ GroupState(group) = "Empty"
  /\ CoordinatorStep(NoGroup, EventStep("DeleteGroup", None, "", 0), {})
  /\ UNCHANGED <<topics, clients, responses, late>>

\* m1 joins at step n, m2 after it, and m1 is told to revoke the second
\* partition.
\* @type: (Int) => Bool;
Shares(n) ==
  \/ turn = n /\ SendRequest("m1")
  \/ turn = n + 1 /\ ReceiveResponse("m1")
  \/ turn = n + 2 /\ SendRequest("m2")
       /\ group'.target[<<"foo", 0>>] = "m1" /\ group'.target[<<"foo", 1>>] = "m2"
  \/ turn = n + 3 /\ ReceiveResponse("m2")
  \/ turn = n + 4 /\ SendRequest("m1")
  \/ turn = n + 5 /\ ReceiveResponse("m1")

\* m1 gives up the partition and dies with its report on the way; the group
\* is left, deleted, and joined again.
Ends ==
  \/ turn = 7 /\ FinishRevocation("m1")
  \/ turn = 8 /\ CrashSending("m1")
  \/ turn = 9 /\ SessionTimeout("m1")
  \/ turn = 10 /\ LeaveGroup("m2")
  \/ turn = 11 /\ DeleteAtOnce
  \/ turn = 12 /\ Start("m1")
  \/ turn = 13 /\ Start("m2")

\* The report arrives, and m2 gets what m1 still owns.
Arrives ==
  \/ turn = 20 /\ ReceiveLate("m1")
  \/ turn = 21 /\ SendRequest("m2")
  \/ turn = 22 /\ ReceiveResponse("m2")

InitDelete == Init /\ turn = 1 /\ \A m \in MemberIds : clients[m].up
NextDelete == (Shares(1) \/ Ends \/ Shares(14) \/ Arrives) /\ turn' = turn + 1
SpecDelete == InitDelete /\ [][NextDelete]_<<vars, turn>>
=============================================================================
