package dropbloxbot

import (
	"fmt"
	"math/bits"

	"blockyard/agents/features"
	"blockyard/agents/mlp"
	"blockyard/env"
	"blockyard/env/dropblox"
)

// What the features distinguish: rows that lack up to so many squares, and slots of up to so
// many columns.
const (
	lacking = 4
	windows = 4
)

// FeatureNames names the features of a board and its score, in order.
var FeatureNames = func() (out []string) {
	out = append(out, "row edges", "column edges", "holes", "wells", "rows with holes", "covers", "covered",
		"peak", "heap", "heap squared", "bumps", "cliffs", "middle", "taken", "tower", "alarm", "beside",
		"score", "mean size", "small", "large")
	list := func(name string, to int) {
		for k := 1; k <= to; k++ {
			out = append(out, fmt.Sprintf("%s %d", name, k))
		}
	}
	list("short of", lacking)
	list("rows but for", lacking)
	list("slot", windows)
	list("slot points", windows)
	list("slot squares", windows)
	return append(out, features.ColumnNames("column ", dropblox.Cols)...)
}()

// Len is how many features there are.
const Len = 21 + 2*lacking + 3*windows + 3*dropblox.Cols - 2

// edgeScale and holeScale are what an edge, a square of a well and a hole count.
const edgeScale, holeScale = 0.03, 0.1

// A FeatureReader is a features.Reader. It keeps nothing.
type FeatureReader struct{}

// Shared implements features.Reader: there are no such features.
func (FeatureReader) Shared(env.State, int, []float32) {}

// Own implements features.Reader.
func (FeatureReader) Own(state env.State, _ int, out []float32) {
	s := state.(*dropblox.State)
	Features(&s.Taken, int(s.Points), out)
}

// Features writes the features of a board at a score to out, which has length Len; each is about
// -1 to 2.
//
// Edges, holes and wells are those of the hand-tuned rating, less what an empty board has.
// Covers are taken squares above the lowest hole of their column; covered is columns with
// holes; beside is holes with an open square next to them. The peak is the highest column,
// the heap all heights together, the middle the highest of the columns where blocks appear,
// the tower and the alarm the rows of the peak above 14 and above 19. Bumps are the steps between
// columns; cliffs the part of each step above 3.
//
// Blocks drawn at the score have a mean size; small and large are the chances that one is
// drawn among those of up to five, and of up to ten squares.
//
// A row is short of k if k squares are missing and all are open from above. Rows but for k
// have up to k squares missing, holes or not. A slot of k is a run of rows that miss squares
// in the same k neighbouring columns alone, all open from above: of the longest it counts
// how many rows there are, what removing them at once would earn, and the squares missing.
// Heights of columns and the steps between them, signed and not, come last.
func Features(f *Field, points int, out []float32) {
	out = out[:Len]
	var v view
	v.scan(f)
	v.write(f, points, out)
}

// write writes the features of a board at a score to out.
func (v *view) write(f *Field, points int, out []float32) {
	out = out[:Len]
	out[0] = float32(from16(v.edges, 0)-2*dropblox.Rows) * edgeScale
	out[1] = float32(from16(v.edges, columnEdge)-dropblox.Cols) * edgeScale
	out[2] = float32(from16(v.edges, hole)) * holeScale
	out[3] = float32(from16(v.edges, well)) * edgeScale
	out[4] = float32(bits.OnesCount64(v.holed)) * 0.2
	out[5] = float32(from12(v.squares, cover)) * 0.04
	out[6] = float32(from12(v.squares, covered)) * 0.2
	out[7] = float32(v.peak) * 0.06
	out[8] = float32(from12(v.squares, heap)) * 0.008
	out[9] = float32(from16(v.squares, square)) * 0.0006
	out[10] = float32(from16(v.steps, 0)) * 0.05
	out[11] = float32(from16(v.steps, cliff)) * 0.1
	out[12] = float32(v.middle) * 0.06
	out[13] = float32(from12(v.squares, 0)) * 0.01
	out[14] = float32(features.Over(v.peak, 14)) * 0.15
	out[15] = float32(features.Over(v.peak, 19)) * 0.3
	out[16] = float32(from16(v.steps, beside)) * 0.1
	copy(out[17:], drawnAt[inRange(points)][:])
	out = out[21:]
	for k := 1; k <= lacking; k++ {
		out[k-1] = float32(bits.OnesCount64(v.lacks[k-1]&^v.lacks[k]&^v.holed&v.used)) * 0.2
		out[lacking+k-1] = float32(bits.OnesCount64(v.used&^v.lacks[k])) * 0.15
	}
	v.slots(f, out[2*lacking:])
	var tops [dropblox.Cols]int
	for j, h := range v.heights {
		tops[j] = -h
	}
	var counts [len(columnUnits)]int32
	features.Columns(0, tops[:], counts[:])
	features.Multiply(counts[:], columnUnits[:], out[2*lacking+3*windows:])
}

