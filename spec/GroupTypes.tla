----------------------------- MODULE GroupTypes -----------------------------
(***************************************************************************)
(* Types and small helpers that every module of the specification shares.  *)
(* The module models nothing by itself.                                    *)
(*                                                                         *)
(* An optional value is a set of at most one element: {} means absent      *)
(* (null on the wire), {x} means that x was given.  H10 needs the          *)
(* difference: owned partitions absent, empty and given are three          *)
(* different requests.                                                     *)
(***************************************************************************)
EXTENDS Integers

(*
  A partition of a topic: <<"foo", 0>>.
  @typeAlias: partition = <<Str, Int>>;

  What the coordinator keeps of one member.  `assigned` is what it last told
  the member to use, `revoking` what it told it to give up and what has not
  been acknowledged yet; together they are what the member holds (R7).
  `instance` is None for a dynamic member (S1), `regex` None without one (T1).
  @typeAlias: member = {
    epoch: Int, previousEpoch: Int, instance: Str,
    subscription: Set(Str), regex: Str, assignor: Str,
    assigned: Set($partition), revoking: Set($partition), acknowledged: Bool
  };

  The group.  `target` names the owner of each partition, so that no target
  can give one partition twice; `metadata` is the number of partitions that
  the group has recorded for each subscribed topic.
  @typeAlias: group = {
    epoch: Int, assignmentEpoch: Int, target: $partition -> Str,
    metadata: Str -> Int, members: Str -> $member
  };

  ConsumerGroupHeartbeat, the fields that these requirements use.
  @typeAlias: request = {
    member: Str, epoch: Int, instance: Set(Str), owned: Set(Set($partition)),
    subscription: Set(Set(Str)), regex: Set(Str), assignor: Set(Str)
  };
  @typeAlias: assignment = {assigned: Set($partition), pending: Set($partition)};
  @typeAlias: response = {
    error: Str, member: Str, epoch: Int, assignment: Set($assignment)
  };

  What the first step of a heartbeat leaves for the others.
  @typeAlias: updated = {group: $group, error: Str, kind: Str, acknowledges: Bool};

  The last step: its action, parameters and the response it produced.
  `partition` (an option) and `offset` are those of a commit or a fetch.
  @typeAlias: step = {
    action: Str, branch: Str, member: Str, request: $request,
    response: $response, topic: Str, partitions: Int,
    partition: Set($partition), offset: Int
  };

  A client process: what a member really owns, and knows.
  @typeAlias: client = {
    up: Bool, epoch: Int, owned: Set($partition), told: Set($partition),
    subscription: Set(Str), report: Bool
  };
*)
GroupTypes_aliases == TRUE

\* No member: the owner of a partition without an owner; also an absent member
\* id in a first join (H1), an absent instance id, an absent regular
\* expression.
\* @type: Str;
None == ""

\* The epoch of a member id that is not in the group.
NotInGroup == -1

\* S1: the epoch of a static member that left and may return; the member sends
\* this epoch when it leaves (H2).
Away == -2

\* @type: $request;
NoRequest == [member |-> None, epoch |-> 0, instance |-> {}, owned |-> {},
              subscription |-> {}, regex |-> {}, assignor |-> {}]

\* @type: $response;
NoResponse == [error |-> "", member |-> None, epoch |-> 0, assignment |-> {}]

\* @type: $step;
NoStep == [action |-> "Init", branch |-> "", member |-> None, request |-> NoRequest,
           response |-> NoResponse, topic |-> "", partitions |-> 0,
           partition |-> {}, offset |-> 0]

\* An option's value, or `default` where it is absent; of a set, of a string.
\* @type: (Set(Set(a)), Set(a)) => Set(a);
ValueOr(option, default) == IF option = {} THEN default ELSE UNION option

\* @type: (Set(Str), Str) => Str;
TextOr(option, default) == IF option = {} THEN default ELSE CHOOSE x \in option : TRUE
=============================================================================
