---------------------------- MODULE MCClientNews ----------------------------
(***************************************************************************)
(* Metadata and errors that a target brings beside partitions (R5, H9),    *)
(* and a topic that changes while a member computes (E1, A6): the topic is *)
(* created, grows or is deleted.  Some offers have a name twice (H3).      *)
(* Members send their own epochs, own what they are assigned, and join     *)
(* once.  Members that go, time-outs and fail-over are in MCClientGone and *)
(* MCClient.                                                               *)
(***************************************************************************)
EXTENDS MCClient

TwoPartitions == {<<"foo", 0>>, <<"foo", 1>>}
NoTopicYet == {[t \in MCTopics |-> 0]}
\* An assignor that m2 offers twice as it joins.
\* @type: Set(Seq($offer));
TwiceOffered == {<<Offer("x", 0, 2, "a"), Offer("x", 0, 1, "b")>>}

\* The first heartbeat of each member; m1 is first.
JoinsToCompute ==
  \E m \in MemberIds, said \in OfferLists \cup OddOfferLists :
    /\ m \notin Members(group)
    /\ m = "m1" \/ "m1" \in Members(group)
    /\ said \in OddOfferLists => m = "m2"
    /\ OfferingRequest(m, [NoRequest EXCEPT !.member = m, !.owned = {{}}, !.subscription = {MCTopics}], {said})

\* A later one reports what the member owns, or says nothing (H7).
ReportsOrNot ==
  \E m \in Members(group) : \E owned \in {{group.members[m].assigned}} \cup IF m = "m1" THEN {{}} ELSE {} :
    OfferingRequest(m, [NoRequest EXCEPT !.member = m, !.epoch = group.members[m].epoch, !.owned = owned], {})

\* The chosen member prepares, and installs an assignment of the epoch that was
\* prepared: all to m1, which partitions need not be there; or an error.
ComputesTarget ==
  \E m \in Members(group) \cap {computation.chosen} :
    \/ ~computation.prepared /\ Prepares(m, group.members[m].epoch)
    \/ \E carried \in {Carried(computation.base.epoch, 0, {"m1"} \X partitions) :
                         partitions \in {{}, OnePartition, TwoPartitions}}
                      \cup {Carried(computation.base.epoch, 1, {})} :
         Installing(m, group.members[m].epoch, carried)

NewsNext ==
  /\ JoinsToCompute \/ ReportsOrNot \/ ComputesTarget \/ ClientTopics
  /\ group'.epoch <= MaxEpoch
  /\ Does("DeleteTopic") => computation.prepared
NewsSpec == ClientInit /\ [][NewsNext]_clientVars

(***************************************************************************)
(* Properties                                                              *)
(***************************************************************************)

\* R5, H9: a member whose epoch advances gets the metadata or the error of its
\* target with its partitions, also where these stay.
SendsNews ==
  Does("Heartbeat") /\ Accepted =>
    LET m == step'.member IN
    computation'.told[m] # NoNews /\ group'.members[m].epoch # group.members[m].epoch =>
      step'.response.assignment # {} /\ clientStep'.told = computation'.told[m]
NewsIsTold == [][SendsNews]_clientVars

\* R5: and again with each answer, until the member has reported.
RepeatsNews ==
  Does("Heartbeat") /\ Accepted =>
    LET m == step'.member IN
    \/ group'.members[m].acknowledged
    \/ step'.response.assignment # {}
NewsIsRepeated == [][RepeatsNews]_clientVars

\* A6: a preparation shows a member only with topics that are there.
PreparedTopicsAreThere ==
  \A m \in MemberIds : \A t \in computation.base.members[m].topics : computation.base.metadata[t] > 0

\* R5: metadata that a member gets has a version; without metadata there is no
\* version.
MetadataHasAVersion ==
  \A m \in MemberIds : computation.told[m].version = IF computation.told[m].metadata = "" THEN 0 ELSE 1

\* H3: offers of one name are refused, and nothing changes.
TwiceIsRefused ==
  [][Does("Join") /\ (\E said \in clientStep'.offers : said \in OddOfferLists) =>
       step'.response.error = "INVALID_REQUEST" /\ UNCHANGED <<group, computation>>]_clientVars
=============================================================================
