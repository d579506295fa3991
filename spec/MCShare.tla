------------------------------- MODULE MCShare ------------------------------
(***************************************************************************)
(* Bounds of the open instance of share groups: 2 members, 1 topic of at   *)
(* most 2 partitions, or 2 topics of 1.  Group epochs above MaxEpoch are   *)
(* cut off, which is sound here: no property is a promise of progress.     *)
(***************************************************************************)
EXTENDS OpenShare, ShareProperties

CONSTANT
  \* @type: Int;
  MaxEpoch

TwoMembers == {"m1", "m2"}
OneTopic == {"foo"}
TwoTopics == {"foo", "bar"}
MCEpochs == -2..MaxEpoch
\* Silent, or one topic or none.
\* @type: Set(Set(Set(Str)));
SilentOrFoo == {{}, {{}}, {{"foo"}}}
\* @type: Set(Set(Set(Str)));
SilentOrSome == {{}, {{"foo"}}, {TwoTopics}}

BoundedNext == Next /\ share'.epoch <= MaxEpoch
BoundedSpec == Init /\ [][BoundedNext]_vars

\* Invariants.
TypeOK == ShareTypeOK(share)
EpochsInOrder == EpochsOrdered(share)
OnlySubscribed == OnlySubscribedTopics(share)
Simple == EveryoneHasEverything(share)
AtOnce == AssignedAtOnce(share)
NamedState == StateIsNamed(share)

\* Controls, which must fail.
\* Q4: in a consumer group no two members have the same partition.
NobodyShares ==
  \A m, n \in Members(share) : m # n => share.members[m].assigned \intersect share.members[n].assigned = {}
\* Q5: a member hears of another epoch with its next heartbeat.
NobodyIsBehind == \A m \in Members(share) : share.members[m].epoch = share.epoch

\* Step properties.
BumpedExactly == [][EpochBumpedExactly(share, share')]_vars
EpochsNeverDecrease == [][EpochsGoUp(share, share')]_vars
Undisturbed == [][OthersKeepTheirs(share, share', step')]_vars
NothingIfRefused == [][RefusedChangesNothing(share, share', step')]_vars
Joins == [][JoinsAsItSays(share', step')]_vars
ErrorsAreExact == [][ShareErrorsExactly(share, step')]_vars
Told == [][ToldWhatItHas(share, share', step')]_vars
Gone == [][GoneExactly(share, share', step')]_vars
FailOverAndDeletion == [][KeptAndDeleted(share, share', step')]_vars
TopicsNoticed == [][TopicsAreNoticed(share', topics, step')]_vars
Subscribes == [][SubscriptionIsTaken(share, share', step')]_vars
PreviousKept == [][PreviousEpochIsKept(share, share')]_vars
UpToDate == [][SenderIsUpToDate(share', step')]_vars
NamedBranch == [][BranchIsNamed(share, share', step')]_vars
NoRequestOfEvents == [][EventsRequestNothing(step')]_vars
NothingToOthers == [][OthersGetNothing(step')]_vars
=============================================================================
