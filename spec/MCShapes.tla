------------------------------ MODULE MCShapes ------------------------------
(***************************************************************************)
(* Bounds within which every reachable state has the shapes from which the *)
(* proof of ClosedShapes starts.  TLC also compares the shapes, as         *)
(* conditions, with the generated states, for small epochs: a state with   *)
(* the shape that is not generated would not be covered by the proof.      *)
(***************************************************************************)
EXTENDS ClosedShapes, MCStaticClosed

SmallEpochs == -2..1
OnePartitionOrNone == SUBSET {<<"foo", 0>>}
Assignments == [assigned : OnePartitionOrNone, pending : OnePartitionOrNone]
Errors == {"NONE", "INVALID_REQUEST"} \cup Refusals

\* An option of an element of s, also with two elements, which no shape has.
Options(s) == {x \in SUBSET s : \A a, b, c \in x : a = b \/ b = c \/ a = c}

ASSUME ResponsesAreGenerated ==
  \A m \in MemberIds :
    LET generated == {ShapedResponse(m, error, epoch, assigns, assignment) :
                        error \in {"NONE"} \cup Refusals, epoch \in SmallEpochs,
                        assigns \in BOOLEAN, assignment \in Assignments}
    IN \A response \in [error : Errors, member : MemberIds \cup {None}, epoch : SmallEpochs,
                        assignment : Options(Assignments)] :
         ResponseShape(m, response) <=> response \in generated

ASSUME LateIsGenerated ==
  LET generated == {ShapedRequest(m, epoch, ownedGiven, owned, subscribes, names) :
                      m \in MemberIds, epoch \in SmallEpochs, ownedGiven \in BOOLEAN,
                      owned \in OnePartitionOrNone, subscribes \in BOOLEAN, names \in SUBSET Topics}
      instances == {None} \cup {InstanceOf[m] : m \in MemberIds}
  IN \A request \in [member : MemberIds \cup {None}, epoch : SmallEpochs, instance : SUBSET instances,
                     owned : Options(OnePartitionOrNone), subscription : Options(SUBSET Topics),
                     regex : {{}}, assignor : {{}}] :
       LateShape(request) <=> request \in generated /\ (request.epoch = 0 => request.subscription # {})
=============================================================================
