------------------------------- MODULE Groups -------------------------------
(***************************************************************************)
(* Operators that read a group, and how its epoch is bumped: the other     *)
(* modules of the coordinator share these.  A topic is an id with a name;  *)
(* the partitions of an id never become those of another (T2).             *)
(***************************************************************************)
EXTENDS GroupTypes, Dialects, FiniteSets

CONSTANTS
  \* The member ids that exist.
  \* @type: Set(Str);
  MemberIds,
  \* Topic ids.
  \* @type: Set(Str);
  Topics,
  \* The name of each topic id (T2).
  \* @type: Str -> Str;
  TopicName,
  \* The valid regular expressions, and the topic names that each matches (T1).
  \* @type: Str -> Set(Str);
  Regexes,
  \* Every partition that can ever exist.
  \* @type: Set($partition);
  Partitions,
  \* The departures from KIP-848's text.
  \* @type: $dialect;
  Dialect,
  \* The targets that the assignor may choose: "any" legal one, or "uniform".
  \* @type: Str;
  TargetRule,
  \* The server side assignors that the coordinator has (H4).
  \* @type: Set(Str);
  Assignors,
  \* The most members that a group may have (H5).
  \* @type: Int;
  MaxGroupSize

\* The choice of most models: no topic is recreated, no regular expression.
\* @type: Str -> Str;
OwnName == [t \in Topics |-> t]
\* @type: Str -> Set(Str);
NoRegexes == [r \in {x \in {""} : FALSE} |-> {}]
TwoAssignors == {"range", "uniform"}
\* A1, A2: the first name of `group.consumer.assignors`.
FirstAssignor == "uniform"

(***************************************************************************)
(* Reading a group                                                         *)
(***************************************************************************)

\* @type: $member;
NoMember == [epoch |-> NotInGroup, previousEpoch |-> 0, instance |-> None,
             subscription |-> {}, regex |-> None, assignor |-> "",
             assigned |-> {}, revoking |-> {}, acknowledged |-> FALSE]

\* A group that does not exist: never created, or deleted (E5 DEAD).
\* @type: $group;
NoGroup == [epoch |-> 0, assignmentEpoch |-> 0,
            target |-> [p \in Partitions |-> None],
            metadata |-> [t \in Topics |-> 0],
            members |-> [m \in MemberIds |-> NoMember]]

\* @type: ($group) => Bool;
Exists(g) == g.epoch > 0

\* @type: ($group) => Set(Str);
Members(g) == {m \in MemberIds : g.members[m].epoch # NotInGroup}

\* @type: ($group, Str) => Set($partition);
TargetOf(g, m) == {p \in Partitions : g.target[p] = m}

\* Partitions that a member holds: it may own all of them (R7, coordinator's
\* view).
\* @type: ($group, Str) => Set($partition);
Held(g, m) == g.members[m].assigned \cup g.members[m].revoking

\* @type: ($group, Str) => Set($partition);
HeldByOthers(g, m) == {p \in Partitions : \E n \in MemberIds \ {m} : p \in Held(g, n)}

\* The topics that a member subscribes to: by name, or because its regular
\* expression matches their name (T1).  Topics are ids (T2): two may have had
\* the same name, one after the other.
\* @type: ($member) => Set(Str);
TopicsOf(member) ==
  {t \in Topics :
     \/ TopicName[t] \in member.subscription
     \/ member.regex # None /\ TopicName[t] \in Regexes[member.regex]}

\* @type: ($group) => Set(Str);
Subscribed(g) == UNION {TopicsOf(g.members[m]) : m \in MemberIds}

\* The existing partitions of topics that some member subscribes to.
\* @type: ($group) => Set($partition);
SubscribedPartitions(g) == {p \in Partitions : p[2] < g.metadata[p[1]]}

\* Members that have reached the group epoch with exactly their target (E3).
\* @type: ($group, Str) => Bool;
HasConverged(g, m) ==
  /\ g.members[m].epoch = g.epoch
  /\ g.members[m].assigned = TargetOf(g, m)
  /\ g.members[m].revoking = {}

\* E5.
\* @type: ($group) => Str;
GroupState(g) ==
  IF ~Exists(g) THEN "Dead"
  ELSE IF Members(g) = {} THEN "Empty"
  ELSE IF g.epoch > g.assignmentEpoch THEN "Assigning"
  ELSE IF \E m \in Members(g) : ~HasConverged(g, m) THEN "Reconciling"
  ELSE "Stable"

(***************************************************************************)
(* Group epoch (E1)                                                        *)
(***************************************************************************)

\* @type: ($group) => $group;
BumpGroupEpoch(g) ==
  [g EXCEPT !.epoch = IF Exists(g) THEN g.epoch + 1 ELSE Dialect.FirstGroupEpoch]

\* A1: the assignor that most members name.  In a tie, and if none is named,
\* the first that is configured.
\* @type: ($group) => Str;
Preferred(g) ==
  LET votes == [a \in Assignors |-> Cardinality({m \in Members(g) : g.members[m].assignor = a})]
      most == {a \in Assignors : \A b \in Assignors : votes[b] <= votes[a]}
  IN IF FirstAssignor \in most THEN FirstAssignor ELSE CHOOSE a \in most : TRUE

\* E1: where that is what counts of the assignors that members name.
\* @type: ($group, $group) => Bool;
PreferenceChanged(g, h) == Dialect.AssignorChangeBumps = "if-preferred" /\ Preferred(g) # Preferred(h)

\* The group's record of the topics: `topics` is the number of partitions of
\* each topic in the cluster, 0 before it is created, -1 once deleted.
\* @type: ($group, Str -> Int) => (Str -> Int);
MetadataOf(g, topics) ==
  [t \in Topics |-> IF t \in Subscribed(g) /\ topics[t] > 0 THEN topics[t] ELSE 0]

\* T2: a topic id is new, and no other with its name is there.
\* @type: (Str -> Int, Str) => Bool;
MayBeCreated(topics, t) ==
  topics[t] = 0 /\ \A other \in Topics : TopicName[other] = TopicName[t] => topics[other] <= 0

\* A group that is new: its empty target is of the epoch that it starts at.
\* @type: ($group) => $group;
Created(g) ==
  IF Exists(g) THEN g
  ELSE [g EXCEPT !.epoch = Dialect.FirstGroupEpoch - 1, !.assignmentEpoch = Dialect.FirstGroupEpoch - 1]

\* E1: bump once, whatever changed: the members or their subscriptions
\* (`changed`), or the partition metadata of what they subscribe to.
\* @type: ($group, Str -> Int, Bool) => $group;
RefreshGroup(g, topics, changed) ==
  LET refreshed == [g EXCEPT !.metadata = MetadataOf(g, topics)] IN
  IF changed \/ refreshed.metadata # g.metadata THEN BumpGroupEpoch(refreshed) ELSE Created(g)

\* Members leave, expire or are fenced: their partitions are free (E1).
\* @type: ($group, Str -> Int, Str) => $group;
RemoveMember(g, topics, m) ==
  RefreshGroup([g EXCEPT !.members[m] = NoMember], topics, TRUE)
=============================================================================
