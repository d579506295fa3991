package lineprotocol

// Hello is what the program is. Serve adds the operations that it has.
type Hello struct {
	Name       string           `json:"name"`
	Dialect    string           `json:"dialect"`
	APIs       map[string][]int `json:"apis"` // the first and the last version of each
	Controls   []string         `json:"controls"`
	Unobserved []string         `json:"unobserved,omitempty"` // what descriptions and records cannot show
	Lacks      []string         `json:"lacks,omitempty"`      // features: "static members", "server-side assignor range" and others
}

// Answer to a request: the body of its response; or it waits for other members (Pending), without one.
type Answer struct {
	Body      any
	Pending   bool
	Completed []Completed
}

// Completed is the response to an earlier request, which waited.
type Completed struct {
	ID   any `json:"id"`
	Body any `json:"body"`
}

// Fired are the timers that ran out, in their order, and the requests that they ended.
type Fired struct {
	Timers    []Timer
	Completed []Completed
}

// Timer of a group; the member is "" for one that is the group's.
type Timer struct {
	Timer  string `json:"timer"`
	Group  string `json:"group"`
	Member string `json:"member"`
}

// Armed is a timer that has not run out yet.
type Armed struct {
	Timer
	DeadlineMs int64 `json:"deadlineMs"`
}

// HeartbeatResponse is the body of the response to ConsumerGroupHeartbeat.
type HeartbeatResponse struct {
	ThrottleTimeMs          int32       `json:"throttleTimeMs"`
	ErrorCode               int         `json:"errorCode"`
	ErrorMessage            *string     `json:"errorMessage"`
	MemberID                *string     `json:"memberId"`
	MemberEpoch             int32       `json:"memberEpoch"`
	ShouldComputeAssignment bool        `json:"shouldComputeAssignment"`
	HeartbeatIntervalMs     int64       `json:"heartbeatIntervalMs"`
	Assignment              *Assignment `json:"assignment"`
}

// Assignment is what a member is told; both lists are sorted, and never nil.
type Assignment struct {
	Error           int               `json:"error"`
	Assigned        []TopicPartitions `json:"assignedTopicPartitions"`
	Pending         []TopicPartitions `json:"pendingTopicPartitions"`
	MetadataVersion int               `json:"metadataVersion"`
	MetadataBytes   string            `json:"metadataBytes"`
}

// Group is the description of a consumer group. Lists are sorted, and never nil; what an adapter cannot fill in is
// in Unobserved of its Hello.
type Group struct {
	GroupID         string          `json:"groupId"`
	State           string          `json:"state"`
	GroupEpoch      int32           `json:"groupEpoch"`
	AssignmentEpoch int32           `json:"assignmentEpoch"`
	Metadata        []TopicMetadata `json:"metadata"`
	Members         []Member        `json:"members"`
	Timers          []Armed         `json:"timers"`
}

// TopicMetadata is a topic that the group subscribes to, as the group knows it.
type TopicMetadata struct {
	TopicID       string `json:"topicId"`
	TopicName     string `json:"topicName"`
	NumPartitions int32  `json:"numPartitions"`
}

// Member of a group that is described.
type Member struct {
	MemberID             string            `json:"memberId"`
	InstanceID           *string           `json:"instanceId"`
	MemberEpoch          int32             `json:"memberEpoch"`
	PreviousMemberEpoch  int32             `json:"previousMemberEpoch"`
	State                string            `json:"state"`
	Assigned             []TopicPartitions `json:"assigned"`
	PendingRevocation    []TopicPartitions `json:"pendingRevocation"`
	Target               []TopicPartitions `json:"target"`
	TargetError          int               `json:"targetError"`
	Acknowledged         bool              `json:"acknowledged"`
	SubscribedTopicNames []string          `json:"subscribedTopicNames"`
	SubscribedTopicRegex *string           `json:"subscribedTopicRegex"`
	ServerAssignor       *string           `json:"serverAssignor"`
	RebalanceTimeoutMs   int64             `json:"rebalanceTimeoutMs"`
	RackID               *string           `json:"rackId"`
	ClientID             string            `json:"clientId"`
	ClientHost           string            `json:"clientHost"`
}
