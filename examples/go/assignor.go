package main

import (
	"maps"
	"slices"
)

// subscribed says, for each member, which topics (by id) it may be assigned, and which partitions it has now.
type subscribed struct {
	topics map[string]bool
	has    Partitions
}

// An assignor gives each partition of a subscribed topic to one member that subscribes to it (A4).
type assignor func(members map[string]subscribed, topics []Topic) map[string]Partitions

// The server-side assignors, the default first (A1).
var assignorNames = []string{"uniform", "range"}

var assignors = map[string]assignor{"uniform": uniformAssignor, "range": rangeAssignor}

// selectAssignor takes the one that most members name, the default if none does or they tie (A1).
func selectAssignor(members map[string]Member) assignor {
	votes := map[string]int{}
	for _, member := range members {
		if member.Assignor != nil {
			votes[*member.Assignor]++
		}
	}
	chosen := assignorNames[0]
	for _, name := range assignorNames {
		if votes[name] > votes[chosen] {
			chosen = name
		}
	}
	return assignors[chosen]
}

// rangeAssignor cuts each topic into one contiguous range per subscriber, in the order of their ids (A2).
func rangeAssignor(members map[string]subscribed, topics []Topic) map[string]Partitions {
	given := empty(members)
	for _, topic := range topics {
		ids := subscribers(members, topic)
		if len(ids) == 0 {
			continue
		}
		length, longer := topic.Partitions/int32(len(ids)), topic.Partitions%int32(len(ids))
		next := int32(0)
		for position, id := range ids {
			end := next + length
			if int32(position) < longer {
				end++
			}
			for ; next < end; next++ {
				given[id][Partition{topic.ID, next}] = struct{}{}
			}
		}
	}
	return given
}

// uniformAssignor lets everyone keep what they have up to a fair share, and gives the rest to whoever has least.
func uniformAssignor(members map[string]subscribed, topics []Topic) map[string]Partitions {
	given := empty(members)
	ids := slices.Sorted(maps.Keys(members))
	total := 0
	for _, topic := range topics {
		total += int(topic.Partitions)
	}
	share := (total + len(ids) - 1) / max(len(ids), 1)
	for _, topic := range topics {
		for index := range topic.Partitions {
			one := Partition{topic.ID, index}
			keeps := func(id string) bool {
				return members[id].topics[topic.ID] && members[id].has.has(one) && len(given[id]) < share
			}
			if position := slices.IndexFunc(ids, keeps); position >= 0 {
				given[ids[position]][one] = struct{}{}
			}
		}
	}
	taken := Partitions{}
	for _, partitions := range given {
		maps.Copy(taken, partitions)
	}
	for _, topic := range topics {
		for index := range topic.Partitions {
			one, candidates := Partition{topic.ID, index}, subscribers(members, topic)
			if taken.has(one) || len(candidates) == 0 {
				continue
			}
			least := slices.MinFunc(candidates, func(a, b string) int { return len(given[a]) - len(given[b]) })
			given[least][one] = struct{}{}
		}
	}
	return given
}

func empty(members map[string]subscribed) map[string]Partitions {
	given := map[string]Partitions{}
	for id := range members {
		given[id] = Partitions{}
	}
	return given
}

func subscribers(members map[string]subscribed, topic Topic) []string {
	ids := []string{}
	for _, id := range slices.Sorted(maps.Keys(members)) {
		if members[id].topics[topic.ID] {
			ids = append(ids, id)
		}
	}
	return ids
}
