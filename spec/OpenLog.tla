------------------------------ MODULE OpenLog -------------------------------
(***************************************************************************)
(* The open instance with its log: every step appends its records, before  *)
(* its response leaves (P3), and the log may be compacted at any moment.   *)
(*                                                                         *)
(* Group and offsets are the coordinator's state, and must always equal    *)
(* the state that a new coordinator loads from the log.  A crash between   *)
(* append and response leaves a step whose response was lost: any step     *)
(* followed by FailOver.  A crash before the append leaves nothing.        *)
(***************************************************************************)
EXTENDS OpenOffsets, GroupLog

VARIABLE
  \* @type: Set($record);
  log

logVars == <<offsetVars, log>>
logView == <<offsetView, log>>

LogInit == OffsetInit /\ log = {}

LoggedStep ==
  /\ OffsetNext
  /\ log' = Appended(log, OffsetRecordsOf(offsets, offsets', step') \cup RecordsOf(group, group', step'))

\* P3: any range, any number of times.
Compact ==
  /\ \E r \in log, q \in log, drops \in BOOLEAN :
       /\ r.offset <= q.offset
       /\ log' = Compacted(log, r.offset, q.offset, drops)
       /\ log' # log
  /\ step' = EventStep("Compact", None, "", 0)
  /\ UNCHANGED <<group, topics, offsets>>

\* P3: the log gives back all of the group that is to survive, and the offsets.
LogIsTheGroup == Loaded(log) = AfterFailOver(group) /\ LoadedOffsets(log) = offsets

\* P3: whichever range is compacted, the same is loaded.
CompactionChangesNothing ==
  LET loaded == Loaded(log)
      offsetsOfLog == LoadedOffsets(log)
      places == {r.offset : r \in log}
      results == {Compacted(log, first, last, drops) : first \in places, last \in places, drops \in BOOLEAN}
  IN \A compacted \in results :
       Loaded(compacted) = loaded /\ LoadedOffsets(compacted) = offsetsOfLog
=============================================================================
