---------------------------- MODULE ClassicTypes ----------------------------
(***************************************************************************)
(* Types of the classic group protocol (JoinGroup, SyncGroup), beside      *)
(* those of GroupTypes.  The module models nothing by itself.              *)
(*                                                                         *)
(* The coordinator passes the bytes of subscriptions and assignments on    *)
(* and does not read them.  Here a subscription is a set of topics, and an *)
(* assignment an option: {} means no bytes at all, {{}} means bytes that   *)
(* assign nothing.                                                         *)
(***************************************************************************)
EXTENDS GroupTypes

(*
  What the coordinator keeps of one member id.  `place` is "member", "pending"
  for an id that was made and has not joined yet (MEMBER_ID_REQUIRED), or "".
  `protocols` are in the member's order of preference.  `fresh` is a member
  that has not been in any generation; `joining` and `syncing` have a JoinGroup
  or SyncGroup that waits for its answer; who `owesSync` has yet to send one.
  @typeAlias: classicMember = {
    place: Str, instance: Str, protocols: Seq(Str), subscription: Set(Str),
    assignment: Set(Set($partition)),
    fresh: Bool, joining: Bool, syncing: Bool, owesSync: Bool
  };

  The record GroupMetadata (P1): one a group, with all its members.
  @typeAlias: savedMember = {
    there: Bool, instance: Str, subscription: Set(Str), assignment: Set(Set($partition))
  };
  @typeAlias: saved = {
    generation: Int, type: Str, protocol: Str, leader: Str, members: Str -> $savedMember
  };

  The group.  `initial` is a rebalance of a group that was empty, which ends
  after a delay; `newMember` says that someone joined during that delay, and
  `extensions` how often it may still be prolonged.  `saved` is the last record
  in the log, an option.
  @typeAlias: classicGroup = {
    state: Str, generation: Int, type: Str, protocol: Str, leader: Str,
    initial: Bool, newMember: Bool, extensions: Int,
    members: Str -> $classicMember, saved: Set($saved)
  };

  JoinGroup, SyncGroup, Heartbeat, LeaveGroup and OffsetCommit, the fields that
  these requirements use.  `assignments` are those of a SyncGroup, {} for who is
  not named; its `protocol` and `type` may be absent.
  @typeAlias: classicRequest = {
    member: Str, instance: Set(Str), generation: Int, type: Set(Str), protocol: Set(Str),
    protocols: Seq(Str), subscription: Set(Str), assignments: Str -> Set(Set($partition))
  };

  What a leader is told of a member.
  @typeAlias: joined = {member: Str, instance: Str, subscription: Set(Str)};

  A response of either API; `error` is "" while there is none.
  @typeAlias: classicResponse = {
    api: Str, error: Str, member: Str, generation: Int, type: Str, protocol: Str,
    leader: Str, skipAssignment: Bool, members: Set($joined), assignment: Set(Set($partition))
  };

  The response to a request that waited, and to whom.
  @typeAlias: answer = {member: Str, response: $classicResponse};
  @typeAlias: outcome = {group: $classicGroup, answers: Set($answer)};

  The last step: `response` is that of its own request, `completed` are those
  of requests that waited.  `topic`, `partitions`: of a changed topic;
  `partition` and `offset`: of a commit.
  @typeAlias: classicStep = {
    action: Str, branch: Str, member: Str, request: $classicRequest,
    response: $classicResponse, completed: Set($answer), topic: Str, partitions: Int,
    partition: Set($partition), offset: Int
  };
  @typeAlias: handled = {group: $classicGroup, step: $classicStep};

  A client process: `known` says that it has its member id, `phase` what it is
  doing ("join", "sync" or "stable"); an eager member owns nothing before
  "stable".  `leads` are the members that a leader assigns to.
  @typeAlias: classicClient = {
    up: Bool, known: Bool, phase: Str, generation: Int, subscription: Set(Str),
    owned: Set($partition), leads: Set($joined)
  };
*)
ClassicTypes_aliases == TRUE

\* @type: Seq(Str);
NoProtocols == <<>>

\* The generation of a client that is in none.
NoGeneration == -1

\* @type: $classicMember;
NoClassicMember == [place |-> "", instance |-> None, protocols |-> NoProtocols, subscription |-> {},
                    assignment |-> {}, fresh |-> FALSE, joining |-> FALSE, syncing |-> FALSE,
                    owesSync |-> FALSE]

\* @type: $savedMember;
NotSaved == [there |-> FALSE, instance |-> None, subscription |-> {}, assignment |-> {}]

\* @type: $classicResponse;
NoClassicResponse == [api |-> "", error |-> "", member |-> None, generation |-> NoGeneration, type |-> "",
                      protocol |-> "", leader |-> None, skipAssignment |-> FALSE, members |-> {},
                      assignment |-> {}]

\* The first of a member's protocols that is among some.
\* @type: (Seq(Str), Set(Str)) => Str;
FirstOf(protocols, among) ==
  LET places == {i \in DOMAIN protocols : protocols[i] \in among}
  IN protocols[CHOOSE i \in places : \A j \in places : i <= j]
=============================================================================
