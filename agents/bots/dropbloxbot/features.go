package dropbloxbot

import (
	"blockyard/agents/bots/features"
	"blockyard/agents/mlp"
	"blockyard/env"
	"blockyard/env/dropblox"
)

// What the features distinguish: rows that lack up to so many squares, and slots of up to so many columns.
const (
	lacking = 4
	windows = 4
)

const Len = 21 + 2*lacking + 3*windows + 3*dropblox.Cols - 2 // how many features there are

// edgeScale and holeScale are what an edge, a square of a well and a hole count.
const edgeScale, holeScale = 0.03, 0.1

// A FeatureReader is a features.Reader of the Len features of a board. It keeps nothing between calls.
type FeatureReader struct{}

// Shared implements features.Reader: there are no such features.
func (FeatureReader) Shared(env.State, int, []float32) {}

// Own implements features.Reader with Features: all of them differ between the afterstates of a decision.
func (FeatureReader) Own(state env.State, _ int, out []float32) {
	s := state.(*dropblox.State)
	Features(&s.Taken, int(s.Points), out)
}

// Features writes the features of a board at a score to out, which has length Len; each is about -1 to 2.
//
// Edges, holes and wells are those of the hand-tuned rating, less what an empty board has. Covers are taken squares
// above the lowest hole of their column; covered is columns with holes; beside is holes with an open square next to
// them. The peak is the highest column, the heap all heights together, the middle the highest of the columns where
// blocks appear, the tower and the alarm the rows of the peak above 14 and above 19. Bumps are the steps between
// columns; cliffs the part of each step above 3.
//
// Blocks drawn at the score have a mean size; small and large are the chances that one is
// drawn among those of up to five, and of up to ten squares.
//
// A row is short of k if k squares are missing and all are open from above. Rows but for k have up to k squares
// missing, holes or not. A slot of k is a run of rows that miss squares in the same k neighbouring columns alone, all
// open from above: of the longest it counts how many rows there are, what removing them at once would earn, and the
// squares missing. Heights of columns and the steps between them, signed and not, come last.
func Features(f *Field, points int, out []float32) {
	var p parent
	p.count(f)
	out = out[:Len]
	for i, u := range units[:Len] {
		out[i] = float32(p.counts[i]) * u
	}
	copy(out[scoreAt:], drawnAt[inRange(points)][:])
}

const scoreAt = 17 // where the features of the score begin

// units are what one of each count is as a feature.
var units = func() (out [len(counts{})]float32) {
	n := copy(out[:], []float32{edgeScale, edgeScale, holeScale, edgeScale, 0.2, 0.04, 0.2, 0.06, 0.008, 0.0006, 0.05, 0.1,
		0.06, 0.01, 0.15, 0.3, 0.1, 0, 0, 0, 0})
	for _, u := range [...]float32{0.2, 0.15, 0.2, 0.008, 0.1} { // of the lists in features.txt
		for k := 0; k < lacking; k++ {
			out[n] = u
			n++
		}
	}
	copy(out[n:], features.ColumnUnits(0.06, 0.2, dropblox.Cols))
	return out
}()

// Scores that the features distinguish: below, blocks hardly grow; no game is known to go beyond.
const lowScore, highScore = 250, 1599

func inRange(points int) int { return max(lowScore, min(points, highScore)) }

// drawnAt are the features that depend on the score alone, from lowScore on.
var drawnAt = func() (out [highScore + 1][4]float32) {
	for s := lowScore; s <= highScore; s++ {
		c := dropblox.Chances(s)
		out[s] = [4]float32{float32(s) / 500, float32(dropblox.MeanSize(s)-4.4) / 3, float32(c[0]), float32(c[5]) * 2}
	}
	return out
}()

// Unit is the value of a point in the units of the network, which values the points that the game still brings.
const Unit = 0.01

// prior is how much of the classic terms is added to that. Among boards that a network values alike, a search prefers
// those that it overrates; these terms keep the search to boards like those that the network was trained on.
const prior = 0.0005

// A Learned is a Rater by a trained net: the points of a line, the worth of the board it
// leads to, and a little of the classic terms. It belongs to one Beam.
type Learned struct {
	net    *mlp.Net
	counts []int16 // of kids, each in memory of a counts
	x      []float32
	parent parent
	whole  parent // for boards that differ from the one before in all columns
}

// NewLearned returns a Learned over net, of Len inputs and one output. Nets made by Clone may be used at the same time.
func NewLearned(net *mlp.Net) *Learned { return &Learned{net: net} }

// Rate implements Rater. It adds the points in Units and the classic terms of the line to the worth of the board.
func (l *Learned) Rate(from *Board, kids []Kid, _ int, worth []float32) {
	l.Value(from, kids, worth)
	w := &Classic
	for i := range kids {
		k, x := &kids[i], l.x[i*Len:]
		k.Line = from.Line + w[Eroded]*float32(k.Rows*k.Eroded) - w[Landing]*k.Row
		board := w[RowEdges]*x[0]/edgeScale + w[ColEdges]*x[1]/edgeScale + w[Holes]*x[2]/holeScale + w[Wells]*x[3]/edgeScale
		worth[i] += Unit*float32(k.Points) + prior*(k.Line+board)
	}
}

// Ended implements Ender: the points made, and what the placements say of the line.
func (l *Learned) Ended(b *Board) float32 { return Unit*float32(b.Points) + prior*b.Line }

// Value writes to worth what the net alone makes of the boards of kids.
func (l *Learned) Value(from *Board, kids []Kid, worth []float32) {
	if need := len(kids)*Len + len(units) - Len; len(l.x) < need {
		l.counts, l.x = make([]int16, 2*len(kids)*len(units)), make([]float32, 2*need)
	}
	l.parent.set(&from.Field)
	for i := range kids {
		k, out := &kids[i], (*counts)(l.counts[i*len(units):])
		if k.end == 0 {
			l.whole.count(&k.Field)
			*out = l.whole.counts
		} else {
			l.parent.look(&k.Field, int(k.lo), int(k.end), out)
		}
	}
	mlp.Scale(l.counts[:len(kids)*len(units)], units[:], Len, l.x)
	for i := range kids {
		copy(l.x[i*Len+scoreAt:], drawnAt[inRange(int(kids[i].Points))][:])
	}
	l.net.Forward(l.x[:len(kids)*Len], len(kids), worth)
}
