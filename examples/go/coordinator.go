package main

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"example.org/coordinator/lineprotocol"
)

// config has what a broker's configuration says (D3), times in milliseconds.
type config struct {
	sessionTimeoutMs, heartbeatIntervalMs, emptyRetentionMs int64
	maxSize                                                 int
}

// script is the next target of a group, instead of the assignor's; or the assignor fails.
type script struct {
	target map[string]Partitions
	fails  bool
}

// Coordinator of many groups. Time moves by `Advance` alone, so that the same operations give the same answers.
type Coordinator struct {
	lineprotocol.IDs
	config  config
	now     int64
	topics  map[string]Topic // the cluster's, by name
	groups  map[string]*Group
	log     []lineprotocol.Record
	batches []int // where the batches of the log end
	scripts map[string]script
	started bool
}

func newCoordinator() *Coordinator {
	week := int64(7 * 24 * 60 * 60 * 1000)
	return &Coordinator{
		config: config{45_000, 5_000, week, math.MaxInt32},
		topics: map[string]Topic{}, groups: map[string]*Group{}, scripts: map[string]script{},
	}
}

// newID is for a member that joins without one (H1): an id that the group does not have, or it would be a rejoin.
func (c *Coordinator) newID(group string) string {
	return c.Next(func(id string) bool {
		g := c.groups[group]
		return g != nil && contains(g.Members, id)
	})
}

// commit writes the records of a step as one batch (P4), and shows what they make of the group (P3).
func (c *Coordinator) commit(s *step) {
	records := s.changes()
	for _, record := range records {
		record.Offset = len(c.log)
		c.log = append(c.log, record)
	}
	if len(records) > 0 {
		c.batches = append(c.batches, len(c.log))
	}
	if s.consumed {
		delete(c.scripts, s.group.ID)
	}
	c.groups[s.group.ID] = s.group
	if s.group.Epoch == 0 {
		delete(c.groups, s.group.ID)
	}
}

// noticeTopics lets every group see changed topics at once, and compute what target is due (E1, E2).
func (c *Coordinator) noticeTopics() {
	for _, id := range slices.Sorted(maps.Keys(c.groups)) {
		s := c.begin(id)
		s.refresh(false)
		s.updateTarget()
		c.commit(s)
	}
}

// SetTopics creates topics, recreates them under another id (T2), adds partitions, or deletes; all or nothing.
func (c *Coordinator) SetTopics(upsert []lineprotocol.Topic, remove []string) error {
	topics := maps.Clone(c.topics)
	for _, name := range remove {
		if _, found := topics[name]; !found {
			return fmt.Errorf("there is no topic %q to delete", name)
		}
		delete(topics, name)
	}
	for _, one := range upsert {
		if one.Name == "" || !lineprotocol.IsUUID(one.ID) || one.Partitions < 1 || slices.Contains(remove, one.Name) {
			return fmt.Errorf("a topic needs a name, a UUID as id, and at least one partition")
		}
		for name, topic := range topics {
			if topic.ID == one.ID && (name != one.Name || one.Partitions < topic.Partitions) {
				return fmt.Errorf("topic %q has that id, and %d partitions", name, topic.Partitions)
			}
		}
		topics[one.Name] = Topic{one.ID, one.Partitions}
	}
	c.topics = topics
	c.noticeTopics()
	return nil
}

func armedAt(deadlineMs int64, timer, group, member string) lineprotocol.Armed {
	return lineprotocol.Armed{
		Timer: lineprotocol.Timer{Timer: timer, Group: group, Member: member}, DeadlineMs: deadlineMs,
	}
}

// timers that are armed: "session" (H8) or "rebalance" (R4) of a member, or the "group"'s, which is empty (E5).
func (g *Group) timers() []lineprotocol.Armed {
	armed := []lineprotocol.Armed{}
	if g.EmptyDeadline != nil {
		armed = append(armed, armedAt(*g.EmptyDeadline, "group", g.ID, ""))
	}
	for _, id := range slices.Sorted(maps.Keys(g.Members)) {
		member := g.Members[id]
		armed = append(armed, armedAt(member.SessionDeadline, "session", g.ID, id))
		if member.RebalanceDeadline != nil {
			armed = append(armed, armedAt(*member.RebalanceDeadline, "rebalance", g.ID, id))
		}
	}
	return armed
}

// fire runs what an armed timer is for, and says which it was.
func (c *Coordinator) fire(due lineprotocol.Armed) lineprotocol.Timer {
	s := c.begin(due.Group)
	if due.Timer.Timer == "group" {
		s.group = newGroup(due.Group)
	} else {
		s.remove(due.Member)
	}
	c.commit(s)
	return due.Timer
}

