-------------------------- MODULE MCTopicIdsClosed --------------------------
(***************************************************************************)
(* T2 with members: a topic is deleted and created again under its name    *)
(* while several members use it.  "foo#2" is the second topic of the name  *)
(* foo.  The partitions of the first id are revoked, those of the second   *)
(* assigned, and in a Stable group no member has a partition of a deleted  *)
(* topic.                                                                  *)
(***************************************************************************)
EXTENDS MCSmall

FooTwice == {"foo", "foo#2"}
NameIsFoo == [t \in FooTwice |-> "foo"]
PartitionOfBoth == {<<"foo", 0>>, <<"foo#2", 0>>}
FirstAlone == {[t \in FooTwice |-> IF t = "foo" THEN 1 ELSE 0]}
OnlyTheName == {{"foo"}}

\* The partitions of topics that are there, without the operators of Groups.
There == {p \in Partitions : p[2] < topics[p[1]]}

\* T2: at rest members hold, and own, partitions of the topic that is there.
AtRestOfWhatIsThere ==
  GroupState(group) = "Stable" =>
    \A m \in MemberIds :
      /\ group.members[m].assigned \subseteq There
      /\ clients[m].up /\ clients[m].epoch = group.epoch /\ responses[m] = {} =>
           clients[m].owned \subseteq There

\* T2: no target that is installed has a partition of a topic that is not there, and
\* one of a topic that is there has an owner, whichever id the topic has.
TargetOfWhatIsThere ==
  [][group'.assignmentEpoch # group.assignmentEpoch =>
       \A p \in Partitions :
         (group'.target[p] # None) <=>
           /\ p[2] < topics'[p[1]]
           /\ \E m \in MemberIds : group'.members[m].epoch # NotInGroup]_vars
=============================================================================
