--------------------------- MODULE Administration ---------------------------
(***************************************************************************)
(* Requests of an administrator about a group (D1): listing it by state    *)
(* and type, deleting it, and giving it configurations of its own.         *)
(*                                                                         *)
(* KIP-848 has no DeleteGroups; its errors are Kafka's.  A group that has  *)
(* committed offsets and nothing else, Kafka's simple group, is listed and *)
(* can be deleted like any other.                                          *)
(*                                                                         *)
(* Configurations belong to the cluster: they may exist before the group,  *)
(* and no event of the group changes them.                                 *)
(*                                                                         *)
(* Left out: several groups in one request (each is judged alone), rights  *)
(* (D5), and details of the wire: null and repeated names.                 *)
(***************************************************************************)
EXTENDS OpenOffsets

(*
  Beside the step: the filters of a list, and what it has of the group, its
  state and its type; a configuration and its new value (absent: as the broker
  has it); what a description shows, and which of it is the group's own.
  @typeAlias: admin = {
    states: Set(Str), types: Set(Str), listed: Set(<<Str, Str>>),
    name: Str, value: Set(Int), shown: Str -> Int, own: Set(Str)
  };
*)
Administration_aliases == TRUE

\* @type: (Str, Str) => $step;
AdminStep(action, error) ==
  [NoStep EXCEPT !.action = action, !.response = [NoResponse EXCEPT !.error = error]]

(***************************************************************************)
(* Deletion (D1, E5)                                                       *)
(***************************************************************************)

\* @type: ($partition -> Int) => Bool;
HasOffsets(committed) == \E p \in Partitions : committed[p] # NoOffset

\* @type: ($group, $partition -> Int) => Str;
DeletionError(g, committed) ==
  IF ~Exists(g) /\ ~HasOffsets(committed) THEN "GROUP_ID_NOT_FOUND"
  ELSE IF Members(g) # {} THEN "NON_EMPTY_GROUP"
  ELSE "NONE"

\* The group and all that it has committed are gone, or nothing is.
DeleteGroups ==
  LET error == DeletionError(group, offsets) IN
  /\ group' = IF error = "NONE" THEN NoGroup ELSE group
  /\ offsets' = IF error = "NONE" THEN NoOffsets ELSE offsets
  /\ step' = AdminStep("DeleteGroups", error)
  /\ UNCHANGED topics

(***************************************************************************)
(* Lists (D1)                                                              *)
(***************************************************************************)

\* State and type of the group as a list has them; absent if there is none.
\* @type: ($group, $partition -> Int) => Set(<<Str, Str>>);
ListedAs(g, committed) ==
  IF Exists(g) THEN {<<GroupState(g), "consumer">>}
  ELSE IF HasOffsets(committed) THEN {<<"Empty", "classic">>}
  ELSE {}

\* An empty filter lets every group pass.  A word of a filter names a state or
\* a type, in any case; a word that names neither lets no group pass, and is no
\* error.
\* @type: (Set(Str), Str -> Str, Str) => Bool;
Passes(filter, words, value) == filter = {} \/ \E word \in filter : words[word] = value

(***************************************************************************)
(* Configurations (D1, D3)                                                 *)
(***************************************************************************)

SessionTimeoutMs == "group.consumer.session.timeout.ms"
HeartbeatIntervalMs == "group.consumer.heartbeat.interval.ms"
GroupConfigs == {SessionTimeoutMs, HeartbeatIntervalMs}

\* D3: the broker's own values, and its bounds of a group's.
\* @type: Str -> Int;
BrokerConfig == [name \in GroupConfigs |-> IF name = SessionTimeoutMs THEN 45000 ELSE 5000]
\* @type: Str -> Int;
MaxConfig == [name \in GroupConfigs |-> IF name = SessionTimeoutMs THEN 60000 ELSE 15000]

\* A group that has none of its own.
\* @type: Str -> Int;
NoConfigs == [name \in GroupConfigs |-> 0]

\* @type: (Str, Set(Int)) => Str;
AlterError(name, value) ==
  IF value = {} THEN "NONE"
  ELSE IF name \notin GroupConfigs THEN "INVALID_CONFIG"
  ELSE IF \A v \in value : BrokerConfig[name] <= v /\ v <= MaxConfig[name] THEN "NONE"
  ELSE "INVALID_CONFIG"

\* @type: (Str -> Int, Str, Set(Int)) => (Str -> Int);
Altered(configs, name, value) ==
  [n \in GroupConfigs |->
     IF n # name THEN configs[n] ELSE IF value = {} THEN 0 ELSE CHOOSE v \in value : TRUE]

\* The configurations in force: the group's own, else the broker's.
\* @type: (Str -> Int) => (Str -> Int);
InForce(configs) == [n \in GroupConfigs |-> IF configs[n] = 0 THEN BrokerConfig[n] ELSE configs[n]]

\* @type: Str -> Int;
NothingShown == [n \in {x \in GroupConfigs : FALSE} |-> 0]

\* @type: $admin;
NoAdmin == [states |-> {}, types |-> {}, listed |-> {}, name |-> "", value |-> {},
            shown |-> NothingShown, own |-> {}]
=============================================================================
