package cluster

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"

	"blockyard/train/selfplay"
)

// Version is that of the messages and of Spec. Learners and workers of different versions refuse each other.
const Version = 1

// A taskMessage is a task on its way.
type taskMessage struct {
	Version int           `json:"version"`
	Check   string        `json:"check"` // SHA-256 of the self-test for the task's rollout, in hexadecimal
	Try     int           `json:"try"`   // counts how often the task was published
	Task    selfplay.Task `json:"task"`
}

// taskID names a task within a run.
func taskID(iteration, slot int) string { return strconv.Itoa(iteration) + "-" + strconv.Itoa(slot) }

// messageID is what the broker knows a task and its result by, in order to store each once.
func (m *taskMessage) messageID() string {
	return taskID(m.Task.Iteration, m.Task.Slot) + "-" + strconv.Itoa(m.Try)
}

// parseTask reads a task. Unknown fields are errors: they may change what is played.
func parseTask(data []byte) (*taskMessage, error) {
	var version struct{ Version int }
	if err := json.Unmarshal(data, &version); err != nil {
		return nil, fmt.Errorf("not a task: %w", err)
	}
	if version.Version != Version {
		return nil, fmt.Errorf("a task in version %d of the format, want %d: run the same program as the learner",
			version.Version, Version)
	}
	var m taskMessage
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return nil, fmt.Errorf("not a task: %w", err)
	}
	if m.Task.Slot < 0 || m.Task.Iteration < 0 {
		return nil, fmt.Errorf("not a task: iteration %d, slot %d", m.Task.Iteration, m.Task.Slot)
	}
	return &m, nil
}

// The headers of a result.
const (
	taskHeader   = "Blockyard-Task"
	workerHeader = "Blockyard-Worker"
	objectHeader = "Blockyard-Object" // name of the object that holds the result, if it is large
	busyHeader   = "Blockyard-Busy"   // microseconds that the task took
)

// A resultMessage is the result of a task on its way, but for its content.
type resultMessage struct {
	id     string // of the task
	worker string
	object string // "": the message holds the result
	busy   int64  // microseconds
}

func (r *resultMessage) header() nats.Header {
	h := nats.Header{taskHeader: {r.id}, workerHeader: {r.worker}, busyHeader: {strconv.FormatInt(r.busy, 10)}}
	if r.object != "" {
		h.Set(objectHeader, r.object)
	}
	return h
}

// parseResult reads the headers of a result.
func parseResult(h nats.Header) (*resultMessage, error) {
	r := &resultMessage{id: h.Get(taskHeader), worker: h.Get(workerHeader), object: h.Get(objectHeader)}
	first, second, ok := strings.Cut(r.id, "-")
	iteration, err1 := strconv.Atoi(first)
	slot, err2 := strconv.Atoi(second)
	if !ok || errors.Join(err1, err2) != nil || r.id != taskID(iteration, slot) || iteration < 0 || slot < 0 {
		return nil, fmt.Errorf("not a result: the task %.40q", r.id)
	}
	if err := checkName(r.worker); err != nil {
		return nil, err
	}
	var err error
	if r.busy, err = strconv.ParseInt(h.Get(busyHeader), 10, 64); err != nil || r.busy < 0 {
		return nil, fmt.Errorf("not a result: %.40q microseconds", h.Get(busyHeader))
	}
	return r, nil
}

// checkName refuses names of workers and runs that cannot be part of a subject or would break a table.
func checkName(name string) error {
	if name == "" || len(name) > 64 {
		return fmt.Errorf("name %.70q: want 1 to 64 letters, digits, '-' or '_'", name)
	}
	for _, r := range name {
		if r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') {
			return fmt.Errorf("name %q: want letters, digits, '-' and '_' only", name)
		}
	}
	return nil
}
