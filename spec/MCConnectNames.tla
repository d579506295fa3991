---------------------------- MODULE MCConnectNames --------------------------
(***************************************************************************)
(* Bounds of Connect groups with named assignors: 2 workers, one connector,*)
(* four lists of three names.                                              *)
(***************************************************************************)
EXTENDS MCConnect, ConnectNames

\* By name, the first comes first.
ByName == [name \in {"compatible", "eager", "sessioned"} |->
             IF name = "compatible" THEN 1 ELSE IF name = "eager" THEN 2 ELSE 3]
\* @type: Set(Seq(Str));
MCLists == {<<"sessioned", "eager">>, <<"eager">>, <<"compatible">>, <<"eager", "compatible", "sessioned">>}

NamedBoundedNext == NamedNext /\ group'.epoch <= MaxEpoch
NamedSpec == NamedInit /\ [][NamedBoundedNext]_namedVars

AlwaysInCommon == Members(group) # {} => SomethingInCommon(group, lists)
RefusesExactly == [][RefusedExactly(group, group', lists, lists', step', naming'.list)]_namedVars
BumpsOnce == [][ListsBumpOnce(group, group', lists, lists', step')]_namedVars
NamesCommon == [][NamedIsCommon(group, lists, step', naming'.assignor)]_namedVars
=============================================================================
