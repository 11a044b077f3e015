package envtest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"blockyard/env"
)

const (
	sample   = 12      // random games per promise
	maxPlies = 100_000 // a longer random game counts as endless
)

// A walker plays random legal games. Uniformly random actions lead to only some kinds of positions, so a
// walker can also prefer the first or the last legal action.
type walker struct {
	g     *env.Game
	seats int
	rng   *rand.Rand
	legal []env.Action
	none  float64 // probability that a seat plays None
	bias  int     // -1 to the first legal action, 1 to the last
	plain bool    // without bias in any game

	seed   uint64    // of the game that each is playing
	played env.Moves // the moves that led to the position that each visits

	other, scratch env.State // of which a check makes what it likes; each leaves them from position to position
}

func newWalker(g *env.Game, seats int, seed uint64) *walker {
	return &walker{g: g, seats: seats, rng: rand.New(rand.NewPCG(seed, 7)), other: g.New(seats), scratch: g.New(seats)}
}

// moves returns a random legal action for every acting seat.
func (w *walker) moves(s env.State) env.Moves {
	m := env.NoMoves
	for set := s.Acting(); set != 0; set = set.Rest() {
		if w.none > 0 && w.rng.Float64() < w.none {
			continue
		}
		w.legal = s.Legal(set.First(), w.legal[:0])
		if len(w.legal) > 0 {
			m[set.First()] = w.pick()
		}
	}
	return m
}

func (w *walker) pick() env.Action {
	k := w.rng.IntN(len(w.legal))
	if w.bias != 0 && k%4 != 0 {
		k = max(0, w.bias) * (len(w.legal) - 1)
	}
	return w.legal[k]
}

// each plays games with seeds derived from seed and calls visit for every position, including the final
// one. Half of the games are biased.
func (w *walker) each(seed uint64, visit func(s env.State, ply int) error) error {
	for k := range uint64(sample) {
		s := w.g.New(w.seats)
		w.seed = env.Derive(seed, k)
		s.Reset(w.seed)
		if !w.plain {
			w.bias = [4]int{0, 0, -1, 1}[k%4]
		}
		for ply := 0; ; ply++ {
			if err := visit(s, ply); err != nil {
				return fmt.Errorf("game %d, ply %d: %w", k, ply, err)
			}
			if s.Acting() == 0 {
				break
			}
			if ply == maxPlies {
				return fmt.Errorf("game %d goes on after %d plies", k, ply)
			}
			w.played = w.moves(s)
			s.Step(w.played)
		}
	}
	return nil
}

// clone returns a State equal to s.
func (w *walker) clone(s env.State) env.State {
	c := w.g.New(w.seats)
	c.CopyFrom(s)
	return c
}

// same reports whether two states of one type are equal, field by field.
func same(a, b env.State) bool {
	return reflect.ValueOf(a).Elem().Interface() == reflect.ValueOf(b).Elem().Interface()
}

// A view is everything that one seat can observe of a position.
type view struct {
	planes  []uint8
	globals []float32
	legal   []env.Action
}

func look(g *env.Game, s env.State, seat int) view {
	v := view{planes: make([]uint8, g.Planes.Len()), globals: make([]float32, g.Globals())}
	s.Observe(seat, v.planes, v.globals)
	v.legal = s.Legal(seat, nil)
	return v
}

// differs returns in what two views differ, or "".
func (v view) differs(o view) string {
	if !bytes.Equal(v.planes, o.planes) {
		return "planes"
	}
	if !slices.Equal(v.globals, o.globals) {
		return "globals"
	}
	if !slices.Equal(v.legal, o.legal) {
		return "legal moves"
	}
	return ""
}

// apart returns in what two positions differ for any seat, or "".
func (w *walker) apart(a, b env.State) string {
	if a.Acting() != b.Acting() {
		return "who acts"
	}
	for seat := range w.seats {
		if d := look(w.g, a, seat).differs(look(w.g, b, seat)); d != "" {
			return fmt.Sprintf("the %s of seat %d", d, seat)
		}
		if a.Score(seat) != b.Score(seat) || a.Result(seat) != b.Result(seat) {
			return fmt.Sprintf("score or result of seat %d", seat)
		}
	}
	if Frame(a).String() != Frame(b).String() {
		return "the frame"
	}
	return ""
}

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

// bench measures Legal, Step (including a CopyFrom), Observe, CopyFrom and After (including a
// CopyFrom) on the positions of random games, and as Playout a whole random game, for which it also
// reports ns/ply.
func bench(b *testing.B, g *env.Game) {
	seats := g.MinSeats
	positions := moments(g, seats)
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
				m := &positions[k%len(positions)]
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
