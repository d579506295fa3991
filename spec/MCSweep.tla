------------------------------- MODULE MCSweep ------------------------------
(***************************************************************************)
(* Random behaviours of a closed instance in which everything that a       *)
(* consumer group knows may happen at once: two dynamic members, a static  *)
(* one with two processes, two topics of which one is deleted and created  *)
(* again under its name, subscriptions that change, fail-overs, late       *)
(* requests and any other disturbance.  The exhaustive models combine a    *)
(* few of these on purpose; this one looks for what their choice misses,   *)
(* and a random search that finds nothing proves nothing.                  *)
(*                                                                         *)
(* Members do not report during a revocation, as fail-overs need           *)
(* (ClosedGroup); MCSimulate has members that do, and no fail-over.        *)
(***************************************************************************)
EXTENDS MCSmall

FourProcesses == {"m1", "m2", "m3", "m4"}
LastTwoAreStatic == [m \in FourProcesses |-> IF m \in {"m3", "m4"} THEN "i1" ELSE ""]
ThreeTopics == {"bar", "foo", "foo#2"}
FooAgain == [t \in ThreeTopics |-> IF t = "bar" THEN "bar" ELSE "foo"]
FivePartitions == {<<"bar", 0>>, <<"foo", 0>>, <<"foo", 1>>, <<"foo#2", 0>>, <<"foo#2", 1>>}
FirstFoo == {[t \in ThreeTopics |-> IF t = "foo" THEN n ELSE 0] : n \in 1..2}
AnyNames == {{}, {"bar"}, {"foo"}, {"bar", "foo"}}
=============================================================================
