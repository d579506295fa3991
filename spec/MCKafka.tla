------------------------------- MODULE MCKafka ------------------------------
(***************************************************************************)
(* The open instance in the dialects of Kafka: 2 members, one topic of up  *)
(* to 2 partitions, without regular expressions.                           *)
(***************************************************************************)
EXTENDS MCOpen, KafkaDialects

OnePartition == {<<"foo", 0>>}
One == {[t \in MCTopics |-> 1]}
OneOrNone == {[t \in MCTopics |-> n] : n \in 0..1}

\* One name, so that no two assignors can tie (see KafkaDialects).
OnlyRange == {"range"}

\* H3: a join must report empty owned partitions; other joins report some, or
\* none at all; and one join names an assignor by the empty name.
\* @type: Set($request);
JoinsThatAreOdd ==
  {[member |-> m, epoch |-> 0, instance |-> {}, owned |-> odd[1], subscription |-> {{"foo"}},
    regex |-> {}, assignor |-> odd[2]] :
     m \in MCMemberIds, odd \in {<<{}, {}>>, <<{{<<"foo", 0>>}}, {}>>, <<{{}}, {""}>>}}

\* H3, H4: such a join is refused, whatever the group is like. The empty name
\* is an assignor's name that Kafka does not have.
OddJoinsAreRefused ==
  [][step'.request \in JoinsThatAreOdd =>
       step'.response.error =
         IF step'.request.assignor = {""} THEN "UNSUPPORTED_ASSIGNOR" ELSE "INVALID_REQUEST"]_vars
=============================================================================
