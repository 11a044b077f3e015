package wintetrisbot

import (
	"blockyard/agents/features"
	"blockyard/agents/mlp"
	"blockyard/env/wintetris"
)

// What the net gives is the worth of a field: the rows completed from there on, each
// counting Unit, and by Discount less for every piece it is later.
const (
	Discount = 0.97
	Unit     = 0.1
)

// lost is the worth of a field in which the next piece cannot be put, or there is none.
const lost = -1000

// A Learned is a Rater by a trained net: the rows of the placement, those of the best one
// after it, and the worth of the field then. It belongs to one solver.
type Learned struct {
	net  *mlp.Net
	next [wintetris.MaxMoves]wintetris.Block
	rows [wintetris.MaxMoves]float32 // completed by a placement of the next piece
	x    [wintetris.MaxMoves * Len]float32
	v    [wintetris.MaxMoves]float32
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
func (l *Learned) Rate(f *wintetris.Field, moves []wintetris.Block, next uint8, out []float64) {
	at := wintetris.Spawn(next)
	for i, m := range moves {
		g := *f
		rows := g.Put(m)
		out[i] = lost
		if g.Fits(at) {
			out[i] = Unit*float64(rows) + Discount*l.best(&g, at)
		}
	}
}

// best is what the next piece's best placement brings.
func (l *Learned) best(g *wintetris.Field, at wintetris.Block) float64 {
	n, heights := 0, g.Heights()
	for _, q := range g.Distinct(at, l.next[:0]) {
		if !q.Inside() {
			continue
		}
		h := *g
		rows := h.Put(q)
		if x := l.x[n*Len : (n+1)*Len]; rows > 0 {
			Features(&h, x)
		} else {
			tall := heights
			for _, c := range q.Cells() { // mostly on top of its columns, near the ceiling below something
				if top := int8(c[1] + 1); top > tall[c[0]] {
					tall[c[0]] = top
				}
			}
			withHeights(&h, &tall, x)
		}
		l.rows[n] = float32(rows)
		n++
	}
	l.net.Forward(l.x[:n*Len], n, l.v[:n])
	best := float64(lost)
	for k, v := range l.v[:n] {
		if w := Unit*float64(l.rows[k]) + Discount*float64(v); w > best {
			best = w
		}
	}
	return best
}
