--------------------------- MODULE MCKafkaGivesUp ---------------------------
(***************************************************************************)
(* Members that say what they subscribe to while they revoke (R1 with      *)
(* RevocationRestart): 2 topics of 1 partition each, so that a member      *)
(* gives up one partition, keeps another, and then ceases to subscribe to  *)
(* its topic.  Members send their own epochs.  Leaves and time-outs are in *)
(* the models MCKafka4*Tour.                                               *)
(***************************************************************************)
EXTENDS MCKafka

FooAndBar == {"foo", "bar"}
OneOfEach == {<<"foo", 0>>, <<"bar", 0>>}
BothThere == {[t \in FooAndBar |-> 1]}
EitherOrBoth == {{"foo"}, {"bar"}, FooAndBar}

\* The first heartbeat of each member; m1 is first.
JoinsOnce ==
  \E m \in MemberIds \ Members(group) :
    /\ m = "m1" \/ "m1" \in Members(group)
    /\ Request(m, [NoRequest EXCEPT !.member = m, !.owned = {{}}, !.subscription = {FooAndBar}])

\* A later request: the member owns the partitions that it holds, or those that
\* it is assigned, and may change its subscription.
ReportsAndSubscribes ==
  \E m \in Members(group) :
    \E owned \in {Held(group, m), group.members[m].assigned}, subscription \in Option(Subscriptions) :
      Request(m, [NoRequest EXCEPT !.member = m, !.epoch = group.members[m].epoch, !.owned = {owned},
                                   !.subscription = subscription])

GivesUpNext == (JoinsOnce \/ ReportsAndSubscribes) /\ group'.epoch <= MaxEpoch
GivesUpSpec == Init /\ [][GivesUpNext]_vars

\* MCKafka42Gone: one member, and a topic is deleted while the member revokes.
OneMember == {"m1"}
DeletedMeanwhile == DeleteTopic /\ \E m \in Members(group) : group.members[m].revoking # {}
GoneNext == (JoinsOnce \/ ReportsAndSubscribes \/ DeletedMeanwhile) /\ group'.epoch <= MaxEpoch
GoneSpec == Init /\ [][GoneNext]_vars
=============================================================================
