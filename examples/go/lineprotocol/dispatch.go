package lineprotocol

import (
	"errors"
	"fmt"
)

// supported is an operation that a coordinator has if it has its interface.
type supported struct {
	name string
	has  func(c Coordinator) bool
	do   func(c Coordinator, op *operation) (object, error)
}

// offered is the operation of an interface.
func offered[T any](name string, do func(c T, op *operation) (object, error)) supported {
	return supported{
		name,
		func(c Coordinator) bool { _, has := c.(T); return has },
		func(c Coordinator, op *operation) (object, error) { return do(c.(T), op) },
	}
}

var operations = []supported{
	offered("topics", func(c Topics, op *operation) (object, error) {
		return object{}, c.SetTopics(op.Upsert, op.Delete)
	}),
	offered("advance", func(c Advancer, op *operation) (object, error) {
		if op.Ms == nil || *op.Ms < 0 {
			return nil, errors.New("advance needs ms, from 0")
		}
		return fired(c.Advance(*op.Ms))
	}),
	offered("describe", func(c Describer, op *operation) (object, error) {
		return object{"group": c.Describe(op.Group)}, nil
	}),
	offered("fire", func(c Firer, op *operation) (object, error) {
		return fired(c.Fire(Timer{op.Timer, op.Group, op.Member}))
	}),
	offered("assign", assign),
	offered("records", func(c Logger, op *operation) (object, error) {
		if op.Since < 0 || op.Since > c.End() {
			return nil, fmt.Errorf("records can be read from 0 to %d", c.End())
		}
		return object{"records": list(c.Records(op.Since)), "end": c.End()}, nil
	}),
	offered("load", func(c Loader, op *operation) (object, error) {
		return object{}, c.Load(op.Records, op.Topics, op.Volatile)
	}),
	offered("restart", restart),
	offered("ids", func(c Identifier, op *operation) (object, error) {
		c.AddIDs(op.Next)
		return object{}, nil
	}),
}

func fired(what Fired, err error) (object, error) {
	if err != nil {
		return nil, err
	}
	return object{"fired": list(what.Timers), "completed": list(what.Completed)}, nil
}

func assign(c Assigner, op *operation) (object, error) {
	script := Script{map[string][]TopicPartitions{}, op.Error != nil}
	for member, text := range op.Target {
		var topics []TopicPartitions
		if err := Strict(text, &topics); err != nil {
			return nil, err
		}
		script.Target[member] = topics
	}
	return object{}, c.Assign(op.Group, script)
}

// restart keeps the whole log where nothing is said. What is kept of it is limited by what can be read.
func restart(c Restarter, op *operation) (object, error) {
	end := 0
	if log, has := c.(Logger); has {
		end = log.End()
	}
	keep := end
	if op.Keep != nil {
		keep = *op.Keep
	}
	if keep < 0 || keep > end {
		return nil, fmt.Errorf("a restart can keep 0 to %d records", end)
	}
	return object{}, c.Restart(keep)
}
