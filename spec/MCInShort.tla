------------------------------ MODULE MCInShort -----------------------------
(***************************************************************************)
(* Bounds of classic groups that may be converted at any moment, and of    *)
(* their short form: 2 members, one topic of 2 partitions, any `Budget`    *)
(* disturbances.  Members send the generation of their claims:             *)
(* configurations put JoinWithGeneration in the place of CoopJoin.  TLC    *)
(* alone reads this module: Apalache does not accept an instance           *)
(* (Conversions) whose local names are variables outside of it.            *)
(***************************************************************************)
EXTENDS MCCooperative, ClassicInShort

MCGenerationNames ==
  [g \in -1..12 |->
     IF g = -1 THEN "generation -1"
     ELSE <<"generation 0", "generation 1", "generation 2", "generation 3", "generation 4", "generation 5",
            "generation 6", "generation 7", "generation 8", "generation 9", "generation 10", "generation 11",
            "generation 12">>[g + 1]]

\* Control, without C1: a member that has not rejoined as the barrier opens
\* stays.
\* @type: ($outcome) => $outcome;
KeepsTheLate(o) ==
  LET g == o.group
      next == NextGeneration(g)
  IN IF InGroup(g) = {} THEN [o EXCEPT !.group = BecomeEmpty(g)]
     ELSE IF Joining(g) = {} THEN o
     ELSE [group |-> next,
           answers |-> o.answers \cup {[member |-> m, response |-> JoinResponse(next, m, FALSE)] : m \in Joining(g)}]
=============================================================================
