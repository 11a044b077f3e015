package search

import (
	"context"
	"encoding/binary"
	"fmt"

	"blockyard/env"
)

// Greedy is an agent that plays the action with the best afterstate.
type Greedy struct {
	reported
	eval Evaluator
	root level
}

// NewGreedy returns a one-ply search of games of g by the evaluator e, which it takes over.
func NewGreedy(g *env.Game, e Evaluator) *Greedy {
	return &Greedy{eval: e, root: level{game: g}}
}

// Act implements env.Agent. It calls the evaluator once and ignores the deadline.
func (g *Greedy) Act(ctx context.Context, s env.State, seat int) (env.Action, error) {
	g.root.leaves(g.eval, s, seat, 1)
	if len(g.root.legal) == 0 {
		return env.None, stuck(seat)
	}
	i := g.root.best()
	g.value = g.root.value[i]
	return g.root.legal[i], nil
}

// Values returns the legal actions and their worth at one ply, until the next call. It forces the draws of s.
func (g *Greedy) Values(s env.State, seat int) ([]env.Action, []float32) {
	g.root.leaves(g.eval, s, seat, 1)
	return g.root.legal, g.root.value[:len(g.root.legal)]
}

// Random is an agent that plays a legal action at random, all with the same probability.
type Random struct {
	rand  env.Rand
	legal []env.Action
}

// NewRandom returns a Random whose actions follow from seed.
func NewRandom(seed uint64) *Random {
	r := new(Random)
	r.rand.Seed(seed)
	return r
}

// Act implements env.Agent. It returns an error in a position without a legal action.
func (r *Random) Act(ctx context.Context, s env.State, seat int) (env.Action, error) {
	r.legal = s.Legal(seat, r.legal[:0])
	if len(r.legal) == 0 {
		return env.None, stuck(seat)
	}
	r.rand.Begin()
	return r.legal[r.rand.Draw(uint32(len(r.legal)))], nil
}

// A First is an agent that plays the legal action with the lowest id, the same in every run.
type First struct{ legal []env.Action }

// NewFirst returns a First for one game in progress.
func NewFirst() *First { return new(First) }

// Act implements env.Agent. It returns an error in a position without a legal action.
func (f *First) Act(ctx context.Context, s env.State, seat int) (env.Action, error) {
	f.legal = s.Legal(seat, f.legal[:0])
	if len(f.legal) == 0 {
		return env.None, stuck(seat)
	}
	return f.legal[0], nil
}

// Random and First can go on elsewhere: they are vec.Resumable.

// AppendMemory appends the state of the generator, 8 bytes.
func (r *Random) AppendMemory(dst []byte) ([]byte, error) {
	return binary.LittleEndian.AppendUint64(dst, r.rand.Word), nil
}

// RestoreMemory reads what AppendMemory wrote, so that the same choices follow.
func (r *Random) RestoreMemory(src []byte) error {
	if len(src) != 8 {
		return fmt.Errorf("random: memory of %d bytes, want 8", len(src))
	}
	r.rand.Seed(binary.LittleEndian.Uint64(src))
	return nil
}

// AppendMemory appends nothing: every choice follows from the position.
func (f *First) AppendMemory(dst []byte) ([]byte, error) { return dst, nil }

// RestoreMemory accepts the empty memory only, as the agent remembers nothing.
func (f *First) RestoreMemory(src []byte) error {
	if len(src) != 0 {
		return fmt.Errorf("first: memory of %d bytes, want none", len(src))
	}
	return nil
}
