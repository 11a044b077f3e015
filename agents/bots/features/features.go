// Package features describes positions to value networks. A game lists its features by name
// and supplies a Reader that computes them; Learned evaluates positions by a network over them.
// Contest bots contain this package, so it uses the language of Go 1.17 only.
package features

import (
	"embed"
	"fmt"
	"strings"

	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/env"
)

// A Set is the features of one game that networks read: their names, and how to compute them.
type Set struct {
	Names []string // in order, as a file of weights repeats them
	// Own is how many of them differ between the afterstates of one decision. They come
	// first; the others are the same in all of these afterstates.
	Own int
	// New returns a reader for one goroutine.
	New func() Reader
}

// Names reads the names of features from features.txt, one per line.
func Names(shipped embed.FS) []string {
	text, err := shipped.ReadFile("features.txt")
	if err != nil {
		panic(err) // a file of the program
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// A Reader computes the features of the afterstates of one decision: of the positions right
// after each legal choice of one seat, none of them a finished game.
type Reader interface {
	// Shared writes the features that are the same in all afterstates of the decision, given
	// any one of them, and prepares the reader for Own.
	Shared(s env.State, seat int, out []float32)
	// Own writes the features that differ, for one afterstate.
	Own(s env.State, seat int, out []float32)
}

// A Learned is a search.Evaluator: a value network over features. It belongs to one agent.
type Learned struct {
	Net    *mlp.Net // from all features to one value; see Check
	Reader Reader
	Own    int // how many features Reader.Own writes
	// Side returns the seat whose features of s count for seat; if another, the value is the negative of the network's.
	Side func(s env.State, seat int) int

	shared []float32
	acc    []float32 // the first layer's sums over shared
	x      []float32 // [states][Own], grows to the most states seen
}

// Check refuses a network that is not one from so many features to one value.
func Check(net *mlp.Net, inputs int) error {
	if net.In() != inputs || net.Out() != 1 {
		return fmt.Errorf("a net of %d inputs and %d outputs, want %d and 1", net.In(), net.Out(), inputs)
	}
	return nil
}

// Evaluate implements search.Evaluator. What is the same in all states goes through the network's first layer once.
func (l *Learned) Evaluate(states []env.State, seat int, out []float32) {
	own, n, net := l.Own, len(states), l.Net
	l.grow(n)
	l.Reader.Shared(states[0], seat, l.shared)
	net.Base(l.shared, own, l.acc)
	for i, s := range states {
		l.Reader.Own(s, l.Side(s, seat), l.x[i*own:(i+1)*own])
	}
	net.ForwardFrom(l.acc, l.x, own, n, out)
	for i, s := range states {
		if out[i] = search.Clamp(out[i]); l.Side(s, seat) != seat {
			out[i] = -out[i]
		}
	}
}

func (l *Learned) grow(n int) {
	if len(l.x) < n*l.Own {
		l.x, l.shared, l.acc = make([]float32, n*l.Own), make([]float32, l.Net.In()-l.Own), make([]float32, l.Net.AccLen())
	}
}

const stepMax = 6 // the greatest step between neighbouring columns that features distinguish

// ColumnUnits are the units of what Columns writes: of a row of height, and of one of a step.
func ColumnUnits(height, step float32, columns int) (units []float32) {
	for i := 0; i < 3*columns-2; i++ {
		if units = append(units, step); i < columns {
			units[i] = height
		}
	}
	return units
}

// Columns writes the counts of a surface whose columns begin at rows tops, counted downwards, above row floor: the
// heights of the columns, then the steps from one column to the next, then the sizes of these steps. It returns the
// rest of out.
func Columns(floor int, tops []int, out []int32) []int32 {
	n := len(tops)
	heights, steps, sizes := out[:n], out[n:2*n-1], out[2*n-1:3*n-2]
	last := tops[0]
	heights[0] = int32(floor - last)
	for x, t := range tops[1:] {
		s := &stepSizes[(last-t)&127]
		heights[x+1], steps[x], sizes[x] = int32(floor-t), int32(s[0]), int32(s[1])
		last = t
	}
	return out[3*n-2:]
}

// stepSizes has, for a step of less than 64 rows, itself and its size, both within stepMax. Steps down are at the end.
var stepSizes = func() (out [128][2]int8) {
	for i := range out {
		d := max(-stepMax, min(int8((i+64)&127-64), stepMax))
		out[i] = [2]int8{d, d}
		if d < 0 {
			out[i][1] = -d
		}
	}
	return out
}()

// Yes returns 1 for true and 0 for false, as a count.
func Yes(b bool) int32 {
	if b {
		return 1
	}
	return 0
}

// Over returns how much n is above limit, or 0.
func Over(n, limit int) int { return max(n-limit, 0) }

// OverSquared returns the square of how much n is above limit, or 0.
func OverSquared(n, limit int) int {
	n = Over(n, limit)
	return n * n
}
