package main

import (
	"maps"
	"slices"
	"strings"
)

// updateTarget computes the target assignment if the group epoch has moved on (E2). An assignor that fails leaves
// it as it is, and the members are told.
func (s *step) updateTarget() {
	g := s.group
	if g.Epoch == g.AssignmentEpoch {
		return
	}
	computed, failed := s.assignment()
	targets := map[string]Target{}
	for id := range g.Members {
		switch {
		case failed:
			targets[id] = Target{g.Targets[id].Partitions.or(nil), 1}
		default:
			targets[id] = Target{computed[id].or(nil), 0}
		}
	}
	g.Targets, g.AssignmentEpoch = targets, g.Epoch
}

// assignment is what the script says, or the assignor that the members chose.
func (s *step) assignment() (map[string]Partitions, bool) {
	g := s.group
	if len(g.Members) == 0 {
		return nil, false
	}
	if script, found := s.c.scripts[g.ID]; found {
		s.consumed = true
		return script.target, script.fails
	}
	members := map[string]subscribed{}
	for id, member := range g.Members {
		one := subscribed{map[string]bool{}, g.Targets[id].Partitions}
		for name, topic := range g.Topics {
			one.topics[topic.ID] = subscribes(member.Metadata, name)
		}
		members[id] = one
	}
	byID := func(a, b Topic) int { return strings.Compare(a.ID, b.ID) }
	topics := slices.SortedFunc(maps.Values(g.Topics), byID)
	return selectAssignor(g.Members)(members, topics), false
}

// reconcile takes one member towards its target, and no other (R6):
//
//	it revokes and has not acknowledged   it keeps revoking, perhaps more (R1)
//	it has what its target has not        it is told to give that up, and keeps its epoch (R1)
//	otherwise                             it moves to the target's epoch, and gets what nobody else holds (R2, R3)
//
// What was told to be given up stays so until it is acknowledged, even when the target has it back: no response
// revokes and assigns (R5).
func (s *step) reconcile(id string, member Member, target Partitions, acknowledges bool) Member {
	after := member
	surplus := member.Assigned.minus(target)
	switch {
	case len(member.Revoking) > 0 && !acknowledges:
		after.Assigned, after.Revoking = member.Assigned.and(target), member.Revoking.or(surplus)
	case len(surplus) > 0:
		after.Assigned, after.Revoking = member.Assigned.and(target), surplus
	default:
		if member.Epoch != s.group.AssignmentEpoch {
			after.Previous = member.Epoch
		}
		after.Epoch = s.group.AssignmentEpoch
		after.Assigned, after.Revoking = s.group.free(target, id), Partitions{}
	}
	return after
}
