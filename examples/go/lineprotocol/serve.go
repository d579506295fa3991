package lineprotocol

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// operation has the fields of all operations but `configure`.
type operation struct {
	Op       string                     `json:"op"`
	Observe  string                     `json:"observe"`
	ID       any                        `json:"id"`
	API      string                     `json:"api"`
	Version  int                        `json:"version"`
	Client   Client                     `json:"client"`
	Body     json.RawMessage            `json:"body"`
	Upsert   []Topic                    `json:"upsert"`
	Delete   []string                   `json:"delete"`
	Ms       *int64                     `json:"ms"`
	Group    string                     `json:"group"`
	Timer    string                     `json:"timer"`
	Member   string                     `json:"member"`
	Target   map[string]json.RawMessage `json:"target"`
	Error    *string                    `json:"error"`
	Since    int                        `json:"since"`
	Records  []Record                   `json:"records"`
	Topics   []Topic                    `json:"topics"`
	Volatile Volatile                   `json:"volatile"`
	Keep     *int                       `json:"keep"`
	Next     []string                   `json:"next"`
}

type object = map[string]any

// Serve answers each line of `in` on `out`, until `in` ends.
func Serve(c Coordinator, in io.Reader, out io.Writer) error {
	lines, answers := bufio.NewReaderSize(in, 1<<16), json.NewEncoder(out)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 1 {
			if failed := answers.Encode(answer(c, line)); failed != nil {
				return failed
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// answer is the answer to one line. What makes no sense is refused in a sentence, and changes nothing.
func answer(c Coordinator, line []byte) object {
	answered, err := perform(c, line)
	if err != nil {
		return object{"ok": false, "error": err.Error()}
	}
	answered["ok"] = true
	return answered
}

// perform does an operation, and adds what `observe` asks for.
func perform(c Coordinator, line []byte) (object, error) {
	var named struct {
		Op string `json:"op"`
	}
	if err := json.Unmarshal(line, &named); err != nil {
		return nil, err
	}
	if configurer, has := c.(Configurer); has && named.Op == "configure" {
		return configured(configurer, line)
	}
	var op operation
	if err := Strict(line, &op); err != nil {
		return nil, err
	}
	since, scripts := 0, 0
	log, logs := c.(Logger)
	assigner, assigns := c.(Assigner)
	if logs {
		since = log.End()
	}
	if assigns {
		scripts = assigner.Scripts()
	}
	answered, err := do(c, &op)
	if err != nil {
		return nil, err
	}
	if assigns && assigner.Scripts() < scripts && op.Op != "load" {
		answered["consumed"] = true
	}
	if op.Op == "load" || op.Op == "restart" {
		answered["end"] = 0
		if logs {
			answered["end"] = log.End()
		}
	}
	if describer, has := c.(Describer); has && op.Observe != "" {
		answered["group"] = describer.Describe(op.Observe)
		if _, found := answered["records"]; logs && !found {
			answered["records"] = log.Records(min(since, log.End()))
		}
	}
	return answered, nil
}

func configured(c Configurer, line []byte) (object, error) {
	settings := map[string]json.RawMessage{}
	if err := json.Unmarshal(line, &settings); err != nil {
		return nil, err
	}
	delete(settings, "op")
	delete(settings, "observe")
	text, err := json.Marshal(settings)
	if err != nil {
		return nil, err
	}
	return object{}, c.Configure(text)
}

// do does one operation that the coordinator has an interface for.
func do(c Coordinator, op *operation) (object, error) {
	switch op.Op {
	case "hello":
		hello := c.Hello()
		hello.Controls = controls(c)
		return fields(hello)
	case "request":
		return requested(c, op)
	}
	for _, one := range operations {
		if one.name == op.Op && one.has(c) {
			return one.do(c, op)
		}
	}
	return nil, fmt.Errorf("there is no operation %q here", op.Op)
}

// controls are the operations beside hello and request that the coordinator has.
func controls(c Coordinator) []string {
	names := []string{}
	for _, one := range operations {
		if one.has(c) {
			names = append(names, one.name)
		}
	}
	if _, has := c.(Configurer); has {
		names = append(names, "configure")
	}
	return names
}

func requested(c Coordinator, op *operation) (object, error) {
	said, err := c.Request(Request{op.ID, op.API, op.Version, op.Client, op.Body})
	if err != nil {
		return nil, err
	}
	answered := object{}
	if len(said.Completed) > 0 {
		answered["completed"] = said.Completed
	}
	if said.Pending {
		answered["pending"] = true
	} else {
		answered["body"] = said.Body
	}
	if op.ID != nil {
		answered["id"] = op.ID
	}
	return answered, nil
}

// Strict reads JSON that has no other fields than those of `into`.
func Strict(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}

func fields(value any) (object, error) {
	answered := object{}
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return answered, json.Unmarshal(text, &answered)
}

// list is the same list, but never null.
func list[T any](items []T) []T { return append([]T{}, items...) }
