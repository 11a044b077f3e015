package envtest

import (
	"testing"

	"blockyard/env"
)

// A moment is a position with one legal choice for every acting seat.
type moment struct {
	s     env.State
	moves env.Moves
}

// moments returns every position of some random games.
func moments(g *env.Game, seats int) []moment {
	var out []moment
	w := newWalker(g, seats, 1)
	w.plain = true
	err := w.each(1, func(s env.State, _ int) error {
		if s.Acting() != 0 {
			out = append(out, moment{w.clone(s), w.moves(s)})
		}
		return nil
	})
	if err != nil {
		panic(err)
	}
	return out
}

// Bench measures Legal, Step (including a CopyFrom), Observe, CopyFrom and After (including a
// CopyFrom) on the positions of random games, and as Playout a whole random game, for which it also
// reports ns/ply.
func Bench(b *testing.B, g *env.Game) {
	seats := g.MinSeats
	all := moments(g, seats)
	scratch := g.New(seats)
	legal := make([]env.Action, 0, g.MaxLegal)
	planes, globals := make([]uint8, g.Planes.Len()), make([]float32, g.Globals())
	for _, c := range []struct {
		name string
		do   func(m *moment, seat int)
	}{
		{"Legal", func(m *moment, seat int) { legal = m.s.Legal(seat, legal[:0]) }},
		{"Step", func(m *moment, _ int) { scratch.CopyFrom(m.s); scratch.Step(m.moves) }},
		{"Observe", func(m *moment, seat int) { m.s.Observe(seat, planes, globals) }},
		{"CopyFrom", func(m *moment, _ int) { scratch.CopyFrom(m.s) }},
		{"After", func(m *moment, seat int) { scratch.CopyFrom(m.s); env.After(scratch, seat, m.moves[seat]) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for k := 0; b.Loop(); k++ {
				m := &all[k%len(all)]
				c.do(m, m.s.Acting().First())
			}
		})
	}
	b.Run("Playout", func(b *testing.B) { benchPlayout(b, g, seats) })
}

func benchPlayout(b *testing.B, g *env.Game, seats int) {
	b.ReportAllocs()
	w := newWalker(g, seats, 1)
	w.legal = make([]env.Action, 0, g.MaxLegal)
	s := g.New(seats)
	plies := 0
	for k := uint64(0); b.Loop(); k++ {
		for s.Reset(k); s.Acting() != 0; plies++ {
			s.Step(w.moves(s))
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(plies), "ns/ply")
}
