package lineprotocol

import (
	"fmt"
	"regexp"
)

// IDs are those of members that join without one (H1, C1). The zero value makes all of them itself.
type IDs struct {
	queue []string
	drawn int
}

// AddIDs adds ids to the end of the queue.
func (i *IDs) AddIDs(next []string) { i.queue = append(i.queue, next...) }

// Next is the first id of the queue that is not taken; where there is none, an id is made.
func (i *IDs) Next(taken func(id string) bool) string {
	for {
		i.drawn++
		id := fmt.Sprintf("00000000-0000-4000-8000-%012x", i.drawn)
		if len(i.queue) > 0 {
			id, i.queue = i.queue[0], i.queue[1:]
		}
		if !taken(id) {
			return id
		}
	}
}

// NoTopic is the id of no topic.
const NoTopic = "00000000-0000-0000-0000-000000000000"

var uuid = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// IsUUID says whether this is a UUID as RFC 4122 writes it.
func IsUUID(text string) bool { return uuid.MatchString(text) }
