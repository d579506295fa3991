--------------------------- MODULE TornConversion ---------------------------
(***************************************************************************)
(* A conversion of a group that is too large for one batch (M1, P4), and a *)
(* coordinator that fails between any two batches.                         *)
(*                                                                         *)
(* One batch is atomic, a conversion of several is not.  One of the        *)
(* batches must decide of which kind the group is.  The decision:          *)
(* - up: the records of members and topics, and the partitions that        *)
(*   members hold, come first, in any number of batches; the last batch    *)
(*   has the epoch of the consumer group, the whole target and the classic *)
(*   tombstone;                                                            *)
(* - back: the first batch has the classic record and the tombstone of the *)
(*   consumer group's epoch; the other tombstones come after it;           *)
(* - loading: a group whose classic record has a value and whose consumer  *)
(*   group's epoch has none is the classic group.  The other records of    *)
(*   the consumer group are left over: they are not loaded, and they are   *)
(*   removed before the next coordinator writes anything else.             *)
(*                                                                         *)
(* The log is the last record of each key, as compaction leaves it.  A     *)
(* value is the number of the step that wrote it, so that a record of an   *)
(* earlier group differs from a record of the present group.               *)
(*                                                                         *)
(* Left out: the content of the records, offsets, requests, and the time   *)
(* at which a conversion takes place (all in Migration).                   *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
  \* @type: Set(Str);
  MemberIds,
  \* How many steps may write; not part of the protocol.
  \* @type: Int;
  MaxSteps,
  \* Are the batches of a conversion up in the order of the decision above?  If
  \* not, the classic tombstone goes first.
  \* @type: Bool;
  TombstoneLast,
  \* Does a new coordinator remove left-over records?
  \* @type: Bool;
  RemovesLeftovers

(*
  The key of a record: its type, and the member or "".
  @typeAlias: key = <<Str, Str>>;
  The value of a record: the step that wrote it, 0 for a tombstone; the members
  that a classic record names.
  @typeAlias: written = {step: Int, members: Set(Str)};
  @typeAlias: batch = $key -> $written;

  A group of either kind: the step that wrote its epoch or generation, and of
  each member the steps that wrote its metadata, target and current assignment.
  @typeAlias: loadedGroup = {
    kind: Str, step: Int, topics: Int, targetEpoch: Int,
    said: Str -> Int, target: Str -> Int, current: Str -> Int
  };

  What is still to be written: the records of a stage go into any number of
  batches, unless it is `whole`.
  @typeAlias: stage = {records: $batch, whole: Bool};
*)
TornConversion_aliases == TRUE

Classic == "GroupMetadata"
Epoch == "ConsumerGroupMetadata"
TopicsOf == "ConsumerGroupPartitionMetadata"
TargetEpoch == "ConsumerGroupTargetAssignmentMetadata"
MemberRecord == "ConsumerGroupMemberMetadata"
Target == "ConsumerGroupTargetAssignmentMember"
Current == "ConsumerGroupCurrentMemberAssignment"

\* @type: Set($key);
OfGroup == {<<Epoch, "">>, <<TopicsOf, "">>, <<TargetEpoch, "">>}
\* @type: Set($key);
OfMembers == {<<type, m>> : type \in {MemberRecord, Target, Current}, m \in MemberIds}
\* @type: Set($key);
OfConsumers == OfGroup \cup OfMembers
\* @type: Set($key);
Keys == OfConsumers \cup {<<Classic, "">>}

\* "Atomicity is not a concern" of these, in KIP-848's words, nor of what
\* members hold by their target.
\* @type: Set($key);
Independent == {k \in OfConsumers : k[1] \in {MemberRecord, TopicsOf, Current}}

\* @type: $written;
None == [step |-> 0, members |-> {}]

VARIABLES
  \* The last record of each key.
  \* @type: $key -> $written;
  log,
  \* Batches of the current step that the coordinator still has to write.
  \* @type: Seq($stage);
  pending,
  \* The group before that step, and after it.
  \* @type: $loadedGroup;
  before,
  \* @type: $loadedGroup;
  after,
  \* The number of the last step.
  \* @type: Int;
  steps

vars == <<log, pending, before, after, steps>>

(***************************************************************************)
(* Loading (P2, P3)                                                        *)
(***************************************************************************)

\* @type: Str -> Int;
Nothing == [m \in MemberIds |-> 0]

\* @type: (Int, Set(Str)) => $loadedGroup;
ClassicGroup(step, members) ==
  [kind |-> "classic", step |-> step, topics |-> 0, targetEpoch |-> 0,
   said |-> [m \in MemberIds |-> IF m \in members THEN step ELSE 0], target |-> Nothing, current |-> Nothing]

\* P4, M1: is the group that the log has the classic one?
\* @type: ($key -> $written) => Bool;
IsClassic(records) == records[<<Classic, "">>].step # 0 /\ records[<<Epoch, "">>].step = 0

\* @type: ($key -> $written) => $loadedGroup;
Loaded(records) ==
  LET Of(type, m) == records[<<type, m>>].step
  IN IF IsClassic(records)
     THEN ClassicGroup(Of(Classic, ""), records[<<Classic, "">>].members)
     ELSE [kind |-> IF Of(Epoch, "") = 0 THEN "none" ELSE "consumer", step |-> Of(Epoch, ""),
           topics |-> Of(TopicsOf, ""), targetEpoch |-> Of(TargetEpoch, ""),
           said |-> [m \in MemberIds |-> Of(MemberRecord, m)],
           target |-> [m \in MemberIds |-> Of(Target, m)],
           current |-> [m \in MemberIds |-> Of(Current, m)]]

\* P4: records that a torn conversion has left beside a classic group.
\* @type: ($key -> $written) => Set($key);
Leftovers(records) ==
  IF IsClassic(records) THEN {k \in OfConsumers : records[k].step # 0} ELSE {}

(***************************************************************************)
(* Records that a step writes                                              *)
(***************************************************************************)

\* @type: ($loadedGroup) => Set(Str);
MembersOf(g) == {m \in MemberIds : g.said[m] # 0}

\* @type: (Set($key)) => $batch;
Tombstones(keys) == [k \in keys |-> None]

\* @type: (Set($key), Int) => $batch;
Values(keys, step) == [k \in keys |-> [step |-> step, members |-> {}]]

\* @type: (Int, Set(Str)) => $batch;
ClassicRecord(step, members) == [k \in {<<Classic, "">>} |-> [step |-> step, members |-> members]]

\* @type: ($batch, $batch) => $batch;
Joined(one, other) ==
  [k \in DOMAIN one \cup DOMAIN other |-> IF k \in DOMAIN one THEN one[k] ELSE other[k]]

\* @type: ($batch, Bool) => Seq($stage);
Stage(records, whole) == IF DOMAIN records = {} THEN <<>> ELSE <<[records |-> records, whole |-> whole]>>

\* @type: ($key -> $written, $batch) => ($key -> $written);
Applied(records, batch) == [k \in Keys |-> IF k \in DOMAIN batch THEN batch[k] ELSE records[k]]

\* P4: leftover records go before anything else is written.
\* @type: Seq($stage);
Cleaning == IF RemovesLeftovers THEN Stage(Tombstones(Leftovers(log)), FALSE) ELSE <<>>

\* The keys of a whole consumer group.
\* @type: (Set(Str)) => Set($key);
KeysOf(members) == OfGroup \cup {k \in OfMembers : k[2] \in members}

\* M1: the batches that a conversion writes.
\* @type: (Int, Set(Str)) => Seq($stage);
Upgrade(step, members) ==
  LET apart == Stage(Values(KeysOf(members) \cap Independent, step), FALSE)
      deciding == Values(KeysOf(members) \ Independent, step)
      tombstone == Tombstones({<<Classic, "">>})
  IN IF TombstoneLast THEN apart \o Stage(Joined(deciding, tombstone), TRUE)
     ELSE Stage(tombstone, TRUE) \o apart \o Stage(deciding, TRUE)

\* @type: (Int, Set(Str)) => Seq($stage);
Downgrade(step, members) ==
  Stage(Joined(ClassicRecord(step, members), Tombstones({<<Epoch, "">>})), TRUE)
  \o Stage(Tombstones(KeysOf(MembersOf(before)) \ {<<Epoch, "">>}), FALSE)

\* P1: a consumer group with other members: one batch, with all records.
\* @type: (Int, Set(Str)) => Seq($stage);
Changed(step, members) ==
  LET gone == {k \in OfMembers : k[2] \in MembersOf(before) \ members}
  IN Stage(Joined(Values(KeysOf(members), step), Tombstones(gone)), TRUE)

(***************************************************************************)
(* The coordinator                                                         *)
(***************************************************************************)

\* A classic group that has never been another one.
Init ==
  \E members \in (SUBSET MemberIds) \ {{}} :
    /\ log = Applied([k \in Keys |-> None], ClassicRecord(1, members))
    /\ pending = <<>>
    /\ before = ClassicGroup(1, members) /\ after = ClassicGroup(1, members)
    /\ steps = 1

\* The step of the group that `members` make is done: nothing is written yet.
\* @type: (Str, Set(Str), Seq($stage)) => Bool;
Begin(kind, members, stages) ==
  /\ pending = <<>> /\ steps < MaxSteps
  /\ steps' = steps + 1
  /\ pending' = Cleaning \o stages
  /\ after' =
       IF kind = "classic" THEN ClassicGroup(steps + 1, members)
       ELSE LET Given(m) == IF m \in members THEN steps + 1 ELSE 0
            IN [kind |-> kind, step |-> steps + 1, topics |-> steps + 1, targetEpoch |-> steps + 1,
                said |-> [m \in MemberIds |-> Given(m)], target |-> [m \in MemberIds |-> Given(m)],
                current |-> [m \in MemberIds |-> Given(m)]]
  /\ UNCHANGED <<log, before>>

\* M1: a consumer joins a classic group; the others stay.
ConvertUp ==
  /\ before.kind = "classic"
  /\ \E m \in MemberIds :
       LET members == MembersOf(before) \cup {m} IN Begin("consumer", members, Upgrade(steps + 1, members))

\* M1: the last consumer leaves, and others stay.
ConvertBack ==
  /\ before.kind = "consumer"
  /\ \E m \in MembersOf(before) :
       LET members == MembersOf(before) \ {m} IN
       members # {} /\ Begin("classic", members, Downgrade(steps + 1, members))

\* Members come and go; the group keeps its kind.
ChangeMembers ==
  \E members \in (SUBSET MemberIds) \ {{}} :
    \/ /\ before.kind = "classic"
       /\ Begin("classic", members, Stage(ClassicRecord(steps + 1, members), TRUE))
    \/ /\ before.kind = "consumer"
       /\ Begin("consumer", members, Changed(steps + 1, members))

\* P4: the next batch, of any size: all of its records are written, or none.
WriteBatch ==
  /\ pending # <<>>
  /\ \E keys \in (SUBSET DOMAIN Head(pending).records) \ {{}} :
       LET records == Head(pending).records
           left == DOMAIN records \ keys
       IN /\ Head(pending).whole => left = {}
          /\ log' = Applied(log, [k \in keys |-> records[k]])
          /\ pending' = Stage([k \in left |-> records[k]], Head(pending).whole) \o Tail(pending)
  /\ before' = IF pending' = <<>> THEN after ELSE before
  /\ UNCHANGED <<after, steps>>

\* P2: the coordinator fails, between two batches too; the next one loads the log.
FailOver ==
  /\ pending # <<>>
  /\ pending' = <<>>
  /\ before' = Loaded(log) /\ after' = Loaded(log)
  /\ UNCHANGED <<log, steps>>

Next == ConvertUp \/ ConvertBack \/ ChangeMembers \/ WriteBatch \/ FailOver

Spec == Init /\ [][Next]_vars

(***************************************************************************)
(* Properties                                                              *)
(***************************************************************************)

\* M1, P4: whatever has been written of a step, the log has the group before it
\* or the group after it, whole.
OldOrNew == Loaded(log) \in {before, after}

\* P1: once a step is done, the log has what the coordinator has.
LogIsTheGroup == pending = <<>> => Loaded(log) = before

\* M1: never a group of both kinds, and never none.
OneKind == (log[<<Classic, "">>].step # 0) # (log[<<Epoch, "">>].step # 0)

\* P4: a group that was decided on is never the old one again.
DecidedForGood == [][Loaded(log) = after /\ after' = after => Loaded(log') = after]_vars

\* P4: one batch has the whole target, with its epoch and that of the group.
TargetIsOneBatch ==
  [][LET written == {k \in OfConsumers : /\ k[1] \in {Epoch, TargetEpoch, Target}
                                         /\ log'[k].step # 0 /\ log'[k] # log[k]}
         \* @type: Set(<<Str, Str>>);
         whole == {<<Epoch, "">>, <<TargetEpoch, "">>} \cup {<<Target, m>> : m \in MembersOf(after)}
     IN written \in {{}, whole}]_vars

\* P4: records that an earlier step has left beside a classic group are removed
\* before anything else is written.
LeftoversGoFirst ==
  [][LET isClassic == log[<<Classic, "">>].step # 0 /\ log[<<Epoch, "">>].step = 0
         old == {k \in OfConsumers : isClassic /\ log[k].step \notin {0, steps}}
     IN old # {} => \A k \in Keys : log'[k] # log[k] => k \in old /\ log'[k].step = 0]_vars

\* P4: a step that is done has left nothing of a consumer group beside a
\* classic one.
NothingIsLeftOver ==
  [][pending' = <<>> /\ log' # log /\ log'[<<Epoch, "">>].step = 0 =>
       \A k \in OfConsumers : log'[k].step = 0]_vars
=============================================================================
