------------------------- MODULE OpenAdministration -------------------------
(***************************************************************************)
(* The open instance with an administrator, which may send any request at  *)
(* any moment.                                                             *)
(***************************************************************************)
EXTENDS Administration

CONSTANTS
  \* The words that a filter may have, and the state or type that each means;
  \* "" for none.
  \* @type: Str -> Str;
  StateWords,
  \* @type: Str -> Str;
  TypeWords,
  \* The filters of requests.
  \* @type: Set(Set(Str));
  StateFilters,
  \* @type: Set(Set(Str));
  TypeFilters,
  \* The changes of a configuration: a name and a value, absent to take the
  \* group's own away.
  \* @type: Set(<<Str, Set(Int)>>);
  Alterations

VARIABLES
  \* The group's own configurations, 0 where it has none.
  \* @type: Str -> Int;
  configs,
  \* The administrator's last request with its answer; not part of the state.
  \* @type: $admin;
  admin

adminVars == <<offsetVars, configs, admin>>
adminView == <<offsetView, configs>>

AdminInit == OffsetInit /\ configs = NoConfigs /\ admin = NoAdmin

\* D1.
ListGroups ==
  /\ \E states \in StateFilters, types \in TypeFilters :
       admin' = [NoAdmin EXCEPT !.states = states, !.types = types,
                   !.listed = {found \in ListedAs(group, offsets) :
                                 Passes(states, StateWords, found[1]) /\ Passes(types, TypeWords, found[2])}]
  /\ step' = AdminStep("ListGroups", "NONE")
  /\ UNCHANGED <<group, topics, offsets, configs>>

\* D1: there need not be a group.
AlterConfigs ==
  /\ \E change \in Alterations :
       LET error == AlterError(change[1], change[2]) IN
       /\ configs' = IF error = "NONE" THEN Altered(configs, change[1], change[2]) ELSE configs
       /\ admin' = [NoAdmin EXCEPT !.name = change[1], !.value = change[2]]
       /\ step' = AdminStep("AlterConfigs", error)
  /\ UNCHANGED <<group, topics, offsets>>

\* D1.
DescribeConfigs ==
  /\ admin' = [NoAdmin EXCEPT !.shown = InForce(configs), !.own = {n \in GroupConfigs : configs[n] # 0}]
  /\ step' = AdminStep("DescribeConfigs", "NONE")
  /\ UNCHANGED <<group, topics, offsets, configs>>

\* Steps of everybody else, and steps of the group itself.
GroupGoesOn == (OffsetNext \/ DeleteGroups) /\ admin' = NoAdmin /\ UNCHANGED configs

AdminNext == GroupGoesOn \/ ListGroups \/ AlterConfigs \/ DescribeConfigs
=============================================================================
