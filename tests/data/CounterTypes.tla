---- MODULE CounterTypes ----
EXTENDS Integers
CONSTANT
  \* @type: Int;
  Limit
====
