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
  place

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
  \/ place = n /\ SendRequest("m1")
  \/ place = n + 1 /\ ReceiveResponse("m1")
  \/ place = n + 2 /\ SendRequest("m2")
       /\ group'.target[<<"foo", 0>>] = "m1" /\ group'.target[<<"foo", 1>>] = "m2"
  \/ place = n + 3 /\ ReceiveResponse("m2")
  \/ place = n + 4 /\ SendRequest("m1")
  \/ place = n + 5 /\ ReceiveResponse("m1")

\* m1 gives up the partition and dies with its report on the way; the group
\* is left, deleted, and joined again.
Ends ==
  \/ place = 7 /\ FinishRevocation("m1")
  \/ place = 8 /\ CrashSending("m1")
  \/ place = 9 /\ SessionTimeout("m1")
  \/ place = 10 /\ LeaveGroup("m2")
  \/ place = 11 /\ DeleteAtOnce
  \/ place = 12 /\ Start("m1")
  \/ place = 13 /\ Start("m2")

\* The report arrives, and m2 gets what m1 still owns.
Arrives ==
  \/ place = 20 /\ ReceiveLate("m1")
  \/ place = 21 /\ SendRequest("m2")
  \/ place = 22 /\ ReceiveResponse("m2")

InitDelete == Init /\ place = 1 /\ \A m \in MemberIds : clients[m].up
NextDelete == (Shares(1) \/ Ends \/ Shares(14) \/ Arrives) /\ place' = place + 1
SpecDelete == InitDelete /\ [][NextDelete]_<<vars, place>>
=============================================================================
