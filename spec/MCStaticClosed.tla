--------------------------- MODULE MCStaticClosed ---------------------------
(***************************************************************************)
(* Bounds of a closed instance with a static member, whose processes m1    *)
(* and m3 have the instance id i1, a dynamic one, and fail-overs (S1, S2,  *)
(* P2).                                                                    *)
(***************************************************************************)
EXTENDS MCSmall

ThreeProcesses == {"m1", "m2", "m3"}
OneStatic == [m \in ThreeProcesses |-> IF m = "m2" THEN "" ELSE "i1"]
Foo2 == {[t \in MCTopics |-> 2]}
Foo1 == {[t \in MCTopics |-> 1]}
OnePartition == {<<"foo", 0>>}
OnlyFoo == {{"foo"}}

\* Hazards of the text, which models that must fail show.  A process that
\* crashed, or whose answer to its join was lost so that the next has another
\* member id, leaves an orphan behind: the orphan holds partitions until its
\* session ends (H1) ...
NoOrphanHolds == \A m \in MemberIds : ~clients[m].up => Held(group, m) = {} \/ IsAway(group, m)
\* ... and its successor, the only process of a static member, is refused,
\* which is fatal for that process (S2, K1).
LoneProcessIsAccepted ==
  \A m \in MemberIds :
    (\A n \in MemberIds : SameInstance(m, n) => ~clients[n].up) =>
      \A response \in responses[m] : response.error # "UNRELEASED_INSTANCE_ID"
=============================================================================
