---- MODULE Typed ----
\* A model for Apalache.
EXTENDS Integers
VARIABLES
  \* @type: Int;
  at,
  \* @type: Str -> Int;
  seen
Init == at = 0 /\ seen = [s \in {"a", "b"} |-> 0]
Next == at < 3 /\ at' = at + 1 /\ seen' = [seen EXCEPT !["a"] = at]
Small == at >= 0 /\ at < 2
Few == at < 10
Grows == at' > at
====
