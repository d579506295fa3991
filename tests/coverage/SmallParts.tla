---- MODULE SmallParts ----
LOCAL INSTANCE Naturals
Later(name, at) == \E other \in {name}: (other = "a" \/ at > 1) /\ at < 100
Unused(name) == name = "c"
====
