------------------------------ MODULE MCRefused -----------------------------
(***************************************************************************)
(* Bounds of an open instance for requests that must be refused (H3, H4,   *)
(* H5): requests that no client sends, and a group of one member at most;  *)
(* and properties of a full group, which other models do not have.         *)
(***************************************************************************)
EXTENDS MCOpen

OneInstance == {"i1"}
OnlyFoo == {{"foo"}}
Foo1 == {[t \in MCTopics |-> 1]}
OnePartition == {<<"foo", 0>>}
OneRegex == [r \in {"fo+"} |-> {"foo"}]

\* @type: $request;
FullJoin == [NoRequest EXCEPT !.member = "m1", !.owned = {{}}, !.subscription = {{"foo"}}]
OddOnes == {
  [NoRequest EXCEPT !.epoch = 1],
  [NoRequest EXCEPT !.epoch = -1],
  [NoRequest EXCEPT !.member = "m1", !.epoch = -2],
  [NoRequest EXCEPT !.member = "m1", !.epoch = -3, !.instance = {"i1"}],
  [FullJoin EXCEPT !.instance = {""}],
  [FullJoin EXCEPT !.subscription = {}],
  [FullJoin EXCEPT !.subscription = {}, !.regex = {""}],
  [FullJoin EXCEPT !.regex = {"("}],
  [FullJoin EXCEPT !.assignor = {""}],
  [FullJoin EXCEPT !.assignor = {"no-such-assignor"}],
  [NoRequest EXCEPT !.member = "m1", !.epoch = 1, !.assignor = {"no-such-assignor"}],
  [NoRequest EXCEPT !.member = "m1", !.epoch = 1, !.regex = {"("}]
}

\* H3, H4: a request that is invalid in itself is refused for that reason,
\* in any group, and from any sender.
OddOnesAreRefused ==
  [][step'.request \in OddOnes =>
       step'.response.error =
         IF step'.request.assignor = {"no-such-assignor"}
         THEN "UNSUPPORTED_ASSIGNOR" ELSE "INVALID_REQUEST"]_vars

\* H5: only one more member finds the group full; other requests of strangers
\* are answered as in any group.
OnlyOneMoreIsTooMany ==
  [][step'.response.error = "GROUP_MAX_SIZE_REACHED" =>
       /\ step'.request.epoch = 0
       /\ step'.member \notin Members(group)
       /\ Cardinality(Members(group)) = MaxGroupSize]_vars
=============================================================================
