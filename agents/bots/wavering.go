package bots

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/vec"
)

// A wavering agent plays a random legal action now and then, and otherwise as another agent: the option eps.
type wavering struct {
	env.Agent
	eps    float64
	chance env.Rand
	random *search.Random
}

// waver returns agents that waver with probability eps; for 0, those of f.
func waver(f Factory, eps float64) Factory {
	if eps == 0 {
		return f
	}
	return func(seed uint64) (env.Agent, error) {
		inner, err := f(seed)
		w := &wavering{Agent: inner, eps: eps, random: search.NewRandom(env.Derive(seed, 0))}
		w.chance.Seed(env.Derive(seed, 1))
		return w, err
	}
}

func (w *wavering) Act(ctx context.Context, s env.State, seat int) (env.Action, error) {
	const scale = 1 << 53 // what a float64 holds exactly
	if float64(w.chance.Next()>>11) < w.eps*scale {
		return w.random.Act(ctx, s, seat)
	}
	return w.Agent.Act(ctx, s, seat)
}

// Value implements search.Reporter. It is that of the last action that was not random.
func (w *wavering) Value() float32 {
	if r, ok := w.Agent.(search.Reporter); ok {
		return r.Value()
	}
	return 0
}

// AppendMemory implements vec.Resumable: both generators, and then the memory of the other agent.
func (w *wavering) AppendMemory(dst []byte) ([]byte, error) {
	inner, ok := w.Agent.(vec.Resumable)
	if !ok {
		return dst, errors.New("the agent has no memory that could be written")
	}
	dst = binary.LittleEndian.AppendUint64(dst, w.chance.Word)
	dst, err := w.random.AppendMemory(dst)
	if err != nil {
		return dst, err
	}
	return inner.AppendMemory(dst)
}

func (w *wavering) RestoreMemory(src []byte) error {
	inner, ok := w.Agent.(vec.Resumable)
	if !ok || len(src) < 16 {
		return fmt.Errorf("an agent with eps: memory of %d bytes, want 16 and those of the agent itself", len(src))
	}
	w.chance.Seed(binary.LittleEndian.Uint64(src))
	return errors.Join(w.random.RestoreMemory(src[8:16]), inner.RestoreMemory(src[16:]))
}
