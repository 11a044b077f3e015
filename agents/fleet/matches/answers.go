package matches

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"

	"blockyard/agents/fleet"
	"blockyard/agents/match"
	"blockyard/datasets/record"
)

// A request asks for a task.
type request struct {
	Worker string `json:"worker"`
}

// A reply is a task, or none.
type reply struct {
	Unit   *match.Unit `json:"unit,omitempty"`
	Queued int         `json:"queued"` // tasks that wait
}

// A result is the records of a unit.
type result struct {
	Index  int              `json:"index"`
	Worker string           `json:"worker"`
	Busy   int64            `json:"busy"`             // microseconds
	Object string           `json:"object,omitempty"` // the object with the records, if they are large
	Games  []*record.Record `json:"games,omitempty"`
	Failed bool             `json:"failed,omitempty"` // a report of trouble was sent
}

func taskName(index int) string { return strconv.Itoa(index) }

// next answers a request with the task of the lowest unit that nobody plays.
func (h *Host) next(m *nats.Msg) []byte {
	var q request
	if json.Unmarshal(m.Data, &q) != nil || fleet.CheckName(q.Worker) != nil {
		return fleet.JSON(reply{})
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	var first *task
	waiting := 0
	for _, t := range h.tasks {
		if t.worker != "" && time.Since(t.seen) < h.spec.Limits.AckWait {
			continue
		}
		if t.tries >= h.spec.Limits.Deliveries {
			h.giveUp(t)
			continue
		}
		waiting++
		if first == nil || t.unit.Index < first.unit.Index {
			first = t
		}
	}
	if first == nil {
		return fleet.JSON(reply{})
	}
	first.worker, first.seen = q.Worker, time.Now()
	first.tries++
	return fleet.JSON(reply{Unit: &first.unit, Queued: waiting - 1})
}

// result takes a result. Those that are not waited for, late or repeated, are dropped; those that do not replay are
// given out again.
func (h *Host) result(m *nats.Msg) []byte {
	var r result
	if json.Unmarshal(m.Data, &r) != nil || fleet.CheckName(r.Worker) != nil || r.Busy < 0 {
		h.log.Warn("a message that is no result was dropped")
		return []byte("dropped")
	}
	h.mu.Lock()
	t := h.tasks[r.Index]
	h.mu.Unlock()
	if t == nil {
		h.roster.Dropped(r.Worker)
		return []byte("dropped")
	}
	err := h.check(&r, t)
	if err != nil && !r.Failed {
		h.roster.Trouble(fleet.Trouble{Task: taskName(r.Index), Worker: r.Worker, Error: err.Error()})
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.tasks[r.Index] != t:
		h.roster.Dropped(r.Worker)
	case err != nil:
		if t.worker == r.Worker {
			t.worker = ""
		}
	default:
		moves := 0
		for _, g := range r.Games {
			moves += len(g.Choices)
		}
		h.counted++
		h.roster.Counted(r.Worker, len(r.Games), moves, time.Duration(r.Busy)*time.Microsecond)
		h.finish(t, r.Games, nil)
	}
	return []byte("taken")
}

// check returns an error if a result is not the task's games. It reads them from the object store if they are large.
func (h *Host) check(r *result, t *task) error {
	if r.Failed {
		return errors.New("the worker failed")
	}
	if r.Object != "" {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		data, err := h.files.Get(ctx, r.Object)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(data, &r.Games); err != nil {
			return fmt.Errorf("object %.12s: %w", r.Object, err)
		}
		_ = h.files.Remove(ctx, r.Object) // the store is bounded and goes with the match
	}
	if len(r.Games) != len(t.unit.Games) {
		return fmt.Errorf("unit %d: %d games, want %d", r.Index, len(r.Games), len(t.unit.Games))
	}
	for k, rec := range r.Games {
		names := make([]string, len(t.unit.Games[k]))
		for seat, e := range t.unit.Games[k] {
			names[seat] = h.match.Name(e)
		}
		want := record.New(h.match.Rules, t.unit.Seed, names)
		if rec == nil || rec.Seed != want.Seed || rec.Seats != want.Seats || !slices.Equal(rec.Agents, want.Agents) ||
			len(rec.Draws) > 0 || len(rec.Start) > 0 {
			return fmt.Errorf("unit %d: game %d is another one", r.Index, k)
		}
		if err := errors.Join(rec.Validate(), record.Check(h.match.Rules, rec)); err != nil {
			return fmt.Errorf("unit %d: game %d: %w", r.Index, k, err)
		}
	}
	return nil
}