// Advance moves the clock, and fires each timer at its time.
func (c *Coordinator) Advance(ms int64) (lineprotocol.Fired, error) {
	end, fired := c.now+ms, lineprotocol.Fired{}
	for {
		due := []lineprotocol.Armed{}
		for _, group := range c.groups {
			for _, one := range group.timers() {
				if one.DeadlineMs <= end {
					due = append(due, one)
				}
			}
		}
		if len(due) == 0 {
			c.now = end
			return fired, nil
		}
		first := slices.MinFunc(due, func(a, b lineprotocol.Armed) int {
			return cmp.Or(
				cmp.Compare(a.DeadlineMs, b.DeadlineMs), cmp.Compare(a.Group, b.Group),
				cmp.Compare(a.Timer.Timer, b.Timer.Timer), cmp.Compare(a.Member, b.Member),
			)
		})
		c.now = max(c.now, first.DeadlineMs)
		fired.Timers = append(fired.Timers, c.fire(first))
	}
}

// Restart makes this a new coordinator that loads the first records of the log (P2). A batch that is not kept
// whole is lost whole (P4).
func (c *Coordinator) Restart(keep int) error {
	kept := 0
	for _, end := range c.batches {
		if end <= keep {
			kept = end
		}
	}
	groups, err := replayAll(c.log[:kept])
	if err != nil {
		return err
	}
	c.batches = slices.DeleteFunc(c.batches, func(end int) bool { return end > kept })
	c.log, c.groups = slices.Clone(c.log[:kept]), groups
	c.takeOver(nil)
	c.noticeTopics()
	c.takeOver(nil) // what members are to give up follows from the target that was due
	return nil
}

// Load replaces everything by a state.
func (c *Coordinator) Load(
	records []lineprotocol.Record, topics []lineprotocol.Topic, volatile lineprotocol.Volatile,
) error {
	groups, err := replayAll(records)
	if err != nil {
		return err
	}
	for id, group := range volatile.Groups {
		for member := range group.Members {
			if groups[id] == nil || !contains(groups[id].Members, member) {
				return fmt.Errorf("volatile names member %q of group %q, which the records do not have", member, id)
			}
		}
	}
	loaded := newCoordinator()
	if err := loaded.SetTopics(topics, nil); err != nil {
		return err
	}
	loaded.config, loaded.groups, loaded.now = c.config, groups, volatile.ClockMs
	for offset, record := range records {
		record.Offset = offset
		loaded.log, loaded.batches = append(loaded.log, record), append(loaded.batches, offset+1)
	}
	loaded.takeOver(volatile.Groups)
	*c = *loaded
	return nil
}

func replayAll(records []lineprotocol.Record) (map[string]*Group, error) {
	groups := map[string]*Group{}
	for _, record := range records {
		if err := replay(groups, record); err != nil {
			return nil, err
		}
	}
	return groups, nil
}

// takeOver sets what records do not hold: as it is given, else as a new coordinator assumes it (P2). Then all timers
// start anew, nothing is acknowledged, and what a member holds beyond its target is being revoked.
func (c *Coordinator) takeOver(given map[string]lineprotocol.VolatileGroup) {
	for id, g := range c.groups {
		g.EmptyDeadline = nil
		if len(g.Members) == 0 {
			g.EmptyDeadline = orElse(given[id].EmptyDeadlineMs, c.now+c.config.emptyRetentionMs)
		}
		for name, member := range g.Members {
			known := given[id].Members[name]
			held, revoking := member.held(), Partitions{}
			if member.Epoch != Away {
				revoking = held.minus(g.Targets[name].Partitions)
			}
			if known.PendingRevocation != nil {
				revoking, _ = partitionsOf(*known.PendingRevocation)
			}
			member.Assigned, member.Revoking = held.minus(revoking), revoking
			member.Previous, member.Acknowledged = known.PreviousMemberEpoch, known.Acknowledged
			member.SessionDeadline = *orElse(known.SessionDeadlineMs, c.now+c.config.sessionTimeoutMs)
			member.RebalanceDeadline = nil
			if len(revoking) > 0 {
				member.RebalanceDeadline = orElse(known.RebalanceDeadlineMs, c.now+member.RebalanceTimeoutMs)
			}
			g.Members[name] = member
		}
	}
}

func orElse(known *int64, otherwise int64) *int64 {
	if known == nil {
		return &otherwise
	}
	return known
}

func contains(members map[string]Member, id string) bool {
	_, found := members[id]
	return found
}
