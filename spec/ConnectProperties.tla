------------------------- MODULE ConnectProperties --------------------------
(***************************************************************************)
(* Rules that a Connect group must always satisfy, in the coordinator's    *)
(* view, beside what GroupProperties says of every group: one operator a   *)
(* requirement.  g and w are the group before a step, h and v after it, s  *)
(* and c the step between them.                                            *)
(***************************************************************************)
EXTENDS Connect, GroupProperties

\* Canonical form: the member that computes is a worker, of a target that is
\* due; a worker that the target does not have has no work yet (W1).
\* @type: ($group, $work) => Bool;
WorkOK(g, w) ==
  /\ IF Members(g) = {} THEN w.chosen = None ELSE w.chosen \in Members(g)
  /\ w.named \subseteq Members(g)
  /\ \A m \in Members(g) \ w.named :
       g.members[m].epoch = 0 /\ Held(g, m) = {} /\ TargetOf(g, m) = {}
  /\ \A m \in MemberIds \ Members(g) : w.reasons[m] = 0
  /\ Cardinality(w.prepared) <= 1
  /\ \A p \in w.prepared : g.assignmentEpoch < p.epoch /\ p.epoch <= g.epoch

\* W2: lost work belongs to no worker, and the group has a worker that can be
\* told about it.
\* @type: ($group, $work) => Bool;
LostIsNobodys(g, w) ==
  \A r \in Partitions : w.lost[r] # None =>
    /\ g.target[r] \notin w.named
    /\ IsThere(g.metadata, r)
    /\ Members(g) # {}

\* W4, A4: a target gives work to workers that it was computed for.
\* @type: ($group, $work) => Bool;
TargetIsOfWorkers(g, w) ==
  \A m \in Members(g) : TargetOf(g, m) # {} => m \in w.named

\* @type: (Int, Str) => Bool;
IsReadBy(version, m) == Versions[m][1] <= version /\ version <= Versions[m][2]

\* @type: (Str, Str) => Bool;
KnowOneVersion(m, n) == IsReadBy(Versions[m][1], n) \/ IsReadBy(Versions[n][1], m)

\* W1: the chosen worker reads the first and the last version of all, unless no
\* worker does, or it has prepared before others came.
\* @type: ($group, $work) => Bool;
VersionsFit(g, w) ==
  LET ReadsAll(m) == \A n \in Members(g) : IsReadBy(Versions[n][1], m) /\ IsReadBy(Versions[n][2], m) IN
  /\ Members(g) # {} => w.chosen \in Members(g)
  /\ w.prepared = {} /\ (\E m \in Members(g) : ReadsAll(m)) => ReadsAll(w.chosen)

\* E1: another reason than before counts like any other change, once.
\* @type: ($group, $group, $work, $work, $step) => Bool;
WorkerEpochBumpedExactly(g, h, w, v, s) ==
  s.action # "DeleteGroup" =>
    LET changed == \/ MetadataChanged(g, h, s)
                   \/ \E m \in Members(g) \cap Members(h) : w.reasons[m] # v.reasons[m]
    IN h.epoch = IF changed THEN BumpGroupEpoch(g).epoch ELSE g.epoch

\* W1, W4: only the chosen worker gives the group a target, of the epoch for
\* which it prepared; each resource to one worker at most.
\* @type: ($group, $group, $work, $work, $step, $call) => Bool;
InstalledExactly(g, h, w, v, s, c) ==
  LET installs == s.action = "InstallAssignment" /\ s.response.error = "NONE" IN
  /\ h.assignmentEpoch # g.assignmentEpoch /\ s.action # "DeleteGroup" => installs
  /\ installs =>
       /\ s.member = w.chosen /\ s.request.epoch = g.members[s.member].epoch
       /\ g.assignmentEpoch < h.assignmentEpoch /\ h.assignmentEpoch = c.groupEpoch
       /\ c.twice = {}
       /\ \A r \in Partitions : h.target[r] \in {None, c.target[r]}
       /\ \A r \in Partitions : c.target[r] \in Members(g) => h.target[r] = c.target[r]
       /\ \A m \in MemberIds : h.members[m] = g.members[m]

\* W2: no work of a removed worker is forgotten, and no lost work, until a
\* worker gets it, or it is removed, or no worker is left.
\* @type: ($group, $group, $work, $work) => Bool;
LostWorkIsKept(g, h, w, v) ==
  \A r \in Partitions :
    Members(h) # {} /\ IsThere(h.metadata, r) /\ h.target[r] \notin Members(h) =>
      /\ g.target[r] \in Members(g) \ Members(h) => v.lost[r] = g.target[r]
      /\ w.lost[r] # None /\ g.target[r] \notin Members(g) => v.lost[r] = w.lost[r]

\* W1, W2: the answer to PrepareAssignment has every worker, and all lost work.
\* @type: ($group, $work, $step, $call) => Bool;
PreparedExactly(g, w, s, c) ==
  s.action = "PrepareAssignment" /\ s.response.error = "NONE" =>
    /\ {p.worker : p \in {q \in c.workers : q.epoch # NotInGroup}} = Members(g)
    /\ \A r \in Partitions :
         w.lost[r] # None <=>
           \E p \in c.workers : p.epoch = NotInGroup /\ r \in p.resources /\ p.worker = w.lost[r]
    /\ c.groupEpoch = g.epoch

\* W1: a worker is told to compute exactly if it is chosen and a target is due.
\* @type: ($group, $work, $step, $call) => Bool;
ToldToCompute(h, v, s, c) ==
  s.action \in {"Join", "Rejoin", "Heartbeat"} /\ s.response.error = "NONE" =>
    c.compute = (h.epoch > h.assignmentEpoch /\ v.chosen = s.member)

\* W4: the errors, stated without the rules' own operators.
\* @type: ($group, $group, $work, $work, $step, $call) => Bool;
WorkerErrorsExactly(g, h, w, v, s, c) ==
  LET error == s.response.error
      others == Members(g) \ {s.member}
      givesVersions == s.action \in {"Join", "Rejoin"} \/ c.reason # {}
      computes == s.action \in {"PrepareAssignment", "InstallAssignment"}
  IN /\ error # "NONE" /\ error # "" /\ error # "FENCED_MEMBER_EPOCH" => h = g /\ v = w
     /\ error = "FENCED_MEMBER_EPOCH" => ~computes /\ s.member \notin Members(h)
     /\ error = "UNKNOWN_MEMBER_ID" =>
          s.member \notin Members(g) \/ (computes /\ (s.member # w.chosen \/ g.epoch = g.assignmentEpoch))
     /\ error = "UNSUPPORTED_ASSIGNOR" /\ s.request.assignor = {} =>
          givesVersions /\ others # {} /\ \A n \in others : ~KnowOneVersion(s.member, n)
     /\ error = "NONE" /\ givesVersions /\ others # {} => \E n \in others : KnowOneVersion(s.member, n)
     /\ error = "STALE_MEMBER_EPOCH" => computes /\ s.request.epoch # g.members[s.member].epoch
     /\ error = "INVALID_ASSIGNMENT" => s.action = "InstallAssignment" /\ s.member = w.chosen

\* R6: a worker whose work does not change only moves to the new epoch; a
\* worker that the target does not have keeps its epoch, too.
\* @type: ($group, $group, $work, $step) => Bool;
WorkersUndisturbed(g, h, w, s) ==
  \A m \in MemberIds :
    /\ SameIncarnation(g, h, s, m)
    /\ g.members[m].revoking = {} /\ g.members[m].assigned = TargetOf(h, m)
    => /\ h.members[m].assigned = g.members[m].assigned
       /\ h.members[m].revoking = {}
       /\ s.action = "Heartbeat" /\ s.member = m /\ s.response.error = "NONE" =>
            h.members[m].epoch = IF m \in w.named THEN h.assignmentEpoch ELSE 0

\* W1: a preparation is of the group as it is; a target names the workers of its
\* preparation that are still in the group, and no worker that has joined since.
\* @type: ($group, $group, $work, $work, $step) => Bool;
NamedAsPrepared(g, h, w, v, s) ==
  s.response.error = "NONE" =>
    /\ s.action = "PrepareAssignment" =>
         v.prepared = {[epoch |-> g.epoch, workers |-> Members(g), metadata |-> g.metadata]}
    /\ s.action = "InstallAssignment" =>
         \A p \in w.prepared : v.named = {m \in Members(h) : m \in p.workers}

\* W1, A5: a worker does not install what another worker has prepared.
\* @type: ($work, $work) => Bool;
PreparedByTheChosen(w, v) == v.chosen # w.chosen => v.prepared = {}

\* W4, A7: a target of the chosen worker is refused exactly if it was prepared for
\* another epoch, gives work twice, gives work that does not exist, or gives work
\* to a worker that was not in the group.
\* @type: ($work, $step, $call) => Bool;
InstallRefusedExactly(w, s, c) ==
  s.action = "InstallAssignment" /\ s.response.error \in {"NONE", "INVALID_ASSIGNMENT"} =>
    (s.response.error = "NONE") =
      (/\ c.twice = {}
       /\ \E p \in w.prepared :
            /\ p.epoch = c.groupEpoch
            /\ \A r \in Partitions : c.target[r] # None => c.target[r] \in p.workers /\ r[2] < p.metadata[r[1]])
=============================================================================
