package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"example.org/coordinator/lineprotocol"
)

// object is a JSON object.
type object = map[string]any

// The operations that this coordinator has; without one of these lines it does not compile if it lost one.
var (
	_ lineprotocol.Coordinator = (*Coordinator)(nil)
	_ lineprotocol.Topics      = (*Coordinator)(nil)
	_ lineprotocol.Advancer    = (*Coordinator)(nil)
	_ lineprotocol.Describer   = (*Coordinator)(nil)
	_ lineprotocol.Firer       = (*Coordinator)(nil)
	_ lineprotocol.Assigner    = (*Coordinator)(nil)
	_ lineprotocol.Logger      = (*Coordinator)(nil)
	_ lineprotocol.Loader      = (*Coordinator)(nil)
	_ lineprotocol.Restarter   = (*Coordinator)(nil)
	_ lineprotocol.Identifier  = (*Coordinator)(nil)
	_ lineprotocol.Configurer  = (*Coordinator)(nil)
)

// wire is the normal form of a set: by topic id, both lists sorted.
func wire(partitions Partitions) []lineprotocol.TopicPartitions {
	topics := []lineprotocol.TopicPartitions{}
	for _, one := range partitions.sorted() {
		if last := len(topics) - 1; last >= 0 && topics[last].TopicID == one.Topic {
			topics[last].Partitions = append(topics[last].Partitions, one.Index)
		} else {
			topics = append(topics, lineprotocol.TopicPartitions{TopicID: one.Topic, Partitions: []int32{one.Index}})
		}
	}
	return topics
}

func partitionsOf(topics []lineprotocol.TopicPartitions) (Partitions, error) {
	partitions := Partitions{}
	for _, topic := range topics {
		if !lineprotocol.IsUUID(strings.ToLower(topic.TopicID)) {
			return nil, fmt.Errorf("the topic id %q is no UUID", topic.TopicID)
		}
		for _, index := range topic.Partitions {
			partitions[Partition{strings.ToLower(topic.TopicID), index}] = struct{}{}
		}
	}
	return partitions, nil
}

// list is the same list, but never null.
func list(texts []string) []string { return append([]string{}, texts...) }

// Hello says what it is.
func (c *Coordinator) Hello() lineprotocol.Hello {
	apis := map[string][]int{"ConsumerGroupHeartbeat": {0, 0}}
	return lineprotocol.Hello{Name: "KIP-848 coordinator in Go", Dialect: "kip-848", APIs: apis}
}

// Request handles ConsumerGroupHeartbeat, and no other request.
func (c *Coordinator) Request(request lineprotocol.Request) (lineprotocol.Answer, error) {
	var none lineprotocol.Answer
	if request.API != "ConsumerGroupHeartbeat" || request.Version != 0 {
		return none, fmt.Errorf("there is no version %d of %q here", request.Version, request.API)
	}
	h := Heartbeat{client: request.Client, timeoutMs: -1}
	if err := lineprotocol.Strict(request.Body, &h.Heartbeat); err != nil {
		return none, err
	}
	if h.MemberEpoch == nil {
		return none, errors.New("ConsumerGroupHeartbeat needs memberEpoch")
	}
	h.epoch = *h.MemberEpoch
	if h.RebalanceTimeoutMs != nil {
		h.timeoutMs = int64(*h.RebalanceTimeoutMs)
	}
	if h.TopicPartitions != nil {
		owned, err := partitionsOf(h.TopicPartitions)
		if err != nil {
			return none, err
		}
		h.owned = owned
	}
	c.started = true
	return lineprotocol.Answer{Body: c.heartbeat(&h)}, nil
}

// Fire lets a timer run out that is armed.
func (c *Coordinator) Fire(timer lineprotocol.Timer) (lineprotocol.Fired, error) {
	if group := c.groups[timer.Group]; group != nil {
		for _, one := range group.timers() {
			if one.Timer == timer {
				return lineprotocol.Fired{Timers: []lineprotocol.Timer{c.fire(one)}}, nil
			}
		}
	}
	return lineprotocol.Fired{}, fmt.Errorf(
		"timer %q of %q in group %q is not armed", timer.Timer, timer.Member, timer.Group,
	)
}

// Assign scripts the next target of a group.
func (c *Coordinator) Assign(group string, given lineprotocol.Script) error {
	target := map[string]Partitions{}
	for member, topics := range given.Target {
		partitions, err := partitionsOf(topics)
		if err != nil {
			return err
		}
		target[member] = partitions
	}
	c.scripts[group] = script{target, given.Fails}
	return nil
}

// Scripts is how many scripts are not used yet.
func (c *Coordinator) Scripts() int { return len(c.scripts) }

// Configure takes settings before the first request.
func (c *Coordinator) Configure(settings json.RawMessage) error {
	var given struct {
		SessionTimeout    *int64 `json:"group.consumer.session.timeout.ms"`
		HeartbeatInterval *int64 `json:"group.consumer.heartbeat.interval.ms"`
		EmptyRetention    *int64 `json:"group.empty.retention.ms"`
		MaxSize           *int64 `json:"group.consumer.max.size"`
	}
	if c.started {
		return errors.New("the configuration can only be changed before the first request")
	}
	if err := lineprotocol.Strict(settings, &given); err != nil {
		return err
	}
	changed, size := c.config, int64(c.config.maxSize)
	for place, value := range map[*int64]*int64{
		&changed.sessionTimeoutMs:    given.SessionTimeout,
		&changed.heartbeatIntervalMs: given.HeartbeatInterval,
		&changed.emptyRetentionMs:    given.EmptyRetention,
		&size:                        given.MaxSize,
	} {
		if value != nil && *value < 1 {
			return errors.New("settings are whole numbers from 1")
		}
		if value != nil {
			*place = *value
		}
	}
	changed.maxSize = int(size)
	c.config = changed
	return nil
}

// Records are those of the log from an offset on.
func (c *Coordinator) Records(since int) []lineprotocol.Record {
	return append([]lineprotocol.Record{}, c.log[since:]...)
}

// End is where the log ends.
func (c *Coordinator) End() int { return len(c.log) }

// Describe gives the whole state of a group, lists sorted; one that does not exist is Dead and empty.
func (c *Coordinator) Describe(id string) lineprotocol.Group {
	g := c.groups[id]
	if g == nil {
		g = newGroup(id)
	}
	members := []lineprotocol.Member{}
	for _, name := range slices.Sorted(maps.Keys(g.Members)) {
		m := g.Members[name]
		members = append(members, lineprotocol.Member{
			MemberID: name, InstanceID: m.InstanceID, MemberEpoch: m.Epoch, PreviousMemberEpoch: m.Previous,
			State: g.memberState(name), Assigned: wire(m.Assigned), PendingRevocation: wire(m.Revoking),
			Target: wire(g.Targets[name].Partitions), TargetError: g.Targets[name].Error,
			Acknowledged: m.Acknowledged, SubscribedTopicNames: list(m.Names), SubscribedTopicRegex: m.Regex,
			ServerAssignor: m.Assignor, RebalanceTimeoutMs: m.RebalanceTimeoutMs, RackID: m.RackID,
			ClientID: m.ClientID, ClientHost: m.ClientHost,
		})
	}
	return lineprotocol.Group{
		GroupID: id, State: g.State(), GroupEpoch: g.Epoch, AssignmentEpoch: g.AssignmentEpoch,
		Metadata: topicsValue(g.Topics), Members: members, Timers: g.timers(),
	}
}
