package phases

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"blockyard/agents/bots/features"
	"blockyard/agents/mlp"
	"blockyard/env"
	"blockyard/train/games"
	"blockyard/train/selfplay"
)

const (
	sharpness = 0.2 // temperature of the softmax over siblings, in the net's log odds
	meanOver  = 8   // weights are averaged over this part of a stage, its last
)

// A siblingLearner fits the network to how a deeper search ranks the actions of a decision, over all decisions of a
// stage.
type siblingLearner struct {
	staged
	reader *siblingReader
	stage  decisions // all so far
}

func (c *Config) perStep() int { return max(1, c.Batch/c.Samples) }

func (l *siblingLearner) Restore(s *selfplay.State) error {
	return errors.Join(l.stage.SetTensors(s.Under(stagePrefix)), l.staged.Restore(s))
}

func (l *siblingLearner) Save(s *selfplay.State) {
	s.Add(stagePrefix, l.stage.Tensors())
	l.staged.Save(s)
}

func (l *siblingLearner) Gated() error {
	l.stage.list = nil
	return l.staged.Gated()
}

func (l *siblingLearner) Rollout() selfplay.Rollout { return l.rollout(siblingKind) }

// refit is the share of the stage's decisions that each fit takes in a stage of so many lengths of the first; 0.1 in
// older runs and for a budget of time.
func (c *Config) refit(length int) float64 {
	if rollouts := c.Iterations * length / c.Lengths(); rollouts > 0 && c.Often > 0 {
		return min(1, float64(2*c.Often)/float64(rollouts))
	}
	return 0.1
}

// Fit takes a share of the stage's decisions, so that a rollout's steps grow with them.
func (l *siblingLearner) Fit() error {
	for _, slot := range l.Run.Slots {
		if n, ok := slot.Notes.(*decisions); ok {
			l.stage.list = append(l.stage.list, n.list...)
		}
	}
	counts, shuffle := &l.Run.Counts, l.Run.Shuffle()
	part, length := l.Run.StagePart()
	take := shuffle.Perm(len(l.stage.list))[:int(math.Ceil(l.config.refit(length)*float64(len(l.stage.list))))]
	loss, rows := 0., 0
	// almost nothing at the end of each stage, along half a cosine over the steps of the optimiser
	rate := fall(l.config.RateBackup, l.config.RateBackup/50, 1, part*part)
	for len(take) > 0 {
		n := min(l.config.perStep(), len(take))
		of, err := l.step(take[:n], func() bool { return shuffle.Uint32()&1 != 0 }, rate)
		if err != nil {
			return err
		}
		loss, rows, take = loss+of*float64(n), rows+n*l.config.Samples, take[n:]
	}
	if rows > 0 {
		counts.Loss = loss * float64(l.config.Samples) / float64(rows)
	}
	counts.Rows += rows
	l.fits++
	return l.Fitted(max(1, l.fits/meanOver))
}

// step takes one step of the optimiser on some decisions of the stage, half of them mirrored, and returns its loss.
func (l *siblingLearner) step(which []int, mirrored func() bool, rate float64) (float64, error) {
	k, n, game := l.config.Samples, len(l.Run.Game.Features), l.Run.Game
	x, y := l.Rows.X[:0], l.Rows.Y[:0]
	for _, i := range which {
		d, at := &l.stage.list[i], len(x)
		x, y = append(x, make([]float32, k*n)...), appendChoice(y, d.targets)
		if err := l.reader.rows(d, x[at:]); err != nil {
			return 0, err
		}
		if game.Mirror != nil && mirrored() {
			for ; at < len(x); at += n {
				game.Mirror(x[at : at+n])
			}
		}
	}
	l.Rows.X, l.Rows.Y = x, y
	// A last short batch takes a step of its own size, not a full one.
	return l.Trainer.Fit(x, y, rate*float64(len(which))/float64(l.config.perStep()))
}

// appendChoice appends with what probability each sibling is to be chosen, given their targets.
func appendChoice(y, targets []float32) []float32 {
	top, sum := slices.Max(targets), 0.
	for _, t := range targets {
		sum += math.Exp(float64(t-top) / sharpness)
	}
	for _, t := range targets {
		y = append(y, float32(math.Exp(float64(t-top)/sharpness)/sum))
	}
	return y
}

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

// A siblingReader computes the features of the afterstates of a decision, its siblings.
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

var noDraws [env.MaxDraws]uint16 // draws forced to be 0

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

func (r *siblingReader) can(s env.State, seat int, a env.Action) bool {
	if seat >= env.MaxSeats || !s.Acting().Has(seat) {
		return false
	}
	r.legal = s.Legal(seat, r.legal[:0])
	return slices.Contains(r.legal, a)
}
