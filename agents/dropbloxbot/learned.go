package dropbloxbot

import (
	"fmt"

	"blockyard/agents/valuenet"
	"blockyard/env/dropblox"
)

// What the net gives is the worth of a board at a score: what the rows removed from there on
// earn, and by Discount less for every block it is later. First of all rows count, not
// points: a game ends where blocks have grown too large to be cleared away as fast as they
// come, and the player that clears most of them gets furthest. Rows removed at once count
// more by Leap of the points they make beyond their number.
const (
	Discount = 0.985
	Unit     = 0.1
	Leap     = 0.6
)

// Earn is what rows removed at once, 0 to MaxSize, are worth.
func Earn(rows int, leap float64) float64 {
	return Unit * (float64(rows) + leap*float64(int(1)<<uint(rows)-1-rows))
}

// earned is Earn by rows.
var earned = func() (out [dropblox.MaxSize + 1]float32) {
	for n := range out {
		out[n] = float32(Earn(n, Leap))
	}
	return out
}()

// A Learned is a Rater by a trained net: the rows of a line and the worth of the board it
// leads to. It belongs to one Beam.
type Learned struct {
	net *valuenet.Net
	x   []float32
}

// NewLearned returns a Learned over net, of Len inputs and one output. Nets made by Clone may
// be used at the same time.
func NewLearned(net *valuenet.Net) (*Learned, error) {
	if net.In() != Len || net.Out() != 1 {
		return nil, fmt.Errorf("dropblox: a net of %d inputs and %d outputs, want %d and 1", net.In(), net.Out(), Len)
	}
	return &Learned{net: net}, nil
}

// Rate implements Rater.
func (l *Learned) Rate(from *Board, kids []Kid, _ int, worth []float32) {
	if need := len(kids) * Len; len(l.x) < need {
		l.x = make([]float32, 2*need)
	}
	for i := range kids {
		Look(&kids[i].Field, int(kids[i].Points), l.x[i*Len:(i+1)*Len])
	}
	l.net.Forward(l.x[:len(kids)*Len], len(kids), worth)
	for i := range kids {
		kids[i].Line = from.Line + earned[kids[i].Rows]
		worth[i] += kids[i].Line
	}
}
