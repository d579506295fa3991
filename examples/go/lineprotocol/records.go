package lineprotocol

import (
	"encoding/json"
	"fmt"
)

// The records that persist a consumer group (P1).
const (
	GroupRecord           = "ConsumerGroupMetadata"
	TopicsRecord          = "ConsumerGroupPartitionMetadata"
	MemberRecord          = "ConsumerGroupMemberMetadata"
	AssignmentEpochRecord = "ConsumerGroupTargetAssignmentMetadata"
	TargetRecord          = "ConsumerGroupTargetAssignmentMember"
	CurrentRecord         = "ConsumerGroupCurrentMemberAssignment"
)

// Key of a record; MemberID is nil where it names no member.
type Key struct {
	Type     string  `json:"type"`
	GroupID  string  `json:"groupId"`
	MemberID *string `json:"memberId,omitempty"`
}

// Record as it is on the wire. A value that is null is a tombstone.
type Record struct {
	Offset int            `json:"offset"`
	Key    *Key           `json:"key"`
	Value  map[string]any `json:"value"`
}

// RecordValue has the fields of all values, to read them.
type RecordValue struct {
	Epoch                int32
	AssignmentEpoch      int32
	Topics               []TopicMetadata
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

// Read gives the value of a record that has a key; that of a tombstone has nothing in it.
func (r Record) Read() (RecordValue, error) {
	var value RecordValue
	if r.Key == nil {
		return value, fmt.Errorf("a record needs a key")
	}
	if text, err := json.Marshal(r.Value); err != nil || json.Unmarshal(text, &value) != nil {
		return value, fmt.Errorf("the value of a %s cannot be read", r.Key.Type)
	}
	return value, nil
}
