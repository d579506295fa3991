package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"example.org/coordinator/lineprotocol"
)

// Kafka's error codes, as far as they are answered.
const (
	invalidRequest       = 42
	unknownMemberID      = 25
	groupMaxSizeReached  = 81
	fencedMemberEpoch    = 110
	unreleasedInstanceID = 111
	unsupportedAssignor  = 112
)

// Heartbeat is the body of a request, and what was read of it.
type Heartbeat struct {
	lineprotocol.Heartbeat
	epoch     int32
	timeoutMs int64 // -1: unchanged
	owned     Partitions
	client    lineprotocol.Client
}

// rejected is a request that is answered with an error of the protocol.
type rejected struct {
	code    int
	message string
}

func (h *Heartbeat) joins() bool { return h.epoch == 0 }

// validate looks at the request alone (H3, then H4); nil if nothing is wrong with it.
func (h *Heartbeat) validate() *rejected {
	for _, clause := range []struct {
		wrong   bool
		message string
	}{
		{h.GroupID == "", "GroupId is empty."},
		{h.MemberID == "" && !h.joins(), "MemberId is empty; only a join may leave it out."},
		{h.epoch < Away || (h.epoch == Away && h.InstanceID == nil), "MemberEpoch is too low."},
		{h.InstanceID != nil && *h.InstanceID == "", "InstanceId is empty."},
		{h.timeoutMs <= 0 && (h.joins() || h.timeoutMs != -1), "RebalanceTimeoutMs must be above zero."},
		{h.joins() && h.Names == nil && (h.Regex == nil || *h.Regex == ""), "A join must subscribe to something."},
		{h.hasLongText(), "An id or an expression is longer than 32,767 bytes."},
		{slices.ContainsFunc(h.Names, badName), "A topic's name has 1 to 249 characters."},
		{repeats(h.Names), "SubscribedTopicNames has a name twice."},
		{len(strings.Join(h.Names, "")) > 1_000_000, "SubscribedTopicNames is too long."},
		{h.Regex != nil && badRegex(*h.Regex), "SubscribedTopicRegex is not a regular expression of RE2."},
		{h.ServerAssignor != nil && len(h.ClientAssignors) > 0, "ServerAssignor and ClientAssignors are both given."},
		{h.ServerAssignor != nil && *h.ServerAssignor == "", "ServerAssignor is empty."},
		{badAssignors(h.ClientAssignors), "ClientAssignors has an entry with a bad name or version."},
		{badPartitions(h.TopicPartitions), "TopicPartitions names a partition twice, below 0, or of no topic."},
	} {
		if clause.wrong {
			return &rejected{invalidRequest, clause.message}
		}
	}
	if h.ServerAssignor != nil && assignors[*h.ServerAssignor] == nil {
		known := strings.Join(assignorNames, ", ")
		return &rejected{unsupportedAssignor, fmt.Sprintf("There is no assignor %q; there are %s.", *h.ServerAssignor, known)}
	}
	if len(h.ClientAssignors) > 0 {
		return &rejected{unsupportedAssignor, "ClientAssignors are not supported."}
	}
	return nil
}

func (h *Heartbeat) hasLongText() bool {
	texts := []*string{&h.GroupID, &h.MemberID, h.InstanceID, h.RackID, h.Regex, h.ServerAssignor}
	return slices.ContainsFunc(texts, func(text *string) bool { return text != nil && len(*text) > 32_767 })
}

func badName(name string) bool { return name == "" || len([]rune(name)) > 249 }

func badRegex(expression string) bool {
	_, err := regexp.Compile(expression)
	return err != nil
}

func repeats(names []string) bool {
	return len(slices.Compact(slices.Sorted(slices.Values(names)))) < len(names)
}

func badAssignors(offered []lineprotocol.ClientAssignor) bool {
	names := []string{}
	for _, one := range offered {
		names = append(names, one.Name)
		low, high, own := one.MinimumVersion, one.MaximumVersion, one.MetadataVersion
		if one.Name == "" || low < -1 || high < max(0, low) || own < low || own > high {
			return true
		}
	}
	return repeats(names)
}

func badPartitions(given []lineprotocol.TopicPartitions) bool {
	seen := Partitions{}
	for _, topic := range given {
		for _, index := range topic.Partitions {
			one := Partition{topic.TopicID, index}
			if index < 0 || seen.has(one) || topic.TopicID == lineprotocol.NoTopic {
				return true
			}
			seen[one] = struct{}{}
		}
	}
	return false
}

// metadata is what a joining member says about itself.
func (h *Heartbeat) metadata() Metadata {
	said := Metadata{
		InstanceID: h.InstanceID, RackID: h.RackID, ClientID: h.client.ID, ClientHost: h.client.Host,
		Names: list(slices.Sorted(slices.Values(h.Names))), RebalanceTimeoutMs: h.timeoutMs, Assignor: h.ServerAssignor,
	}
	if h.Regex != nil && *h.Regex != "" {
		said.Regex = h.Regex
	}
	return said
}

// over is what a member says by a heartbeat: absent says unchanged, an empty expression that there is none (H7).
func (h *Heartbeat) over(known Metadata) Metadata {
	said := h.metadata()
	said.InstanceID, said.RackID = given(h.InstanceID, known.InstanceID), given(h.RackID, known.RackID)
	said.Assignor = given(h.ServerAssignor, known.Assignor)
	if h.Names == nil {
		said.Names = known.Names
	}
	if h.Regex == nil {
		said.Regex = known.Regex
	}
	if h.timeoutMs == -1 {
		said.RebalanceTimeoutMs = known.RebalanceTimeoutMs
	}
	return said
}

func given(value, known *string) *string {
	if value == nil {
		return known
	}
	return value
}
