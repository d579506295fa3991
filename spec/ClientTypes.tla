----------------------------- MODULE ClientTypes -----------------------------
(***************************************************************************)
(* Types of the client-side assignors (A1, A5-A10): the assignors that     *)
(* members offer, the computation that one member is asked for, and the    *)
(* result of a step about them.                                            *)
(***************************************************************************)
EXTENDS Coordinator, Sequences

(*
  A client-side assignor as a member offers it (H10): the versions of metadata
  that it reads, and its own metadata with version and reason.
  @typeAlias: offer = {name: Str, min: Int, max: Int, version: Int, reason: Int, metadata: Str};

  What an assignment tells a member beside its partitions (H9): the assignor's
  error, or metadata of its own.
  @typeAlias: told = {error: Int, version: Int, metadata: Str};

  A member as PrepareAssignment shows it; `epoch` NotInGroup for none.
  @typeAlias: prepared = {epoch: Int, instance: Str, topics: Set(Str), offer: $offer};

  What PrepareAssignment returned, and an assignment is judged against (A6).
  @typeAlias: base = {
    epoch: Int, assignor: Str, members: Str -> $prepared,
    metadata: Str -> Int, target: $partition -> Str
  };

  Beside the group: what members offer, the first they prefer most; what their
  target tells them beside partitions; who was chosen to compute (None: nobody),
  whether it was told so and has prepared, and from what; who was chosen before
  for the target that is due, and was too late.
  @typeAlias: computation = {
    offers: Str -> Seq($offer), told: Str -> $told, chosen: Str, notified: Bool,
    prepared: Bool, base: $base, tried: Set(Str)
  };

  Beside the step: what a heartbeat says of the assignors (absent: unchanged),
  and is answered; what an install carries, every member with a partition.
  @typeAlias: clientStep = {
    offers: Set(Seq($offer)), compute: Bool, told: $told, groupEpoch: Int,
    error: Int, assignment: Set(<<Str, $partition>>), metadata: Str
  };
*)
ClientTypes_aliases == TRUE

CONSTANTS
  \* Names of members and assignors in their order, for ties.
  \* @type: Str -> Int;
  Order,
  \* Choice among the members that may be chosen: "any", or the "first" by
  \* Order.
  \* @type: Str;
  ChoiceRule

\* @type: Seq($offer);
NoOffers == <<>>
\* @type: $offer;
NoOffer == [name |-> "", min |-> 0, max |-> 0, version |-> 0, reason |-> 0, metadata |-> ""]
\* @type: $told;
NoNews == [error |-> 0, version |-> 0, metadata |-> ""]
\* @type: $prepared;
NotPrepared == [epoch |-> NotInGroup, instance |-> None, topics |-> {}, offer |-> NoOffer]
\* @type: $base;
NoBase == [epoch |-> 0, assignor |-> "", members |-> [m \in MemberIds |-> NotPrepared],
           metadata |-> [t \in Topics |-> 0], target |-> [p \in Partitions |-> None]]
\* @type: $computation;
NoComputation == [offers |-> [m \in MemberIds |-> NoOffers], told |-> [m \in MemberIds |-> NoNews],
                  chosen |-> None, notified |-> FALSE, prepared |-> FALSE, base |-> NoBase, tried |-> {}]
\* @type: $clientStep;
NoClientStep == [offers |-> {}, compute |-> FALSE, told |-> NoNews, groupEpoch |-> 0,
                 error |-> 0, assignment |-> {}, metadata |-> ""]
=============================================================================
