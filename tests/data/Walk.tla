---- MODULE Walk ----
\* Everything that a check can end in, chosen by the configuration; no step variable.
EXTENDS Naturals, Sequences, TLC
VARIABLE at
Init == at = 0
Forward == at < 3 /\ at' = at + 1
Back == at = 3 /\ at' = 1
Next == Forward \/ Back
Fair == Init /\ [][Next]_at /\ WF_at(Next)
Unfair == Init /\ [][Next]_at
Ending == Init /\ [][Forward]_at
Asserting == Init /\ [][Assert(at < 2, "too far") /\ Forward]_at
Growing == at = [i \in 1..200000 |-> i] /\ [][at' = at \o at]_at
Counting == Init /\ [][at' = at + 1]_at

Arrives == <>(at = 3)
Rests == <>[](at = 2)
NotTwo == at # 2
NotStart == at # 0
NoJump == [][at' # 1 \/ at = 0]_at
OnlyForward == Init /\ [][Forward]_at
FromOne == at = 1 /\ [][Next]_at
Confused == at < 2 \/ at = "two"
====
