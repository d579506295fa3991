---- MODULE Counter ----
\* A small model with a step variable: counters that go up, go down, and are all reset.
EXTENDS CounterTypes
CONSTANT
  \* @type: Set(Str);
  Procs
VARIABLES
  \* @type: Str -> Int;
  x,
  \* @type: { action: Str, by: Set(Str) };
  step

Init == x = [p \in Procs |-> 0] /\ step = [action |-> "Init", by |-> {}]

Inc(p) ==
  /\ x[p] < Limit
  /\ x' = [x EXCEPT ![p] = @ + 1]
  /\ step' = [action |-> "Inc", by |-> {p}]

Dec(p) ==
  /\ x[p] > 0
  /\ x' = [x EXCEPT ![p] = @ - 1]
  /\ step' = [action |-> "Dec", by |-> {p}]

Reset == x' = [p \in Procs |-> 0] /\ step' = [action |-> "Reset", by |-> {}]

Next == (\E p \in Procs : Inc(p) \/ Dec(p)) \/ Reset
Spec == Init /\ [][Next]_<<x, step>>
view == x

TypeOK == \A p \in Procs : x[p] \in 0..Limit
NotAllFull == \E p \in Procs : x[p] < Limit
NeverFull == [][\A p \in Procs : x'[p] < Limit]_x
====
