package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// The records that persist a group (P1).
const (
	groupRecord           = "ConsumerGroupMetadata"
	topicsRecord          = "ConsumerGroupPartitionMetadata"
	memberRecord          = "ConsumerGroupMemberMetadata"
	assignmentEpochRecord = "ConsumerGroupTargetAssignmentMetadata"
	targetRecord          = "ConsumerGroupTargetAssignmentMember"
	currentRecord         = "ConsumerGroupCurrentMemberAssignment"
)

// Key of a record; MemberID is nil where it names no member.
type Key struct {
	Type     string  `json:"type"`
	GroupID  string  `json:"groupId"`
	MemberID *string `json:"memberId,omitempty"`
}

// Record as it is on the wire. A value that is null is a tombstone.
type Record struct {
	Offset int    `json:"offset"`
	Key    *Key   `json:"key"`
	Value  object `json:"value"`
}

// changes are the records of a step: what differs between the group before and after it (P1). Together they are
// one batch (P4).
func (s *step) changes() []Record {
	old, g := s.old, s.group
	records := []Record{}
	write := func(kind, member string, value object) {
		key := Key{Type: kind, GroupID: g.ID}
		if member != "" {
			key.MemberID = &member
		}
		records = append(records, Record{Key: &key, Value: value})
	}
	for _, id := range slices.Sorted(maps.Keys(old.Members)) {
		if _, stays := g.Members[id]; !stays {
			write(currentRecord, id, nil)
			write(targetRecord, id, nil)
			write(memberRecord, id, nil)
		}
	}
	if g.Epoch == 0 && old.Epoch != 0 { // the group is deleted
		write(assignmentEpochRecord, "", nil)
		write(topicsRecord, "", nil)
		write(groupRecord, "", nil)
		return records
	}
	ids := slices.Sorted(maps.Keys(g.Members))
	for _, id := range ids {
		before, known := old.Members[id]
		if !known || s.renewed == id || !reflect.DeepEqual(before.Metadata, g.Members[id].Metadata) {
			write(memberRecord, id, memberValue(g.Epoch, g.Members[id].Metadata))
		}
	}
	if g.Epoch != old.Epoch {
		if old.Epoch == 0 || !maps.Equal(g.Topics, old.Topics) {
			write(topicsRecord, "", object{"epoch": g.Epoch, "topics": topicsValue(g.Topics)})
		}
		write(groupRecord, "", object{"epoch": g.Epoch})
	}
	for _, id := range ids {
		before, known := old.Targets[id]
		target := g.Targets[id]
		if !known || s.renewed == id || before.Error != target.Error || !before.Partitions.equals(target.Partitions) {
			write(targetRecord, id, object{
				"error": target.Error, "topicPartitions": wire(target.Partitions), "metadataVersion": 0, "metadataBytes": "",
			})
		}
	}
	if g.AssignmentEpoch != old.AssignmentEpoch {
		write(assignmentEpochRecord, "", object{"assignmentEpoch": g.AssignmentEpoch})
	}
	for _, id := range ids {
		before, after := old.Members[id], g.Members[id]
		if s.renewed == id || before.Epoch != after.Epoch || !before.held().equals(after.held()) {
			told := g.Targets[id].Error
			if after.Epoch == Away {
				told = 0
			}
			write(currentRecord, id, object{
				"memberEpoch": after.Epoch, "error": told, "topicPartitions": wire(after.held()),
				"metadataVersion": 0, "metadataBytes": "",
			})
		}
	}
	return records
}

func memberValue(epoch int32, m Metadata) object {
	return object{
		"groupEpoch": epoch, "instanceId": m.InstanceID, "rackId": m.RackID, "clientId": m.ClientID,
		"clientHost": m.ClientHost, "subscribedTopicNames": list(m.Names), "subscribedTopicRegex": m.Regex,
		"rebalanceTimeoutMs": m.RebalanceTimeoutMs, "serverAssignor": m.Assignor, "assignors": []any{},
	}
}

func topicsValue(topics map[string]Topic) []object {
	listed := []object{}
	for _, name := range slices.Sorted(maps.Keys(topics)) {
		topic := topics[name]
		listed = append(listed, object{"topicId": topic.ID, "topicName": name, "numPartitions": topic.Partitions})
	}
	return listed
}

// recordValue has the fields of all values, to read them.
type recordValue struct {
	Epoch           int32
	AssignmentEpoch int32
	Topics          []struct {
		TopicID, TopicName string
		NumPartitions      int32
	}
	InstanceID, RackID   *string
	ClientID, ClientHost string
	SubscribedTopicNames []string
	SubscribedTopicRegex *string
	RebalanceTimeoutMs   int64
	ServerAssignor       *string
	Error                int
	MemberEpoch          int32
	TopicPartitions      []TopicPartitions
}

// replay applies one record (P2). What records do not hold is set afterwards (takeOver).
func replay(groups map[string]*Group, record Record) error {
	if record.Key == nil {
		return fmt.Errorf("a record needs a key")
	}
	g, id := groups[record.Key.GroupID], ""
	if g == nil {
		g = newGroup(record.Key.GroupID)
	}
	if record.Key.MemberID != nil {
		id = *record.Key.MemberID
	}
	var value recordValue
	if text, err := json.Marshal(record.Value); err != nil || json.Unmarshal(text, &value) != nil {
		return fmt.Errorf("the value of a %s cannot be read", record.Key.Type)
	}
	held, err := partitionsOf(value.TopicPartitions)
	if err != nil {
		return err
	}
	member := g.Members[id]
	switch record.Key.Type {
	case groupRecord:
		g.Epoch = value.Epoch
	case assignmentEpochRecord:
		g.AssignmentEpoch = value.AssignmentEpoch
	case topicsRecord:
		g.Topics = map[string]Topic{}
		for _, topic := range value.Topics {
			g.Topics[topic.TopicName] = Topic{topic.TopicID, topic.NumPartitions}
		}
	case targetRecord:
		g.Targets[id] = Target{held, value.Error}
		if record.Value == nil {
			delete(g.Targets, id)
		}
	case memberRecord:
		member.Metadata = Metadata{
			value.InstanceID, value.RackID, value.ClientID, value.ClientHost, list(value.SubscribedTopicNames),
			value.SubscribedTopicRegex, value.RebalanceTimeoutMs, value.ServerAssignor,
		}
		g.Members[id] = member
		if record.Value == nil && member.Epoch == 0 {
			delete(g.Members, id)
		}
	case currentRecord:
		member.Epoch, member.Assigned = value.MemberEpoch, held
		g.Members[id] = member
		if record.Value == nil && member.RebalanceTimeoutMs == 0 {
			delete(g.Members, id)
		}
	default:
		return fmt.Errorf("there is no record type %q here", record.Key.Type)
	}
	groups[g.ID] = g
	if g.Epoch == 0 && g.AssignmentEpoch == 0 && len(g.Members)+len(g.Targets)+len(g.Topics) == 0 {
		delete(groups, g.ID)
	}
	return nil
}
