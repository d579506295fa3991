------------------------- MODULE MCAdministrationLog ------------------------
(***************************************************************************)
(* The open instance with its log, of which an administrator deletes the   *)
(* group: 1 member, 1 partition, commits of processes that are no members. *)
(***************************************************************************)
EXTENDS MCLog, Administration

\* P1: a deletion is one batch: tombstones of the offsets, then of the group.
Deletion ==
  /\ DeleteGroups
  /\ log' = Appended(log, OffsetRecordsOf(offsets, offsets', step') \cup RecordsOf(group, group', step'))

DeletionNext == (LoggedStep \/ Deletion) /\ group'.epoch <= MaxEpoch /\ EndOf(log') <= MaxOffset
DeletionSpec == LogInit /\ [][DeletionNext]_logVars

\* D1, P3: the log of a deleted group gives nothing back, and a refused
\* deletion leaves no record.
NothingIsLeft ==
  [][step'.action = "DeleteGroups" =>
       IF step'.response.error = "NONE"
       THEN Loaded(log') = NoGroup /\ LoadedOffsets(log') = NoOffsets ELSE log' = log]_logVars
=============================================================================
