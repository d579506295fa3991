package main

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"

	"example.org/coordinator/lineprotocol"
)

// step is one step in the making: the group as it was, and a copy that becomes the group once the records of the
// difference are in the log.
type step struct {
	c          *Coordinator
	old, group *Group
	renewed    string // a member of that id was replaced by another incarnation: all of it is written anew (H1)
	consumed   bool   // the scripted target was used
}

func (c *Coordinator) begin(id string) *step {
	old := c.groups[id]
	if old == nil {
		old = newGroup(id)
	}
	return &step{c: c, old: old, group: old.clone()}
}

// heartbeat handles one request (KIP-848, "Request Handling") and returns the body of its response.
func (c *Coordinator) heartbeat(h *Heartbeat) lineprotocol.HeartbeatResponse {
	if wrong := h.validate(); wrong != nil {
		return errorResponse(wrong)
	}
	if h.joins() && h.MemberID == "" {
		h.MemberID = c.newID(h.GroupID)
	}
	s := c.begin(h.GroupID)
	response, wrong := s.handle(h)
	if wrong != nil && wrong.code != fencedMemberEpoch {
		return errorResponse(wrong) // nothing changed
	}
	c.commit(s)
	if wrong != nil {
		return errorResponse(wrong)
	}
	return *response
}

func (s *step) handle(h *Heartbeat) (*lineprotocol.HeartbeatResponse, *rejected) {
	g := s.group
	holder := g.holder(h.InstanceID)
	returns := h.joins() && holder != "" && g.Members[holder].Epoch == Away
	if holder != "" && holder != h.MemberID && !returns { // S2
		return nil, &rejected{unreleasedInstanceID, fmt.Sprintf("InstanceId is still used by member %s.", holder)}
	}
	member, known := g.Members[h.MemberID]
	switch {
	case returns:
		return s.comeBack(h, holder), nil
	case h.joins():
		if !known && len(g.Members) >= s.c.config.maxSize { // H5
			return nil, &rejected{groupMaxSizeReached, "The group is full."}
		}
		return s.join(h), nil
	case !known:
		return nil, &rejected{unknownMemberID, "The group does not have this member; join with member epoch 0."}
	case h.epoch == -1: // H2
		s.remove(h.MemberID)
		return response(h, -1, 0, nil), nil
	case h.epoch == Away:
		return s.goAway(h, member)
	}
	current := h.epoch == member.Epoch
	retries := h.epoch == member.Previous && member.Epoch != Away &&
		(h.owned == nil || h.owned.within(g.Targets[h.MemberID].Partitions)) // H6
	if !current && !retries { // H5: it is fenced, and removed from the group
		s.remove(h.MemberID)
		return nil, &rejected{fencedMemberEpoch, "The member epoch is fenced; rejoin with member epoch 0."}
	}
	said := h.over(member.Metadata)
	before := member
	member.Metadata = said
	g.Members[h.MemberID] = member
	s.refresh(saysOtherwise(before.Metadata, said))
	return s.accept(h, before, current, false), nil
}

// join is for a member id that the group does not have, or has and replaces (H1).
func (s *step) join(h *Heartbeat) *lineprotocol.HeartbeatResponse {
	if _, known := s.group.Members[h.MemberID]; known {
		s.renewed = h.MemberID
	}
	fresh := Member{Metadata: h.metadata(), Assigned: Partitions{}, Revoking: Partitions{}}
	s.group.Members[h.MemberID] = fresh
	s.refresh(true)
	return s.accept(h, fresh, false, true)
}

// comeBack gives a static member the place of the one that is away: its target, and what it held (S1).
func (s *step) comeBack(h *Heartbeat, holder string) *lineprotocol.HeartbeatResponse {
	g := s.group
	place := g.Members[holder].Metadata
	fresh := Member{Metadata: h.metadata(), Assigned: Partitions{}, Revoking: Partitions{}}
	changed := saysOtherwise(place, fresh.Metadata)
	if holder != h.MemberID {
		_, elsewhere := g.Members[h.MemberID] // under another instance id: that member is removed
		changed = changed || elsewhere
		g.Targets[h.MemberID] = g.Targets[holder]
		delete(g.Members, holder)
		delete(g.Targets, holder)
		s.renewed = h.MemberID
	}
	g.Members[h.MemberID] = fresh
	s.refresh(changed)
	return s.accept(h, fresh, false, true)
}

