----------------------------- MODULE GroupTypes -----------------------------
(***************************************************************************)
(* Types and small helpers that every module of the specification shares.  *)
(* It models nothing by itself.                                            *)
(*                                                                         *)
(* An optional value is a set of at most one element: {} says "absent"     *)
(* (null on the wire), {x} says "x was given".  H10 needs the difference:  *)
(* owned partitions absent, empty and given are three different requests.  *)
(***************************************************************************)
EXTENDS Integers

(*
  A partition of a topic: <<"foo", 0>>.
  @typeAlias: partition = <<Str, Int>>;

  What the coordinator keeps of one member.  `assigned` is what it last told
  the member to use, `revoking` what it told it to give up and what has not
  been acknowledged yet; together they are what the member holds (R7).
  @typeAlias: member = {
    epoch: Int, previousEpoch: Int, subscription: Set(Str), assignor: Str,
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
    member: Str, epoch: Int, owned: Set(Set($partition)),
    subscription: Set(Set(Str)), assignor: Set(Str)
  };
  @typeAlias: assignment = {assigned: Set($partition), pending: Set($partition)};
  @typeAlias: response = {
    error: Str, member: Str, epoch: Int, assignment: Set($assignment)
  };

  What the first step of a heartbeat leaves for the others.
  @typeAlias: updated = {group: $group, error: Str, kind: Str, acknowledges: Bool};

  The last step: its action, parameters and the response it produced.
  @typeAlias: step = {
    action: Str, branch: Str, member: Str, request: $request,
    response: $response, topic: Str, partitions: Int
  };

  A client process: what a member really owns, and knows.
  @typeAlias: client = {
    up: Bool, epoch: Int, owned: Set($partition), told: Set($partition),
    subscription: Set(Str), report: Bool
  };
*)
GroupTypes_aliases == TRUE

\* No member: the owner of a partition that nobody shall have; also a member
\* id that is left out of a first join (H1).
\* @type: Str;
None == ""

\* The epoch of a member id that is not in the group.
NotInGroup == -1

\* @type: $request;
NoRequest == [member |-> None, epoch |-> 0, owned |-> {}, subscription |-> {}, assignor |-> {}]

\* @type: $response;
NoResponse == [error |-> "", member |-> None, epoch |-> 0, assignment |-> {}]

\* @type: $step;
NoStep == [action |-> "Init", branch |-> "", member |-> None, request |-> NoRequest,
           response |-> NoResponse, topic |-> "", partitions |-> 0]

\* An option's value, or `default` where it is absent.
\* @type: (Set(Set(a)), Set(a)) => Set(a);
ValueOr(option, default) == IF option = {} THEN default ELSE UNION option
=============================================================================
