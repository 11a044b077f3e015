package wintetrisbot

import (
	"cmp"
	"slices"

	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/env/wintetris"
)

// Survival is what the file of a network for a Survivor says of its output, whose values are such chances.
const Survival = "chance that the game goes on, as log odds; each choice counts 3 % less than the one before"

// seen is how many rows of the field a Survivor's net can see: those of the field on which it learned.
const seen = 10

// A Survivor is a Rater by a net whose output is the logit of the chance that the game goes on. Beyond the best places
// it looks at the next piece, and where that is not known, at the mean over all kinds. One solver has it.
//
// In a field of more than seen rows, the net sees those below the highest column, as if the others were its floor. As
// long as all columns fit into them, the game is not in danger, and it looks beyond no place.
type Survivor struct {
	net   *mlp.Net
	width int // of the best places in a part of the list, how many it looks beyond; with 1, at none
	rows  int // of the field
	under int // rows below those that the net sees, in this choice
	order [wintetris.MaxMoves]int
	next  [wintetris.MaxMoves]wintetris.Block
	x     [wintetris.MaxMoves * Len]float32
	v     [wintetris.MaxMoves]float32
}

// NewSurvivor returns a Survivor over net, of Len inputs and one output, that looks beyond five places of each part
// that its solver rates.
func NewSurvivor(net *mlp.Net) *Survivor {
	return &Survivor{net: net, width: 5, rows: wintetris.Height}
}

// Rate implements Rater: the chance with the next piece at its best place, and 1 less for places beyond which it does
// not look.
func (l *Survivor) Rate(f *wintetris.Field, moves []wintetris.Block, next uint8, out []float64) {
	top := f.Top()
	l.under = max(0, top-seen)
	order := l.order[:len(moves)]
	for i, v := range l.values(f, moves) {
		out[i], order[i] = search.Chance(v)-1, i
	}
	if l.width == 1 || len(moves) == 0 || l.rows > seen && top < seen {
		return
	}
	slices.SortStableFunc(order, func(i, k int) int { return cmp.Compare(out[k], out[i]) })
	for _, i := range order[:min(l.width, len(order))] {
		g := *f
		g.Put(moves[i])
		if next != unknown {
			out[i] = l.best(&g, next)
			continue
		}
		out[i] = 0
		for kind := range uint8(wintetris.Kinds) {
			out[i] += l.best(&g, kind) / wintetris.Kinds
		}
	}
}

// best is the chance with a piece at its best place in g; 0 if there is none.
func (l *Survivor) best(g *wintetris.Field, kind uint8) float64 {
	inside := l.next[:0]
	for _, b := range g.Drops(kind, l.next[:0]) {
		if b.Top() < l.rows {
			inside = append(inside, b)
		}
	}
	if len(inside) == 0 {
		return 0
	}
	return search.Chance(slices.Max(l.values(g, inside)))
}

// values are the outputs of the net for the fields after each of these places, valid until the next call.
func (l *Survivor) values(f *wintetris.Field, moves []wintetris.Block) []float32 {
	n, heights := len(moves), f.Heights()
	for i, m := range moves {
		x := l.x[i*Len : (i+1)*Len]
		if l.under == 0 {
			after(f, &heights, m, x)
			continue
		}
		g, above := *f, wintetris.Field{}
		g.Put(m)
		copy(above[:], g[l.under:])
		Features(&above, x)
	}
	l.net.Forward(l.x[:n*Len], n, l.v[:n])
	return l.v[:n]
}