// goAway keeps a static member's place until its session ends; what it was told to revoke is free (S1, H2).
func (s *step) goAway(h *Heartbeat, member Member) (*lineprotocol.HeartbeatResponse, *rejected) {
	if member.InstanceID == nil || *member.InstanceID != *h.InstanceID {
		return nil, &rejected{unknownMemberID, "The member does not have that instance id."}
	}
	member.Epoch, member.Previous, member.Revoking, member.Acknowledged = Away, 0, Partitions{}, false
	member.SessionDeadline, member.RebalanceDeadline = s.c.now+s.c.config.sessionTimeoutMs, nil
	s.group.Members[h.MemberID] = member
	return response(h, Away, 0, nil), nil
}

// remove takes a member out of the group: it left, was fenced, or timed out. What it held is free (E1, E2).
func (s *step) remove(id string) {
	g := s.group
	delete(g.Members, id)
	delete(g.Targets, id)
	s.refresh(true)
	if len(g.Members) == 0 {
		g.EmptyDeadline = deadline(s.c.now + s.c.config.emptyRetentionMs)
	}
	s.updateTarget()
}

func saysOtherwise(a, b Metadata) bool {
	said := func(m Metadata) any { return []any{m.Names, m.Regex, m.Assignor} }
	return !reflect.DeepEqual(said(a), said(b))
}

// refresh bumps the group epoch once if members changed, or the topics that they subscribe to (E1).
func (s *step) refresh(changed bool) {
	topics := map[string]Topic{}
	for _, member := range s.group.Members {
		for name, topic := range s.c.topics {
			if subscribes(member.Metadata, name) {
				topics[name] = topic
			}
		}
	}
	if changed || !maps.Equal(topics, s.group.Topics) {
		s.group.Topics = topics
		s.group.Epoch++
	}
}

// subscribes says whether the member names the topic, or its expression matches the whole name (T1).
func subscribes(m Metadata, topic string) bool {
	if slices.Contains(m.Names, topic) {
		return true
	}
	return m.Regex != nil && regexp.MustCompile("^(?:"+*m.Regex+")$").MatchString(topic)
}

// accept does steps 2 and 3 of an accepted request. `before` is the member as it was, `current` says that the
// request has its epoch, `joins` that it is a fresh member.
func (s *step) accept(h *Heartbeat, before Member, current, joins bool) *lineprotocol.HeartbeatResponse {
	s.updateTarget()
	g, c, id := s.group, s.c, h.MemberID
	target := g.Targets[id]
	acknowledges := current && h.owned != nil && len(h.owned.and(before.Revoking)) == 0 // R1
	after := s.reconcile(id, before, target.Partitions, acknowledges)
	after.Metadata = g.Members[id].Metadata
	after.Acknowledged = nowAcknowledged(h, before, after, target, current, joins)
	after.SessionDeadline = c.now + c.config.sessionTimeoutMs // H8
	switch {
	case len(after.Revoking) == 0:
		after.RebalanceDeadline = nil
	case len(before.Revoking) == 0 || acknowledges: // R4
		timeout := h.timeoutMs
		if timeout == -1 {
			timeout = before.RebalanceTimeoutMs
		}
		after.RebalanceDeadline = deadline(c.now + timeout)
	}
	g.Members[id] = after
	g.EmptyDeadline = nil
	converged := after.Epoch == g.AssignmentEpoch && len(after.Revoking) == 0
	var assignment *lineprotocol.Assignment
	if !(after.Acknowledged && converged && after.Assigned.equals(target.Partitions)) { // R5
		pending := Partitions{}
		if converged {
			pending = target.Partitions.minus(after.Assigned) // R3, H9
		}
		assignment = &lineprotocol.Assignment{
			Error: target.Error, Assigned: wire(after.Assigned), Pending: wire(pending),
		}
	}
	return response(h, after.Epoch, c.config.heartbeatIntervalMs, assignment)
}

// nowAcknowledged: has the member reported exactly what it was told last (R5)?
func nowAcknowledged(h *Heartbeat, before, after Member, target Target, current, joins bool) bool {
	news := joins || !after.Assigned.equals(before.Assigned) || (target.Error != 0 && after.Epoch != before.Epoch)
	if news {
		return false
	}
	if current && h.owned != nil {
		return h.owned.equals(after.Assigned)
	}
	return before.Acknowledged
}

func deadline(ms int64) *int64 { return &ms }

func response(
	h *Heartbeat, epoch int32, intervalMs int64, assignment *lineprotocol.Assignment,
) *lineprotocol.HeartbeatResponse {
	answer := &lineprotocol.HeartbeatResponse{
		MemberEpoch: epoch, HeartbeatIntervalMs: intervalMs, Assignment: assignment,
	}
	if h.joins() { // H9: only the answer to a join tells the member id
		answer.MemberID = &h.MemberID
	}
	return answer
}

func errorResponse(wrong *rejected) lineprotocol.HeartbeatResponse {
	return lineprotocol.HeartbeatResponse{ErrorCode: wrong.code, ErrorMessage: &wrong.message}
}
