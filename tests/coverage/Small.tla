---- MODULE Small ----
(***************************************************************************)
(* A module for the tests of coverage: its comments say which arms are     *)
(* never reached.  Its lists are nested, as columns decide what they mean. *)
(***************************************************************************)
EXTENDS Integers, SmallParts
CONSTANT Limit
\* an assumption that reaches arms before the search
ASSUME Later("a", 1)
VARIABLE count, \* @type: Int;
         seen
vars == <<count, seen>>

Names == {"a", "b"}

Init == /\ count = 0
        /\ seen = {}

\* the second disjunct's second conjunct: nothing is above the limit
Step == \/ /\ count < Limit
           /\ count' = count + 1
           /\ seen' = IF count = Limit
                        THEN {}  \* never
                        ELSE seen \union {n \in Names: count > 0 /\ Later(n, count)}
        \/ /\ count > Limit
           /\ UNCHANGED vars

\* CASE has a value that is never taken
Sort == CASE count = 0 -> "first"
          [] count = -1 -> "never"
          [] OTHER -> LET twice == 2 * count
                          unused == count - 1
                      IN IF twice > 0 THEN "later" ELSE "never"

Next == Step
Spec == Init /\ [][Next]_vars
TypeOK == Sort \in {"first", "later"} /\ \A n \in seen: n \in Names
\* holds for want of a case
Vacuous == count = 7 => seen = {"c"}
====
