package features

import (
	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/env"
)

// A LeafReader is a Reader whose own features are counts, whole numbers, each times a unit as a float32. It can do
// without most of the afterstates: it reads them from the position of the decision and the actions. The features are
// those that Shared and Counts give.
type LeafReader interface {
	Reader
	// Counts writes the counts of Own.
	Counts(s env.State, seat int, out []int32)
	// SharedAfter is Shared for the afterstates of seat's actions in s, with draws forced to be 0, and prepares the
	// reader for CountsAfter. s must not change before the last call of CountsAfter.
	SharedAfter(s env.State, seat int, out []float32)
	// CountsAfter is Counts for the afterstate of a. It returns false if that is a finished game or not one that the
	// reader reads; out is then undefined.
	CountsAfter(a env.Action, out []int32) bool
}

// A BatchReader is a LeafReader that can read several afterstates at a time.
type BatchReader interface {
	LeafReader
	// Batch reads the afterstates of up to eight actions that CountsAfter would read, and returns how many it read and
	// how many actions it used. at[k] is the index of the action of row k; CountsAfter would not read the others.
	Batch(legal []env.Action, at *[8]int) (n, used int)
	// Row returns the counts of row k, until the next call of Batch.
	Row(k int) []int32
}

// Multiply writes each count times its unit to out: the features that the counts stand for. The slices have the same
// length.
func Multiply(counts []int32, units, out []float32) {
	for i, n := range counts {
		out[i] = float32(n) * units[i]
	}
}

// A Counted is a search.Evaluator like Learned, for a Reader whose features are counts. It evaluates an afterstate by
// what differs from the one before.
type Counted struct {
	reader LeafReader
	side   func(s env.State, seat int) int // see Learned
	net    *mlp.Fixed
	shared []float32
	at     [8]int
}

var _ search.LeafEvaluator = (*Counted)(nil)

// NewCounted returns a Counted for the features of r, the first with these units. See Check and Learned.
func NewCounted(net *mlp.Net, r LeafReader, units []float32, side func(s env.State, seat int) int) *Counted {
	return &Counted{reader: r, side: side, net: net.Fixed(units), shared: make([]float32, net.In()-len(units))}
}

// Evaluate implements search.Evaluator: the network's value, limited as search.Clamp does.
func (c *Counted) Evaluate(states []env.State, seat int, out []float32) {
	c.reader.Shared(states[0], seat, c.shared)
	c.net.Share(c.shared)
	for i, s := range states {
		whose := c.side(s, seat)
		c.reader.Counts(s, whose, c.net.Counts())
		if out[i] = search.Clamp(c.net.Value()); whose != seat {
			out[i] = -out[i]
		}
	}
}

// EvaluateLeaves implements search.LeafEvaluator. The network reads the features of the seat that has acted.
func (c *Counted) EvaluateLeaves(s env.State, seat int, legal []env.Action, out []float32, rest []int) []int {
	if len(legal) == 0 {
		return rest
	}
	c.reader.SharedAfter(s, seat, c.shared)
	c.net.Share(c.shared)
	if b, ok := c.reader.(BatchReader); ok {
		return c.batches(b, legal, out, rest)
	}
	for i, a := range legal {
		if !c.reader.CountsAfter(a, c.net.Counts()) {
			rest = append(rest, i)
			continue
		}
		out[i] = search.Clamp(c.net.Value())
	}
	return rest
}

// batches is EvaluateLeaves after the shared features are set.
func (c *Counted) batches(b BatchReader, legal []env.Action, out []float32, rest []int) []int {
	for from := 0; from < len(legal); {
		n, used := b.Batch(legal[from:], &c.at)
		k := 0
		for i := 0; i < used; i++ {
			if k == n || c.at[k] != i {
				rest = append(rest, from+i)
				continue
			}
			copy(c.net.Counts(), b.Row(k))
			out[from+i] = search.Clamp(c.net.Value())
			k++
		}
		from += used
	}
	return rest
}
