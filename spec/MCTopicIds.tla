----------------------------- MODULE MCTopicIds -----------------------------
(***************************************************************************)
(* Bounds of an open instance with regular expressions (T1) and topics that*)
(* are recreated (T2): "foo#2" is the second topic of the name foo.        *)
(***************************************************************************)
EXTENDS MCOpen

OneMember == {"m1"}
FooTwiceAndBar == {"foo", "foo#2", "bar"}
NameOfId == [t \in FooTwiceAndBar |-> IF t = "bar" THEN "bar" ELSE "foo"]
PartitionOfEach == {<<"foo", 0>>, <<"foo#2", 0>>, <<"bar", 0>>}
FooAndEveryTopic == [r \in {"fo+", ".*"} |-> IF r = "fo+" THEN {"foo"} ELSE {"foo", "bar"}]
EitherRegex == {"", "fo+", ".*"}
NoneOrBar == {{}, {"bar"}}
OnlyFirstFoo == {[t \in FooTwiceAndBar |-> IF t = "foo" THEN 1 ELSE 0]}

\* T1, E1, without the operators of Coordinator: another regular expression is
\* another subscription.
AnotherRegexBumps ==
  [][\A m \in MemberIds :
       group'.members[m].epoch # NotInGroup /\ group.members[m].regex # group'.members[m].regex
       => group'.epoch > group.epoch]_vars
=============================================================================
