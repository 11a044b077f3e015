package dropbloxbot

import (
	"blockyard/agents/features"
	"blockyard/agents/mlp"
)

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
	net *mlp.Net
	x   []float32
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
	l.Value(kids, worth)
	w := &Classic
	for i := range kids {
		k, x := &kids[i], l.x[i*Len:]
		k.Line = from.Line + w[Eroded]*float32(k.Rows*k.Eroded) - w[Landing]*k.Row
		board := w[RowEdges]*x[0]/edgeScale + w[ColEdges]*x[1]/edgeScale + w[Holes]*x[2]/holeScale + w[Wells]*x[3]/edgeScale
		worth[i] += Unit*float32(k.Points) + prior*(k.Line+board)
	}
}

// Value writes to worth what the net alone makes of the boards of kids.
func (l *Learned) Value(kids []Kid, worth []float32) {
	if need := len(kids) * Len; len(l.x) < need {
		l.x = make([]float32, 2*need)
	}
	for i := range kids {
		Features(&kids[i].Field, int(kids[i].Points), l.x[i*Len:(i+1)*Len])
	}
	l.net.Forward(l.x[:len(kids)*Len], len(kids), worth)
}
