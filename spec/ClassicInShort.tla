---------------------------- MODULE ClassicInShort ---------------------------
(***************************************************************************)
(* Classic groups in full (Cooperative, with eager members, too) as a      *)
(* conversion sees them: by Conversions' InShort, at every moment.         *)
(***************************************************************************)
EXTENDS Cooperative, Dialects

CONSTANTS
  \* How the generation of a claim reads in a subscription.
  \* @type: Int -> Str;
  GenerationName,
  \* As in Migration.
  \* @type: Bool;
  ClaimsCount,
  \* As in ShortClassic.
  \* @type: Bool;
  InTwoSteps

\* M2: a process says of which generation its claims are.
JoinWithGeneration(m) ==
  /\ Idle(m) /\ clients[m].phase = "join"
  /\ LET request == [NoClassicRequest EXCEPT
                       !.member = IF clients[m].known THEN m ELSE None, !.type = {"consumer"},
                       !.protocols = ProtocolsOf[config[m]],
                       !.subscription = clients[m].subscription \cup Claims(clients[m].owned)
                                        \cup {GenerationName[clients[m].generation]}]
     IN CoordinatorStep(JoinGroup(group, m, request), {m})
  /\ UNCHANGED <<topics, unseen, clients, budget, disturbed, config>>

Full == INSTANCE Conversions WITH
  TopicName <- [t \in Topics |-> t],
  Regexes <- [r \in {x \in {""} : FALSE} |-> {}],
  Dialect <- KIP848,
  TargetRule <- "any",
  Assignors <- {"uniform"},
  MaxGroupSize <- 100,
  RejoinsWhenFree <- TRUE

\* The group that a join of the consumer protocol would make of this one now.
Converted == Full!Upgraded(group, topics).group

\* M1: may it be converted?
Convertible == ClassicExists(group) /\ Full!UpgradeError(group) = "NONE"

\* M1, R7: no other member gets a partition that a member owns, whenever its
\* group is converted.
OwnedIsBroughtAlong ==
  Convertible =>
    \A m \in InGroup(group) :
      clients[m].up /\ clients[m].known => clients[m].owned \subseteq Full!Held(Converted, m)

\* R7, coordinator's view: no partition is brought along by two.
BroughtAlongOnce ==
  Convertible =>
    \A m \in MemberIds, n \in MemberIds : m # n => Full!Held(Converted, m) \cap Full!Held(Converted, n) = {}

Short == INSTANCE ShortClassic WITH
  TopicName <- [t \in Topics |-> t],
  Regexes <- [r \in {x \in {""} : FALSE} |-> {}],
  Dialect <- KIP848,
  TargetRule <- "any",
  Assignors <- {"uniform"},
  MaxGroupSize <- 100,
  RejoinsWhenFree <- TRUE,
  mixed <- Full!InShort(group, topics)

\* C1, M1: each step of the classic protocol is one of the short form.
RefinesShort == Short!Spec
=============================================================================