var columnUnits = func() (out [3*dropblox.Cols - 2]float32) {
	copy(out[:], features.ColumnUnits(0.06, 0.2, dropblox.Cols))
	return out
}()

// Scores that the features distinguish. Below lowScore blocks hardly grow, and what keeps a game
// going is the same; no game is known to reach highScore.
const lowScore, highScore = 250, 1599

func inRange(points int) int {
	if points < lowScore {
		return lowScore
	}
	if points > highScore {
		return highScore
	}
	return points
}

// drawnAt are the features that depend on the score alone, from lowScore on.
var drawnAt = func() (out [highScore + 1][4]float32) {
	for s := lowScore; s <= highScore; s++ {
		c := dropblox.Chances(s)
		out[s] = [4]float32{float32(s) / 500, float32(dropblox.MeanSize(s)-4.4) / 3, float32(c[0]), float32(c[5]) * 2}
	}
	return out
}()

// longestSlot bounds the rows that a slot counts.
const longestSlot = 9

// slots writes, for windows of 1, 2, … neighbouring columns, how many rows the longest slot
// has, what removing them at once would make, and how many squares are missing in it. Of
// slots as long the one that lacks the fewest counts, and in one place the lowest.
func (v *view) slots(f *Field, out []float32) {
	const n = dropblox.Cols
	for k := range out[:3*windows] {
		out[k] = 0
	}
	rows := v.used &^ v.holed &^ v.lacks[windows]
	if rows == 0 {
		return
	}
	var left, right [n + 1]uint64 // rows that are full up to, and from, a column
	left[0], right[n] = rows, within
	for j := 0; j < n; j++ {
		left[j+1] = left[j] & f[j]
		right[n-1-j] = right[n-j] & f[n-1-j]
	}
	for w := 1; w <= windows; w++ {
		length, missing := 0, 0
		for j := 0; j+w <= n && left[j] != 0; j++ {
			m := left[j] & right[j+w]
			if m == 0 || bits.OnesCount64(m) < length {
				continue
			}
			k, slot := lowestRun(m)
			if k < length {
				continue
			}
			lack := 0
			for _, c := range f[j : j+w] {
				lack += bits.OnesCount64(slot &^ c)
			}
			if k > length || lack < missing {
				length, missing = k, lack
			}
		}
		out[w-1] = float32(length) * 0.2
		out[windows+w-1] = float32(int(1)<<uint(length)-1) * 0.008
		out[2*windows+w-1] = float32(missing) * 0.1
	}
}

// lowestRun returns the longest run of ones in m, which is not 0, and its length: of runs as
// long the one of the highest bits, of a run longer than longestSlot its highest bits.
func lowestRun(m uint64) (length int, run uint64) {
	end := m
	for ; m != 0 && length < longestSlot; m &= m << 1 {
		end = m
		length++
	}
	last := uint(63 - bits.LeadingZeros64(end))
	return length, uint64(1<<uint(length)-1) << (last + 1 - uint(length))
}

// Unit is the value of a point in the units of the network, whose output is the value of a board
// at a score: the points that the game still brings.
const Unit = 0.01

// prior is how much of the classic terms is added to that. Among boards that a network values
// alike, a search prefers those that it overrates; these terms keep the search to boards like
// those that the network was trained on.
const prior = 0.0005

// A Learned is a Rater by a trained net: the points of a line, the worth of the board it
// leads to, and a little of the classic terms. It belongs to one Beam.
type Learned struct {
	net    *mlp.Net
	x      []float32
	parent parent
}

// NewLearned returns a Learned over net, of Len inputs and one output. Nets made by Clone may
// be used at the same time.
func NewLearned(net *mlp.Net) (*Learned, error) {
	if err := features.Check(net, Len); err != nil {
		return nil, err
	}
	return &Learned{net: net}, nil
}

// Rate implements Rater.
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

// Value writes to worth what the net alone makes of the boards of kids.
func (l *Learned) Value(from *Board, kids []Kid, worth []float32) {
	if need := len(kids) * Len; len(l.x) < need {
		l.x = make([]float32, 2*need)
	}
	l.parent.set(&from.Field)
	var v view
	for i := range kids {
		k := &kids[i]
		if k.end == 0 {
			v.scan(&k.Field)
		} else {
			l.parent.look(&v, &k.Field, int(k.lo), int(k.end))
		}
		v.write(&k.Field, int(k.Points), l.x[i*Len:(i+1)*Len])
	}
	l.net.Forward(l.x[:len(kids)*Len], len(kids), worth)
}
