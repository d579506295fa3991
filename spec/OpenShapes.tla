----------------------------- MODULE OpenShapes -----------------------------
(***************************************************************************)
(* The proof of OpenInvariant, closed.  Its step starts from states that   *)
(* AnyGroup generates: no member has a regular expression, and instance    *)
(* ids and assignors are those that requests may name.  The same step      *)
(* leads to a state with these shapes again (Shapes), so that every        *)
(* reachable state is among the generated ones.                            *)
(*                                                                         *)
(* The other fields of a group need no shape: AnyGroup generates every     *)
(* value that GroupTypeOK, a part of the invariant, allows.                *)
(***************************************************************************)
EXTENDS OpenInvariant

Shapes ==
  \A m \in MemberIds :
    LET member == group.members[m] IN
    /\ member.regex = None
    /\ member.instance \in {None} \cup InstanceIds
    /\ member.assignor \in {""} \cup AssignorNames
=============================================================================
