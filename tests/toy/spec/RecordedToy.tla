----------------------------- MODULE RecordedToy ----------------------------
(***************************************************************************)
(* Is a recorded run a behaviour of the toy protocol?  `at` counts the     *)
(* lines that fit; a negative `at` has what is there instead of a line.    *)
(***************************************************************************)
EXTENDS Toy, Sequences

CONSTANTS
  Runs

VARIABLES run, at

Lines == Runs[run]
Line == Lines[at + 1]

Fits ==
  /\ \A response \in Line.response : response = [error |-> step'.error, answer |-> step'.answer]
  /\ \A seen \in Line.seen : seen = toy'

RecordedLine ==
  /\ \/ Line.does = "Request" /\ Request(Line.member, Line.epoch)
     \/ Line.does = "ToyTimeout" /\ ToyTimeout /\ step'.member = Line.member
     \/ Line.does = "ToyFailOver" /\ ToyFailOver
  /\ at' = IF Fits THEN at + 1 ELSE -(at + 1)

RecordedInit == run \in DOMAIN Runs /\ at = 0 /\ toy = NoToy /\ step = NoStep
RecordedNext == 0 <= at /\ at < Len(Lines) /\ RecordedLine /\ UNCHANGED run
RecordedSpec == RecordedInit /\ [][RecordedNext]_<<vars, run, at>>
=============================================================================
