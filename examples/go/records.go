package main

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"example.org/coordinator/lineprotocol"
)

// changes are the records of a step: what differs between the group before and after it (P1). Together they are
// one batch (P4).
func (s *step) changes() []lineprotocol.Record {
	old, g := s.old, s.group
	records := []lineprotocol.Record{}
	write := func(kind, member string, value object) {
		key := lineprotocol.Key{Type: kind, GroupID: g.ID}
		if member != "" {
			key.MemberID = &member
		}
		records = append(records, lineprotocol.Record{Key: &key, Value: value})
	}
	for _, id := range slices.Sorted(maps.Keys(old.Members)) {
		if _, stays := g.Members[id]; !stays {
			write(lineprotocol.CurrentRecord, id, nil)
			write(lineprotocol.TargetRecord, id, nil)
			write(lineprotocol.MemberRecord, id, nil)
		}
	}
	if g.Epoch == 0 && old.Epoch != 0 { // the group is deleted
		write(lineprotocol.AssignmentEpochRecord, "", nil)
		write(lineprotocol.TopicsRecord, "", nil)
		write(lineprotocol.GroupRecord, "", nil)
		return records
	}
	ids := slices.Sorted(maps.Keys(g.Members))
	for _, id := range ids {
		before, known := old.Members[id]
		if !known || s.renewed == id || !reflect.DeepEqual(before.Metadata, g.Members[id].Metadata) {
			write(lineprotocol.MemberRecord, id, memberValue(g.Epoch, g.Members[id].Metadata))
		}
	}
	if g.Epoch != old.Epoch {
		if old.Epoch == 0 || !maps.Equal(g.Topics, old.Topics) {
			write(lineprotocol.TopicsRecord, "", object{"epoch": g.Epoch, "topics": topicsValue(g.Topics)})
		}
		write(lineprotocol.GroupRecord, "", object{"epoch": g.Epoch})
	}
	for _, id := range ids {
		before, known := old.Targets[id]
		target := g.Targets[id]
		if !known || s.renewed == id || before.Error != target.Error || !before.Partitions.equals(target.Partitions) {
			write(lineprotocol.TargetRecord, id, object{
				"error": target.Error, "topicPartitions": wire(target.Partitions), "metadataVersion": 0, "metadataBytes": "",
			})
		}
	}
	if g.AssignmentEpoch != old.AssignmentEpoch {
		write(lineprotocol.AssignmentEpochRecord, "", object{"assignmentEpoch": g.AssignmentEpoch})
	}
	for _, id := range ids {
		before, after := old.Members[id], g.Members[id]
		if s.renewed == id || before.Epoch != after.Epoch || !before.held().equals(after.held()) {
			told := g.Targets[id].Error
			if after.Epoch == Away {
				told = 0
			}
			write(lineprotocol.CurrentRecord, id, object{
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

func topicsValue(topics map[string]Topic) []lineprotocol.TopicMetadata {
	listed := []lineprotocol.TopicMetadata{}
	for _, name := range slices.Sorted(maps.Keys(topics)) {
		topic := topics[name]
		listed = append(listed, lineprotocol.TopicMetadata{
			TopicID: topic.ID, TopicName: name, NumPartitions: topic.Partitions,
		})
	}
	return listed
}

// replay applies one record (P2). What records do not hold is set afterwards (takeOver).
func replay(groups map[string]*Group, record lineprotocol.Record) error {
	value, err := record.Read()
	if err != nil {
		return err
	}
	g, id := groups[record.Key.GroupID], ""
	if g == nil {
		g = newGroup(record.Key.GroupID)
	}
	if record.Key.MemberID != nil {
		id = *record.Key.MemberID
	}
	held, err := partitionsOf(value.TopicPartitions)
	if err != nil {
		return err
	}
	member := g.Members[id]
	switch record.Key.Type {
	case lineprotocol.GroupRecord:
		g.Epoch = value.Epoch
	case lineprotocol.AssignmentEpochRecord:
		g.AssignmentEpoch = value.AssignmentEpoch
	case lineprotocol.TopicsRecord:
		g.Topics = map[string]Topic{}
		for _, topic := range value.Topics {
			g.Topics[topic.TopicName] = Topic{topic.TopicID, topic.NumPartitions}
		}
	case lineprotocol.TargetRecord:
		g.Targets[id] = Target{held, value.Error}
		if record.Value == nil {
			delete(g.Targets, id)
		}
	case lineprotocol.MemberRecord:
		member.Metadata = Metadata{
			value.InstanceID, value.RackID, value.ClientID, value.ClientHost, list(value.SubscribedTopicNames),
			value.SubscribedTopicRegex, value.RebalanceTimeoutMs, value.ServerAssignor,
		}
		g.Members[id] = member
		if record.Value == nil && member.Epoch == 0 {
			delete(g.Members, id)
		}
	case lineprotocol.CurrentRecord:
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
