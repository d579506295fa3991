package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// object is a JSON object.
type object = map[string]any

// TopicPartitions are partitions on the wire.
type TopicPartitions struct {
	TopicID    string  `json:"topicId"`
	Partitions []int32 `json:"partitions"`
}

const noTopic = "00000000-0000-0000-0000-000000000000"

var uuid = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

func isUUID(text string) bool { return uuid.MatchString(text) }

// wire is the normal form of a set: by topic id, both lists sorted.
func wire(partitions Partitions) []TopicPartitions {
	topics := []TopicPartitions{}
	for _, one := range partitions.sorted() {
		if last := len(topics) - 1; last >= 0 && topics[last].TopicID == one.Topic {
			topics[last].Partitions = append(topics[last].Partitions, one.Index)
		} else {
			topics = append(topics, TopicPartitions{one.Topic, []int32{one.Index}})
		}
	}
	return topics
}

func partitionsOf(topics []TopicPartitions) (Partitions, error) {
	partitions := Partitions{}
	for _, topic := range topics {
		if !isUUID(strings.ToLower(topic.TopicID)) {
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

// operation has the fields of all operations but `configure`.
type operation struct {
	Op       string                     `json:"op"`
	Observe  string                     `json:"observe"`
	ID       any                        `json:"id"`
	API      string                     `json:"api"`
	Version  int                        `json:"version"`
	Client   Client                     `json:"client"`
	Body     json.RawMessage            `json:"body"`
	Upsert   []topicUpdate              `json:"upsert"`
	Delete   []string                   `json:"delete"`
	Ms       *int64                     `json:"ms"`
	Group    string                     `json:"group"`
	Timer    string                     `json:"timer"`
	Member   string                     `json:"member"`
	Target   map[string]json.RawMessage `json:"target"`
	Error    *string                    `json:"error"`
	Since    int                        `json:"since"`
	Records  []Record                   `json:"records"`
	Topics   []topicUpdate              `json:"topics"`
	Volatile volatileState              `json:"volatile"`
	Keep     *int                       `json:"keep"`
	Next     []string                   `json:"next"`
}

type topicUpdate struct {
	Name       string `json:"name"`
	ID         string `json:"id"`
	Partitions int32  `json:"partitions"`
}

// volatileState is what records do not hold.
type volatileState struct {
	ClockMs int64                    `json:"clockMs"`
	Groups  map[string]volatileGroup `json:"groups"`
}

type volatileGroup struct {
	EmptyDeadlineMs  *int64                    `json:"emptyDeadlineMs"`
	TargetComputedMs *int64                    `json:"targetComputedMs"`
	Members          map[string]volatileMember `json:"members"`
}

type volatileMember struct {
	PreviousMemberEpoch int32              `json:"previousMemberEpoch"`
	PendingRevocation   *[]TopicPartitions `json:"pendingRevocation"`
	Acknowledged        bool               `json:"acknowledged"`
	SessionDeadlineMs   *int64             `json:"sessionDeadlineMs"`
	RebalanceDeadlineMs *int64             `json:"rebalanceDeadlineMs"`
}

// Controls are the operations beside hello and request.
var controls = []string{
	"topics", "advance", "describe", "fire", "assign", "records", "load", "restart", "ids", "configure",
}

// answer is the answer to one line. What makes no sense is refused in a sentence, and changes nothing.
func (c *Coordinator) answer(line []byte) object {
	answered, err := c.perform(line)
	if err != nil {
		return object{"ok": false, "error": err.Error()}
	}
	answered["ok"] = true
	return answered
}

func (c *Coordinator) perform(line []byte) (object, error) {
	var named struct {
		Op string `json:"op"`
	}
	if err := json.Unmarshal(line, &named); err != nil {
		return nil, err
	}
	if named.Op == "configure" {
		return object{}, c.configure(line)
	}
	var op operation
	if err := strict(line, &op); err != nil {
		return nil, err
	}
	since, scripts := len(c.log), len(c.scripts)
	answered, err := c.do(&op)
	if err != nil {
		return nil, err
	}
	if len(c.scripts) < scripts && op.Op != "load" {
		answered["consumed"] = true
	}
	if op.Observe != "" {
		answered["group"] = c.describe(op.Observe)
		if _, found := answered["records"]; !found {
			answered["records"] = c.records(min(since, len(c.log)))
		}
	}
	return answered, nil
}

func (c *Coordinator) do(op *operation) (object, error) {
	switch op.Op {
	case "hello":
		return object{
			"name": "KIP-848 coordinator in Go", "dialect": "kip-848", "controls": controls,
			"apis": object{"ConsumerGroupHeartbeat": []int{0, 0}},
		}, nil
	case "request":
		return c.request(op)
	case "topics":
		return object{}, c.setTopics(op.Upsert, op.Delete)
	case "advance":
		if op.Ms == nil || *op.Ms < 0 {
			return nil, errors.New("advance needs ms, from 0")
		}
		return object{"fired": c.advance(*op.Ms), "completed": []any{}}, nil
	case "describe":
		return object{"group": c.describe(op.Group)}, nil
	case "fire":
		return c.fireNamed(op)
	case "assign":
		return object{}, c.assign(op)
	case "records":
		if op.Since < 0 || op.Since > len(c.log) {
			return nil, fmt.Errorf("records can be read from 0 to %d", len(c.log))
		}
		return object{"records": c.records(op.Since), "end": len(c.log)}, nil
	case "load":
		return object{}, c.load(op.Records, op.Topics, op.Volatile)
	case "restart":
		keep := len(c.log)
		if op.Keep != nil {
			keep = *op.Keep
		}
		if keep < 0 || keep > len(c.log) {
			return nil, fmt.Errorf("a restart can keep 0 to %d records", len(c.log))
		}
		return object{}, c.restart(keep)
	case "ids":
		c.ids = append(c.ids, op.Next...)
		return object{}, nil
	}
	return nil, fmt.Errorf("there is no operation %q", op.Op)
}

func (c *Coordinator) request(op *operation) (object, error) {
	if op.API != "ConsumerGroupHeartbeat" || op.Version != 0 {
		return nil, fmt.Errorf("there is no version %d of %q here", op.Version, op.API)
	}
	h := Heartbeat{client: op.Client, timeoutMs: -1}
	if err := strict(op.Body, &h); err != nil {
		return nil, err
	}
	if h.MemberEpoch == nil {
		return nil, errors.New("ConsumerGroupHeartbeat needs memberEpoch")
	}
	h.epoch = *h.MemberEpoch
	if h.RebalanceTimeoutMs != nil {
		h.timeoutMs = int64(*h.RebalanceTimeoutMs)
	}
	if h.TopicPartitions != nil {
		owned, err := partitionsOf(h.TopicPartitions)
		if err != nil {
			return nil, err
		}
		h.owned = owned
	}
	c.started = true
	answered := object{"body": c.heartbeat(&h)}
	if op.ID != nil {
		answered["id"] = op.ID
	}
	return answered, nil
}

func (c *Coordinator) fireNamed(op *operation) (object, error) {
	if group := c.groups[op.Group]; group != nil {
		for _, one := range group.timers() {
			if one.Timer == op.Timer && one.Member == op.Member {
				return object{"fired": []object{c.fire(one)}, "completed": []any{}}, nil
			}
		}
	}
	return nil, fmt.Errorf("timer %q of %q in group %q is not armed", op.Timer, op.Member, op.Group)
}

func (c *Coordinator) assign(op *operation) error {
	if op.Error != nil {
		c.scripts[op.Group] = script{fails: true}
		return nil
	}
	target := map[string]Partitions{}
	for member, text := range op.Target {
		var topics []TopicPartitions
		if err := strict(text, &topics); err != nil {
			return err
		}
		partitions, err := partitionsOf(topics)
		if err != nil {
			return err
		}
		target[member] = partitions
	}
	c.scripts[op.Group] = script{target: target}
	return nil
}

// configure takes settings before the first request.
func (c *Coordinator) configure(line []byte) error {
	var settings struct {
		Op                string `json:"op"`
		Observe           string `json:"observe"`
		SessionTimeout    *int64 `json:"group.consumer.session.timeout.ms"`
		HeartbeatInterval *int64 `json:"group.consumer.heartbeat.interval.ms"`
		EmptyRetention    *int64 `json:"group.empty.retention.ms"`
		MaxSize           *int64 `json:"group.consumer.max.size"`
	}
	if c.started {
		return errors.New("the configuration can only be changed before the first request")
	}
	if err := strict(line, &settings); err != nil {
		return err
	}
	changed, size := c.config, int64(c.config.maxSize)
	for place, value := range map[*int64]*int64{
		&changed.sessionTimeoutMs:    settings.SessionTimeout,
		&changed.heartbeatIntervalMs: settings.HeartbeatInterval,
		&changed.emptyRetentionMs:    settings.EmptyRetention,
		&size:                        settings.MaxSize,
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

func (c *Coordinator) records(since int) []Record { return append([]Record{}, c.log[since:]...) }

// describe gives the whole state of a group, lists sorted; one that does not exist is Dead and empty.
func (c *Coordinator) describe(id string) object {
	g := c.groups[id]
	if g == nil {
		g = newGroup(id)
	}
	members := []object{}
	for _, name := range slices.Sorted(maps.Keys(g.Members)) {
		m := g.Members[name]
		members = append(members, object{
			"memberId": name, "instanceId": m.InstanceID, "memberEpoch": m.Epoch, "previousMemberEpoch": m.Previous,
			"state": g.memberState(name), "assigned": wire(m.Assigned), "pendingRevocation": wire(m.Revoking),
			"target": wire(g.Targets[name].Partitions), "targetError": g.Targets[name].Error,
			"acknowledged": m.Acknowledged, "subscribedTopicNames": list(m.Names), "subscribedTopicRegex": m.Regex,
			"serverAssignor": m.Assignor, "rebalanceTimeoutMs": m.RebalanceTimeoutMs, "rackId": m.RackID,
			"clientId": m.ClientID, "clientHost": m.ClientHost,
		})
	}
	return object{
		"groupId": id, "state": g.State(), "groupEpoch": g.Epoch, "assignmentEpoch": g.AssignmentEpoch,
		"metadata": topicsValue(g.Topics), "members": members, "timers": g.timers(),
	}
}

// strict reads JSON that has no other fields than those of `into`.
func strict(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}
