------------------------------ MODULE OpenLog -------------------------------
(***************************************************************************)
(* The open instance with its log: every step appends its records, before  *)
(* its response leaves (P3), and the log may be compacted at any moment.   *)
(*                                                                         *)
(* The group is the one that the coordinator has; it must always be the one*)
(* that the log gives back.  A crash between append and response leaves a  *)
(* step whose response nobody got: any step followed by FailOver.  One     *)
(* before the append leaves nothing.                                       *)
(***************************************************************************)
EXTENDS OpenGroup, GroupLog

VARIABLE
  \* @type: Set($record);
  log

logVars == <<vars, log>>
logView == <<view, log>>

LogInit == Init /\ log = {}

GroupStep == Next /\ log' = Appended(log, RecordsOf(group, group', step'))

\* P3: any range, any number of times.
Compact ==
  /\ \E r \in log, q \in log, drops \in BOOLEAN :
       /\ r.offset <= q.offset
       /\ log' = Compacted(log, r.offset, q.offset, drops)
       /\ log' # log
  /\ step' = EventStep("Compact", None, "", 0)
  /\ UNCHANGED <<group, topics>>

\* P3: the log gives back all of the group that is to survive.
LogIsTheGroup == Loaded(log) = AfterFailOver(group)

\* P3: whichever range is compacted, the same group is loaded.
CompactionChangesNothing ==
  \A r \in log, q \in log, drops \in BOOLEAN :
    r.offset <= q.offset => Loaded(Compacted(log, r.offset, q.offset, drops)) = Loaded(log)
=============================================================================
