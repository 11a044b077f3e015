package cluster

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"

	"blockyard/train/selfplay"
)

// mostSlots is how many slots a task can have.
const mostSlots = 256

// A taskSpec is a job: a rollout of consecutive slots.
type taskSpec struct {
	Check     string              `json:"check"` // SHA-256 of the self-test for the rollout, in hexadecimal
	Iteration int                 `json:"iteration"`
	Rollout   selfplay.Rollout    `json:"rollout"`
	Net       string              `json:"net"` // SHA-256 of its file
	First     int                 `json:"first"`
	Starts    []selfplay.GameSlot `json:"starts"` // of the slots from First on
}

// task returns the task of the k-th slot.
func (t *taskSpec) task(k int) *selfplay.Task {
	return &selfplay.Task{Iteration: t.Iteration, Slot: t.First + k, Rollout: t.Rollout, Net: t.Net, Start: t.Starts[k]}
}

// decode reads JSON. Unknown fields are errors: they may change what is played.
func decode(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// parseTask reads a task.
func parseTask(data []byte) (*taskSpec, error) {
	t := new(taskSpec)
	if err := decode(data, t); err != nil {
		return nil, fmt.Errorf("not a task: %w", err)
	}
	if n := len(t.Starts); t.Iteration < 0 || t.First < 0 || n < 1 || n > mostSlots {
		return nil, fmt.Errorf("not a task: iteration %d, %d slots from %d, want 1 to %d", t.Iteration, n, t.First, mostSlots)
	}
	return t, nil
}

// packResults returns the results of a task's slots as one file: each after its length, 4 bytes, little-endian.
func packResults(files [][]byte) (all []byte) {
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
