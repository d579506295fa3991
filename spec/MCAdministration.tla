-------------------------- MODULE MCAdministration --------------------------
(***************************************************************************)
(* Bounds of the open instance with an administrator: 1 member, 1          *)
(* partition, commits of processes that are no members; and what           *)
(* administration must always satisfy, stated without the operators of     *)
(* Administration.                                                         *)
(***************************************************************************)
EXTENDS MCOpen, OpenAdministration

OneMember == {"m1"}
OnePartition == {<<"foo", 0>>}
OneOrNone == {[t \in MCTopics |-> n] : n \in 0..1}
OneOffset == {0}
\* @type: Set(Int);
NoInts == {}

MCStateWords ==
  [w \in {"empty", "Stable", "RECONCILING", "Assigning", "nonsense"} |->
     IF w = "empty" THEN "Empty" ELSE IF w = "RECONCILING" THEN "Reconciling"
     ELSE IF w = "nonsense" THEN "" ELSE w]
MCTypeWords ==
  [w \in {"consumer", "Classic", "generic", "share"} |->
     IF w \in {"Classic", "generic"} THEN "classic" ELSE IF w = "share" THEN "" ELSE w]
MCStateFilters == {{}, {"empty"}, {"Stable", "RECONCILING"}, {"nonsense", "Assigning"}}
MCTypeFilters == {{}, {"consumer"}, {"generic"}, {"Classic", "share"}}
MCAlterations ==
  {SessionTimeoutMs} \X {{}, {45000}, {60000}, {60001}, {44999}}
  \cup {HeartbeatIntervalMs} \X {{}, {5000}, {15000}, {15001}, {4999}}
  \cup {<<"group.consumer.max.size", {7}>>, <<"group.consumer.max.size", {}>>}

AdminBoundedNext == AdminNext /\ group'.epoch <= MaxEpoch
AdminBoundedSpec == AdminInit /\ [][AdminBoundedNext]_adminVars

\* Invariant.  D3: a group's own value is one that the broker allows.
ConfigsInBounds ==
  /\ configs["group.consumer.session.timeout.ms"] \in {0} \cup 45000..60000
  /\ configs["group.consumer.heartbeat.interval.ms"] \in {0} \cup 5000..15000

\* @type: (Str) => Bool;
Does(action) == step'.action = action
NobodyIsThere == \A m \in MemberIds : group.members[m].epoch = NotInGroup
NothingIsThere == group.epoch = 0 /\ \A p \in Partitions : offsets[p] = -1

\* Step properties.  D1: only what has no member is deleted, whole.
DeletedExactly ==
  [][Does("DeleteGroups") =>
       LET error == step'.response.error IN
       /\ (error = "NON_EMPTY_GROUP") = ~NobodyIsThere
       /\ (error = "GROUP_ID_NOT_FOUND") = NothingIsThere
       /\ (error = "NONE") = (NobodyIsThere /\ ~NothingIsThere)
       /\ IF error = "NONE"
          THEN group' = NoGroup /\ \A p \in Partitions : offsets'[p] = -1
          ELSE UNCHANGED <<group, offsets>>]_adminVars

\* D1: configurations belong to no incarnation of the group.
ConfigsSurvive ==
  [][configs' # configs => Does("AlterConfigs") /\ step'.response.error = "NONE"]_adminVars

\* D1: one at a time, and then as the request asks.
AlteredExactly ==
  [][Does("AlterConfigs") =>
       \A name \in DOMAIN configs :
         configs'[name] =
           IF name # admin'.name \/ step'.response.error # "NONE" THEN configs[name]
           ELSE IF admin'.value = {} THEN 0 ELSE CHOOSE v \in admin'.value : TRUE]_adminVars

\* D1: asking changes nothing of the group, its topics and offsets.
AdministrationLeavesTheGroup ==
  [][Does("ListGroups") \/ Does("AlterConfigs") \/ Does("DescribeConfigs") =>
       UNCHANGED <<group, topics, offsets>>]_adminVars

\* D1, E5: the state that a list shows: a group of offsets alone is empty.
StateNow ==
  LET members == {m \in MemberIds : group.members[m].epoch # NotInGroup}
      Arrived(m) == /\ group.members[m].epoch = group.epoch /\ group.members[m].revoking = {}
                    /\ group.members[m].assigned = {p \in Partitions : group.target[p] = m}
  IN IF members = {} THEN "Empty"
     ELSE IF group.assignmentEpoch # group.epoch THEN "Assigning"
     ELSE IF \A m \in members : Arrived(m) THEN "Stable" ELSE "Reconciling"

\* D1: a group is listed with its state and its type, unless a filter names
\* others alone: then nothing is listed.
ListedExactly ==
  [][Does("ListGroups") =>
       LET type == IF group.epoch > 0 THEN "consumer" ELSE "classic"
           named == /\ admin'.states # {} => \E word \in admin'.states : StateWords[word] = StateNow
                    /\ admin'.types # {} => \E word \in admin'.types : TypeWords[word] = type
       IN admin'.listed = IF named /\ ~NothingIsThere THEN {<<StateNow, type>>} ELSE {}]_adminVars

\* D1, D3: the values that a group may have; of any other configuration none.
\* @type: (Str) => Set(Int);
AllowedOf(name) ==
  IF name = "group.consumer.session.timeout.ms" THEN 45000..60000
  ELSE IF name = "group.consumer.heartbeat.interval.ms" THEN 5000..15000 ELSE {}

\* D1, D3: a value that the broker does not allow is refused, and no other; to
\* take a value away is never an error.
AlterIsRefusedFor ==
  [][Does("AlterConfigs") =>
       step'.response.error = IF admin'.value \subseteq AllowedOf(admin'.name) THEN "NONE" ELSE "INVALID_CONFIG"]_adminVars

\* D1, D3: the configurations that are shown are in force, and are the
\* broker's where the group has none; no other request shows any.
ShownExactly ==
  [][IF Does("DescribeConfigs")
     THEN \A name \in DOMAIN configs :
            IF name \in admin'.own THEN admin'.shown[name] = configs[name] /\ configs[name] # 0
            ELSE /\ configs[name] = 0
                 /\ admin'.shown[name] =
                      IF name = "group.consumer.session.timeout.ms" THEN 45000 ELSE 5000
     ELSE DOMAIN admin'.shown = {} /\ admin'.own = {}]_adminVars

\* D1: a control, which must fail: configurations that go with their group.
ConfigsNeedAGroup == [][Does("DeleteGroups") /\ step'.response.error = "NONE" => configs' = NoConfigs]_adminVars
=============================================================================
