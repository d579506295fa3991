---------------------------- MODULE MCKafkaStatic ---------------------------
(***************************************************************************)
(* Static members and fail-overs in the dialects of Kafka: the open        *)
(* instance, one partition.  Each member id keeps the instance id that it  *)
(* joined with, or that it has none, as long as it is in the group.  With  *)
(* MaxGroupSize = 1: whom a full group refuses, and what is kept of a      *)
(* member that returns.                                                    *)
(***************************************************************************)
EXTENDS MCStaticTour, KafkaDialects

\* One name, so that no two assignors can tie (see KafkaDialects).
OnlyRange == {"range"}

KeepsInstance ==
  step'.action \in {"Rejoin", "Return"} /\ step'.member \in Members(group) =>
    TextOr(step'.request.instance, None) = group.members[step'.member].instance

SteadyNext == BoundedNext /\ KeepsInstance
SteadySpec == Init /\ [][SteadyNext]_vars

\* H5, FullGroupRefuses: strangers are told that the group is full, where
\* newcomers alone are told not those whose instance id the group has.
FullIsToldTo ==
  [][step'.action \in {"Join", "Heartbeat"} /\ step'.branch \notin {"invalid", "unsupported"} =>
       LET request == step'.request
           full == Cardinality(Members(group)) = MaxGroupSize
           known == \E k \in Members(group) :
                      request.instance = {group.members[k].instance}
       IN step'.response.error = "GROUP_MAX_SIZE_REACHED" <=>
            /\ full /\ step'.member \notin Members(group)
            /\ Dialect.FullGroupRefuses = "strangers" \/ ~known]_vars

\* H5, UnknownGroupError: a group that has members is there.
NotFoundIsGone == [][step'.response.error = "GROUP_ID_NOT_FOUND" => Members(group) = {}]_vars
=============================================================================
