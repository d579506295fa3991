---------------------------- MODULE MCKafkaStatic ---------------------------
(***************************************************************************)
(* Static members and fail-overs in the dialects of Kafka: the open        *)
(* instance, one partition.  Each member id keeps the instance id with     *)
(* which it joined, or none, as long as it is in the group.  With          *)
(* MaxGroupSize = 1: the requests that a full group refuses, and the state *)
(* that a member that returns keeps.                                       *)
(***************************************************************************)
EXTENDS MCStaticTour, KafkaDialects

\* One name, so that no two assignors can tie (see KafkaDialects).
OnlyRange == {"range"}

KeepsInstance ==
  step'.action \in {"Rejoin", "Return"} /\ step'.member \in Members(group) =>
    TextOr(step'.request.instance, None) = group.members[step'.member].instance

SteadyNext == BoundedNext /\ KeepsInstance
SteadySpec == Init /\ [][SteadyNext]_vars

\* H5, FullGroupRefuses: strangers get the error of a full group; where
\* newcomers alone are refused, a stranger whose instance id the group has is
\* not.
FullIsToldTo ==
  [][step'.action \in {"Join", "Heartbeat"} /\ step'.branch \notin {"invalid", "unsupported"} =>
       LET request == step'.request
           full == Cardinality(Members(group)) = MaxGroupSize
           known == \E k \in Members(group) :
                      request.instance = {group.members[k].instance}
       IN step'.response.error = "GROUP_MAX_SIZE_REACHED" <=>
            /\ full /\ step'.member \notin Members(group)
            /\ Dialect.FullGroupRefuses = "strangers" \/ ~known]_vars
=============================================================================
