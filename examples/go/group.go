package main

import (
	"maps"
	"slices"
	"strings"
)

// Away is the epoch of a static member that left for a while, and what it sends to say so (S1, H2).
const Away = -2

// Partition of a topic, which is known by its id: a topic that is recreated is another one (T2).
type Partition struct {
	Topic string
	Index int32
}

// Partitions is a set. It is never changed once it is in a group, so that groups can be copied cheaply.
type Partitions map[Partition]struct{}

func (p Partitions) has(one Partition) bool {
	_, found := p[one]
	return found
}

// where returns those of the set that the condition keeps.
func (p Partitions) where(keep func(Partition) bool) Partitions {
	kept := Partitions{}
	for one := range p {
		if keep(one) {
			kept[one] = struct{}{}
		}
	}
	return kept
}

func (p Partitions) minus(other Partitions) Partitions {
	return p.where(func(one Partition) bool { return !other.has(one) })
}

func (p Partitions) and(other Partitions) Partitions { return p.where(other.has) }

func (p Partitions) or(other Partitions) Partitions {
	union := maps.Clone(p.where(func(Partition) bool { return true }))
	maps.Copy(union, other)
	return union
}

func (p Partitions) within(other Partitions) bool { return len(p.minus(other)) == 0 }

func (p Partitions) equals(other Partitions) bool { return maps.Equal(p, other) }

// sorted gives the partitions by topic id and index, which is their normal form.
func (p Partitions) sorted() []Partition {
	return slices.SortedFunc(maps.Keys(p), func(a, b Partition) int {
		if a.Topic != b.Topic {
			return strings.Compare(a.Topic, b.Topic)
		}
		return int(a.Index - b.Index)
	})
}

// Topic of the cluster; partitions are only ever added.
type Topic struct {
	ID         string
	Partitions int32
}

// Metadata is what a member said about itself (H10). A pointer is nil where it said nothing.
type Metadata struct {
	InstanceID, RackID   *string
	ClientID, ClientHost string
	Names                []string // sorted
	Regex                *string  // in RE2's syntax, which is that of Go (T1)
	RebalanceTimeoutMs   int64
	Assignor             *string
}

// Member of a group. What it may own is Assigned and Revoking together (R7).
type Member struct {
	Metadata
	Epoch, Previous   int32      // of the assignment that it uses (E3), and of the one before (H6)
	Assigned          Partitions // what it was told that it may use
	Revoking          Partitions // what it was told to give up and has not acknowledged yet (R1)
	Acknowledged      bool       // has it reported exactly what it was told last (R5)?
	SessionDeadline   int64      // H8
	RebalanceDeadline *int64     // R4: armed exactly while it revokes
}

func (m Member) held() Partitions { return m.Assigned.or(m.Revoking) }

// Target is one member's part of the target assignment. Error is not 0 while the assignor failed.
type Target struct {
	Partitions Partitions
	Error      int
}

// Group is a consumer group. One that does not exist has epoch 0 and nothing else.
type Group struct {
	ID                     string
	Epoch, AssignmentEpoch int32
	Topics                 map[string]Topic // of what its members subscribe to, by name (E1)
	Members                map[string]Member
	Targets                map[string]Target
	EmptyDeadline          *int64 // when it is deleted: armed exactly while it has no members (E5)
}

func newGroup(id string) *Group {
	return &Group{ID: id, Topics: map[string]Topic{}, Members: map[string]Member{}, Targets: map[string]Target{}}
}

// clone makes a copy on which a step can work; the group is replaced by it once its records are written (P3).
func (g *Group) clone() *Group {
	copied := *g
	copied.Topics, copied.Members, copied.Targets = maps.Clone(g.Topics), maps.Clone(g.Members), maps.Clone(g.Targets)
	return &copied
}

// holder is the member with that instance id, "" if there is none (S1).
func (g *Group) holder(instance *string) string {
	for id, member := range g.Members {
		if instance != nil && member.InstanceID != nil && *member.InstanceID == *instance {
			return id
		}
	}
	return ""
}

// free are those of the partitions that no other member holds (R3, R7).
func (g *Group) free(among Partitions, except string) Partitions {
	for id, member := range g.Members {
		if id != except {
			among = among.minus(member.held())
		}
	}
	return among
}

// State is the group's state (E5).
func (g *Group) State() string {
	switch {
	case g.Epoch == 0:
		return "Dead"
	case len(g.Members) == 0:
		return "Empty"
	case g.Epoch > g.AssignmentEpoch:
		return "Assigning"
	}
	for id, member := range g.Members {
		settled := member.Epoch == g.Epoch && len(member.Revoking) == 0
		if !settled || !member.Assigned.equals(g.Targets[id].Partitions) {
			return "Reconciling"
		}
	}
	return "Stable"
}

// memberState has Kafka's names for what a member waits for, if anything.
func (g *Group) memberState(id string) string {
	member := g.Members[id]
	if len(member.Revoking) > 0 {
		return "UNREVOKED_PARTITIONS"
	}
	if member.Epoch == g.AssignmentEpoch && !member.Assigned.equals(g.Targets[id].Partitions) {
		return "UNRELEASED_PARTITIONS"
	}
	return "STABLE"
}
