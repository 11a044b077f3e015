package cluster

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go"

	"blockyard/agents/fleet"
	"blockyard/train/selfplay"
)

// Version is that of the messages and of Spec. Learners and workers of different versions refuse each other.
const Version = 3

// mostSlots is how many slots a task can have.
const mostSlots = 256

// A taskMessage is a task on its way: a rollout of consecutive slots.
type taskMessage struct {
	Version   int                 `json:"version"`
	Check     string              `json:"check"` // SHA-256 of the self-test for the rollout, in hexadecimal
	Try       int                 `json:"try"`   // counts how often the task was published
	Iteration int                 `json:"iteration"`
	Rollout   selfplay.Rollout    `json:"rollout"`
	Net       string              `json:"net"` // SHA-256 of its file
	First     int                 `json:"first"`
	Starts    []selfplay.GameSlot `json:"starts"` // of the slots from First on
}

// A taskID names a task within a run: the iteration and the slots.
type taskID struct{ iteration, first, slots int }

// String returns the numbers with hyphens between them.
func (id taskID) String() string { return fmt.Sprintf("%d-%d-%d", id.iteration, id.first, id.slots) }

func (id taskID) valid() bool {
	return id.iteration >= 0 && id.first >= 0 && id.slots >= 1 && id.slots <= mostSlots
}

// parseTaskID reads what String returned.
func parseTaskID(text string) (id taskID, err error) {
	_, err = fmt.Sscanf(text, "%d-%d-%d", &id.iteration, &id.first, &id.slots)
	if err != nil || id.String() != text || !id.valid() {
		return id, fmt.Errorf("the task %.40q", text)
	}
	return id, nil
}

func (m *taskMessage) id() taskID { return taskID{m.Iteration, m.First, len(m.Starts)} }

// messageID is what the broker knows a task and its result by, in order to store each once.
func (m *taskMessage) messageID() string { return m.id().String() + "-" + strconv.Itoa(m.Try) }

// task returns the task of the k-th slot.
func (m *taskMessage) task(k int) *selfplay.Task {
	return &selfplay.Task{Iteration: m.Iteration, Slot: m.First + k, Rollout: m.Rollout, Net: m.Net, Start: m.Starts[k]}
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
	if !m.id().valid() {
		return nil, fmt.Errorf("not a task: iteration %d, %d slots from %d, want 1 to %d",
			m.Iteration, len(m.Starts), m.First, mostSlots)
	}
	return &m, nil
}

// packResults returns the results of a task's slots as one file: each after its length, 4 bytes, little-endian.
func packResults(files [][]byte) []byte {
	size := 0
	for _, f := range files {
		size += 4 + len(f)
	}
	all := make([]byte, 0, size)
	for _, f := range files {
		all = binary.LittleEndian.AppendUint32(all, uint32(len(f)))
		all = append(all, f...)
	}
	return all
}

// unpackResults reads what packResults returned for n slots. The results share memory with data.
func unpackResults(data []byte, n int) (files [][]byte, err error) {
	for range n {
		if len(data) < 4 {
			return nil, fmt.Errorf("%d results, want %d", len(files), n)
		}
		size := uint64(binary.LittleEndian.Uint32(data))
		if data = data[4:]; size > uint64(len(data)) {
			return nil, fmt.Errorf("a result of %d bytes, %d are there", size, len(data))
		}
		files, data = append(files, data[:size]), data[size:]
	}
	if len(data) > 0 {
		return nil, fmt.Errorf("%d bytes after the results of %d slots", len(data), n)
	}
	return files, nil
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
	id     taskID
	worker string
	object string // "": the message holds the result
	busy   int64  // microseconds
}

func (r *resultMessage) header() nats.Header {
	h := nats.Header{taskHeader: {r.id.String()}, workerHeader: {r.worker}, busyHeader: {strconv.FormatInt(r.busy, 10)}}
	if r.object != "" {
		h.Set(objectHeader, r.object)
	}
	return h
}

// parseResult reads the headers of a result.
func parseResult(h nats.Header) (*resultMessage, error) {
	r := &resultMessage{worker: h.Get(workerHeader), object: h.Get(objectHeader)}
	var err error
	if r.id, err = parseTaskID(h.Get(taskHeader)); err != nil {
		return nil, fmt.Errorf("not a result: %w", err)
	}
	if err := fleet.CheckName(r.worker); err != nil {
		return nil, err
	}
	if r.busy, err = strconv.ParseInt(h.Get(busyHeader), 10, 64); err != nil || r.busy < 0 {
		return nil, fmt.Errorf("not a result: %.40q microseconds", h.Get(busyHeader))
	}
	return r, nil
}
