// Package lineprotocol speaks the conformance kit's line protocol: one JSON object a line in, one out.
//
// An adapter gives Serve a Coordinator. Each interface that it has besides adds an operation, which `hello` then
// declares: a Coordinator alone is a black box, and one that has all of them is loadable.
package lineprotocol

import "encoding/json"

// Coordinator is what every adapter has. An error says in a sentence what is refused, and nothing has changed.
type Coordinator interface {
	Hello() Hello
	Request(request Request) (Answer, error)
}

// Topics creates topics, recreates them under another id, adds partitions, or deletes; all or nothing.
type Topics interface {
	SetTopics(upsert []Topic, remove []string) error
}

// Describer gives the whole state of a group; one that does not exist is Dead.
type Describer interface {
	Describe(group string) Group
}

// Advancer moves the simulated clock, and fires each timer at its time.
type Advancer interface {
	Advance(ms int64) (Fired, error)
}

// Firer lets one armed timer run out now.
type Firer interface {
	Fire(timer Timer) (Fired, error)
}

// Assigner takes the next target assignment of a group, which the next step that computes one uses.
type Assigner interface {
	Assign(group string, script Script) error
	Scripts() int // how many are not used yet
}

// Logger shows the log from an offset on; End is where it ends.
type Logger interface {
	Records(since int) []Record
	End() int
}

// Loader replaces everything by a state.
type Loader interface {
	Load(records []Record, topics []Topic, volatile Volatile) error
}

// Restarter becomes a new coordinator that loads the first records of the log.
type Restarter interface {
	Restart(keep int) error
}

// Identifier takes the ids of members that join without one; IDs has this method, to embed.
type Identifier interface {
	AddIDs(next []string)
}

// Configurer takes settings before the first request: Strict reads them into a struct that has a field for each.
type Configurer interface {
	Configure(settings json.RawMessage) error
}

// Request is a request of Kafka's protocol; Strict reads its body.
type Request struct {
	ID      any // nil if it has none; Serve gives it back
	API     string
	Version int
	Client  Client
	Body    json.RawMessage
}

// Client is who sends a request.
type Client struct {
	ID        string `json:"id"`
	Host      string `json:"host"`
	Principal string `json:"principal"`
}

// Heartbeat is the body of ConsumerGroupHeartbeat (H10). A nil pointer or list says that the field is absent,
// which is not the same as empty (H7).
type Heartbeat struct {
	GroupID            string            `json:"groupId"`
	MemberID           string            `json:"memberId"`
	MemberEpoch        *int32            `json:"memberEpoch"`
	InstanceID         *string           `json:"instanceId"`
	RackID             *string           `json:"rackId"`
	RebalanceTimeoutMs *int32            `json:"rebalanceTimeoutMs"`
	Names              []string          `json:"subscribedTopicNames"`
	Regex              *string           `json:"subscribedTopicRegex"`
	ServerAssignor     *string           `json:"serverAssignor"`
	ClientAssignors    []ClientAssignor  `json:"clientAssignors"`
	TopicPartitions    []TopicPartitions `json:"topicPartitions"`
}

// ClientAssignor is a client-side assignor that a member offers.
type ClientAssignor struct {
	Name            string `json:"name"`
	MinimumVersion  int16  `json:"minimumVersion"`
	MaximumVersion  int16  `json:"maximumVersion"`
	Reason          int8   `json:"reason"`
	MetadataVersion int16  `json:"metadataVersion"`
	MetadataBytes   string `json:"metadataBytes"`
}

// TopicPartitions are partitions of one topic.
type TopicPartitions struct {
	TopicID    string  `json:"topicId"`
	Partitions []int32 `json:"partitions"`
}

// Topic of the cluster.
type Topic struct {
	Name       string `json:"name"`
	ID         string `json:"id"`
	Partitions int32  `json:"partitions"`
}

// Script is a target assignment by member, or says that the assignor fails.
type Script struct {
	Target map[string][]TopicPartitions
	Fails  bool
}

// Volatile is what records do not hold. A nil pointer says: as after a fail-over.
type Volatile struct {
	ClockMs int64                    `json:"clockMs"`
	Groups  map[string]VolatileGroup `json:"groups"`
}

// VolatileGroup is that of a group.
type VolatileGroup struct {
	EmptyDeadlineMs  *int64                    `json:"emptyDeadlineMs"`
	TargetComputedMs *int64                    `json:"targetComputedMs"`
	Members          map[string]VolatileMember `json:"members"`
}

// VolatileMember is that of a member.
type VolatileMember struct {
	PreviousMemberEpoch int32              `json:"previousMemberEpoch"`
	PendingRevocation   *[]TopicPartitions `json:"pendingRevocation"`
	Acknowledged        bool               `json:"acknowledged"`
	SessionDeadlineMs   *int64             `json:"sessionDeadlineMs"`
	RebalanceDeadlineMs *int64             `json:"rebalanceDeadlineMs"`
}
