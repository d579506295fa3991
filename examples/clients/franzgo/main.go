// An agent: a consumer of franz-go that does what lines of JSON tell it (docs/clients.md).
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

type command struct {
	Do, Bootstrap, Group, Instance string
	AutoCommit                     bool
	Topics                         []string
}

type event map[string]any

var (
	commands = make(chan command, 1000)
	released = make(chan struct{}, 1000)
	running  sync.Mutex // held while a callback is running
	client   *kgo.Client
	polls    = true
)

func tell(line event) {
	_ = json.NewEncoder(os.Stdout).Encode(line) // one write: lines do not mix
}

func read() {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var one command
		_ = json.Unmarshal(lines.Bytes(), &one)
		switch one.Do {
		case "release":
			released <- struct{}{}
		case "crash":
			os.Exit(1)
		default:
			commands <- one
		}
	}
	os.Exit(0) // the harness went
}

// callback stays in the callback until `release`. An application with automatic commits commits at the end
// of `revoked`: franz-go leaves that to whoever sets the callback.
func callback(name string, commits bool) func(context.Context, *kgo.Client, map[string][]int32) {
	return func(_ context.Context, consumer *kgo.Client, partitions map[string][]int32) {
		running.Lock()
		defer running.Unlock()
		shown := []string{}
		for topic, indexes := range partitions {
			for _, index := range indexes {
				shown = append(shown, fmt.Sprintf("%s-%d", topic, index))
			}
		}
		tell(event{"event": name, "partitions": shown})
		<-released
		if commits {
			_ = consumer.CommitUncommittedOffsets(context.Background())
		}
	}
}

func code(err error) int16 {
	if err == nil {
		return 0
	} else if known, ok := errors.AsType[*kerr.Error](err); ok {
		return known.Code
	}
	return -1
}

func subscribe(one command) {
	if client != nil {
		client.AddConsumeTopics(one.Topics...)
		kept := func(topic string) bool { return slices.Contains(one.Topics, topic) }
		client.PurgeTopicsFromConsuming(slices.DeleteFunc(client.GetConsumeTopics(), kept)...)
	} else {
		options := []kgo.Opt{
			kgo.SeedBrokers(one.Bootstrap), kgo.ConsumerGroup(one.Group), kgo.ConsumeTopics(one.Topics...),
			kgo.ServerSideBalancer(), kgo.Balancers(kgo.StickyBalancer()),
			kgo.OnPartitionsAssigned(callback("assigned", false)), kgo.OnPartitionsLost(callback("lost", false)),
			kgo.OnPartitionsRevoked(callback("revoked", one.AutoCommit)),
		}
		if !one.AutoCommit {
			options = append(options, kgo.DisableAutoCommit())
		}
		if one.Instance != "" { // the harness says null where there is none
			options = append(options, kgo.InstanceID(one.Instance))
		}
		client, _ = kgo.NewClient(options...)
	}
}

func do(one command) {
	running.Lock() // not while a callback is running
	running.Unlock()
	switch one.Do {
	case "subscribe":
		subscribe(one)
	case "commit":
		go func() {
			tell(event{"event": "committed", "error": code(client.CommitUncommittedOffsets(context.Background()))})
		}()
	case "pause", "poll":
		polls = one.Do == "poll"
	case "close":
		client.Close()
		tell(event{"event": "closed"})
		os.Exit(0)
	}
}

func poll() {
	patience, done := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer done()
	fetches := client.PollFetches(patience)
	fetches.EachError(func(_ string, _ int32, err error) {
		if !errors.Is(err, context.DeadlineExceeded) {
			tell(event{"event": "error", "code": code(err), "text": err.Error(), "fatal": false})
		}
	})
	fetches.EachRecord(func(record *kgo.Record) {
		where := fmt.Sprintf("%s-%d", record.Topic, record.Partition)
		tell(event{"event": "position", "partition": where, "offset": record.Offset + 1})
	})
}

func main() {
	go read()
	for {
		if client == nil || !polls || len(commands) > 0 {
			do(<-commands)
		} else {
			poll()
		}
	}
}
