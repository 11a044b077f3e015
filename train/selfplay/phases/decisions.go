package phases

import (
	"errors"
	"fmt"
	"slices"

	"blockyard/agents/bots/features"
	"blockyard/agents/mlp"
	"blockyard/env"
	"blockyard/train/games"
	"blockyard/train/selfplay"
)

// A decision is what siblings are made of: a position, the seat that chooses, and for each sibling two actions of the
// seat one after the other, and the target of the position they lead to. Features take thirty times the memory.
type decision struct {
	position []byte // env.Encode
	seat     int
	pairs    [][2]env.Action
	targets  []float32
}

// decisions are those of one slot's rollout, or of a stage so far, each with as many siblings.
type decisions struct {
	game     *games.Game
	siblings int
	list     []decision
}

// packed is how many numbers hold a position: three bytes in each, so that a float32 is exact.
func (d *decisions) packed() int {
	return (env.EncodedLen(d.game.Rules.New(d.game.Rules.MinSeats)) + 2) / 3
}

func (d *decisions) Tensors() []mlp.Tensor {
	var positions, pairs, targets []float32
	for _, x := range d.list {
		for part := range slices.Chunk(x.position, 3) {
			word := 0
			for k, b := range part {
				word |= int(b) << (8 * k)
			}
			positions = append(positions, float32(word))
		}
		pairs = append(pairs, float32(x.seat))
		for _, p := range x.pairs {
			pairs = append(pairs, float32(p[0]), float32(p[1]))
		}
		targets = append(targets, x.targets...)
	}
	n := len(d.list)
	return []mlp.Tensor{
		{Name: "positions", Shape: []int{n, d.packed()}, Data: positions},
		{Name: "pairs", Shape: []int{n, 1 + 2*d.siblings}, Data: pairs},
		{Name: "targets", Shape: []int{n, d.siblings}, Data: targets},
	}
}

// SetTensors implements selfplay.Notes. It plays the pairs: whoever reads rows later need not check anything.
func (d *decisions) SetTensors(tensors []mlp.Tensor) error {
	t, words, wide := selfplay.Named{Tensors: tensors}, d.packed(), 1+2*d.siblings
	positions := t.Take("positions", -1, words)
	n := len(positions) / words
	pairs, targets := t.Take("pairs", n, wide), t.Take("targets", n, d.siblings)
	if t.Err != nil {
		return t.Err
	}
	size, r := env.EncodedLen(d.game.Rules.New(d.game.Rules.MinSeats)), newSiblingReader(d.game)
	d.list = nil
	for i := range n {
		x := decision{targets: targets[i*d.siblings : (i+1)*d.siblings]}
		for _, v := range positions[i*words : (i+1)*words] {
			if !(v >= 0 && v < 1<<24) {
				return fmt.Errorf("decision %d: %v is not three bytes", i, v)
			}
			x.position = append(x.position, byte(int(v)), byte(int(v)>>8), byte(int(v)>>16))
		}
		x.position = x.position[:size]
		for _, v := range pairs[i*wide : (i+1)*wide] {
			if !(v >= 0 && v < 1<<16) {
				return fmt.Errorf("decision %d: %v is no seat and no action", i, v)
			}
		}
		about := pairs[i*wide:]
		x.seat = int(about[0])
		for k := range d.siblings {
			x.pairs = append(x.pairs, [2]env.Action{env.Action(about[1+2*k]), env.Action(about[2+2*k])})
		}
		if err := r.check(&x); err != nil {
			return fmt.Errorf("decision %d: %w", i, err)
		}
		d.list = append(d.list, x)
	}
	return nil
}

// A siblingReader makes rows of decisions.
type siblingReader struct {
	game            *games.Game
	features        features.Reader
	state, at, next env.State
	legal           []env.Action
}

func newSiblingReader(g *games.Game) *siblingReader {
	r := &siblingReader{game: g, features: g.Reader()}
	for _, s := range []*env.State{&r.state, &r.at, &r.next} {
		*s = g.Rules.New(g.Rules.MinSeats)
	}
	return r
}

// noDraws are draws forced to be 0.
var noDraws [env.MaxDraws]uint16

// rows writes the features of all siblings of d, [siblings][features].
func (r *siblingReader) rows(d *decision, x []float32) error {
	if err := env.Decode(r.state, r.next, d.position); err != nil {
		return err
	}
	n, own := len(r.game.Features), r.game.Own
	for k, p := range d.pairs {
		r.play(d.seat, p)
		row := x[k*n : (k+1)*n]
		r.features.Shared(r.next, d.seat, row[own:])
		r.features.Own(r.next, d.seat, row[:own])
	}
	return nil
}

// play sets next to what a pair leads to, without luck.
func (r *siblingReader) play(seat int, pair [2]env.Action) {
	r.next.CopyFrom(r.state)
	for _, a := range pair {
		r.next.Force(noDraws[:])
		env.After(r.next, seat, a)
	}
}

// check returns why d is none that a policy notes.
func (r *siblingReader) check(d *decision) error {
	if err := env.Decode(r.state, r.next, d.position); err != nil {
		return err
	}
	for _, v := range d.targets {
		if !(v >= -2*clampTo && v <= 2*clampTo) {
			return fmt.Errorf("target %v, want -%d to %d", v, 2*clampTo, 2*clampTo)
		}
	}
	last := env.None
	for _, p := range d.pairs {
		r.at.CopyFrom(r.state)
		if !r.can(r.at, d.seat, p[0]) {
			return errNoChoice
		}
		if r.at.Force(noDraws[:]); p[0] != last {
			env.After(r.at, d.seat, p[0])
		}
		if !r.can(r.at, d.seat, p[1]) {
			return errNoChoice
		}
		if r.play(d.seat, p); r.next.Acting() == 0 {
			return errors.New("a sibling is a finished game")
		}
	}
	return nil
}

var errNoChoice = errors.New("the seat has no such choice")

// can reports whether seat may choose a in s.
func (r *siblingReader) can(s env.State, seat int, a env.Action) bool {
	if seat >= env.MaxSeats || !s.Acting().Has(seat) {
		return false
	}
	r.legal = s.Legal(seat, r.legal[:0])
	return slices.Contains(r.legal, a)
}
