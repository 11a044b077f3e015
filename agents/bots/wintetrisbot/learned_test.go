package wintetrisbot

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/entry"
	"blockyard/agents/bots/entry/toybot"
	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/env/wintetris"
)

// slowFeatures is the features by name, cell by cell.
func slowFeatures(f *wintetris.Field) map[string]float32 {
	n, h := slowField(f)
	peak, heap, buried, wells := slices.Max(h[:]), 0, 0, 0
	out := map[string]float32{}
	for x, v := range h {
		out[FeatureNames[x]] = float32(v) * 0.1
		heap += v
		if x > 0 {
			d := max(-6, min(6, v-h[x-1]))
			out[FeatureNames[9+x]] = float32(d) * 0.25
			out[FeatureNames[18+x]] = float32(max(d, -d)) * 0.25
		}
		for y := range peak {
			if !f.At(x, y) && y < v {
				buried += v - y - 1
			}
			walled := func(k int) bool { return (x == 0 || f.At(x-1, k)) && (x == len(h)-1 || f.At(x+1, k)) }
			for k := y; y >= v && k < peak && walled(k); k++ { // every open cell above counts this one
				wells++
			}
		}
	}
	for name, v := range map[string]float32{
		"holes": float32(n[HoleCells]) * 0.1, "buried": float32(buried) * 0.03, "rows with holes": float32(n[HoleRows]) * 0.2,
		"row changes":    float32(n[RowTransitions]-2*(wintetris.Height-peak)) * 0.03, // walls of empty rows left out
		"column changes": float32(n[ColumnTransitions]) * 0.03, "wells": float32(wells) * 0.05,
		"peak": float32(peak) * 0.1, "heap": float32(heap) * 0.01, "tower": float32(max(0, peak-10)) * 0.2,
	} {
		out[name] = v
	}
	return out
}

func litter(rng *rand.Rand) (f wintetris.Field) {
	density := 1 + rng.IntN(10)
	for y := range rng.IntN(wintetris.Height + 1) {
		for x := range wintetris.Width {
			if rng.IntN(11) <= density {
				f.Set(x, y)
			}
		}
		f[y] &^= 1 << rng.IntN(wintetris.Width)
	}
	return f
}

func TestFeaturesAgainstTheirTwin(t *testing.T) {
	rng := rand.New(rand.NewPCG(envtest.Seed(t), 5))
	var out [Len]float32
	for range 3000 {
		f := litter(rng)
		for i := range out {
			out[i] = 99
		}
		Features(&f, out[:])
		want := slowFeatures(&f)
		require.Len(t, want, Len)
		for i, name := range FeatureNames {
			require.Equal(t, want[name], out[i], "%s of\n%v", name, f)
		}
	}
}

// TestLearnedAgainstItsTwin rates by two placements and the net, one at a time.
func TestLearnedAgainstItsTwin(t *testing.T) {
	rng := rand.New(rand.NewPCG(envtest.Seed(t), 6))
	net := toybot.RandomNet(t, 1, Len, 32, 1)
	l := NewLearned(net.Clone())
	for n := range 120 {
		f := litter(rng)
		for range n % 3 { // under the ceiling, where a piece may come to lie below it
			f.Set((rng.IntN(6)+7)%wintetris.Width, wintetris.Height-1-rng.IntN(4))
		}
		at, next := wintetris.Spawn(uint8(rng.IntN(wintetris.Kinds))), uint8(rng.IntN(wintetris.Kinds))
		if !f.Fits(at) {
			continue
		}
		outside := func(b wintetris.Block) bool { return !b.Inside() }
		moves := slices.DeleteFunc(f.Moves(at, nil), outside)
		got := make([]float64, len(moves))
		l.Rate(&f, moves, next, got)
		for i, m := range moves {
			g := f
			want, rows := float64(lost), g.Put(m)
			if at := wintetris.Spawn(next); g.Fits(at) {
				best := float64(lost)
				for _, q := range slices.DeleteFunc(g.Moves(at, nil), outside) {
					h := g
					second := h.Put(q)
					var x [Len]float32
					var v [1]float32
					Features(&h, x[:])
					net.Forward(x[:], 1, v[:])
					best = max(best, Unit*float64(second)+Discount*float64(v[0]))
				}
				want = Unit*float64(rows) + Discount*best
			}
			require.InDelta(t, want, got[i], 1e-4)
		}
	}
}

// raters are the hand-tuned one and the shipped net.
func raters() map[string]Rater {
	net := envtest.Must(Entry.LoadNet(wintetris.Game, ""))
	return map[string]Rater{"hand": NewHand(Demo), "learned": NewLearned(net)}
}

// TestSurvivorAsPlayed: the chances are those of positions that are played out, with each kind of next piece. In a field
// of twenty rows, the net sees ten, and nothing is played out while the others are empty.
func TestSurvivorAsPlayed(t *testing.T) {
	rng, net := rand.New(rand.NewPCG(3, 1)), toybot.RandomNet(t, 1, Len, 32, 1)
	under := 0
	judge := func(f *wintetris.Field) float64 {
		x, v := make([]float32, Len), make([]float32, 1)
		var above wintetris.Field
		copy(above[:], f[under:])
		Features(&above, x)
		net.Forward(x, 1, v)
		return search.Chance(v[0])
	}
	for _, g := range []*env.Game{wintetris.Paper10Game, wintetris.Paper20Game} {
		survivor := NewSurvivor(net)
		survivor.rows = g.New(1).(*wintetris.State).Mode.Rows()
		s := g.New(1).(*wintetris.State)
		s.Reset(1)
		looks := map[bool]int{}
		for range 60 {
			if s.Acting() == 0 || g == wintetris.Paper20Game && s.Field.Top() > 17 {
				s.Reset(rng.Uint64())
				for y := range rng.IntN(survivor.rows - 6) {
					s.Field[y] = full &^ (1 << rng.IntN(wintetris.Width))
				}
			}
			under = max(0, s.Field.Top()-10)
			calm := g == wintetris.Paper20Game && s.Field.Top() < 10
			looks[!calm]++
			worth := map[env.Action]float64{}
			best := func(at *wintetris.State) (most float64) { // after the best choice, and 0 if each ends the game
				for _, a := range at.Legal(0, nil) {
					next := *at
					if next.Step(env.Alone(0, a)); next.Acting() != 0 {
						most = max(most, judge(&next.Field))
					}
				}
				return most
			}
			var moves []wintetris.Block
			for _, m := range s.Field.Drops(s.Piece.Kind, nil) {
				next := *s
				if next.Step(env.Alone(0, m.Action())); next.Acting() == 0 {
					continue
				}
				moves = append(moves, m)
				for kind := range uint8(wintetris.Kinds) {
					next.Piece.Kind = kind
					worth[m.Action()] += best(&next) / wintetris.Kinds
				}
			}
			rate := func(width int) []float64 {
				values := make([]float64, len(moves))
				survivor.width = width
				survivor.Rate(&s.Field, moves, unknown, values)
				return values
			}
			all, flat, some := rate(wintetris.MaxMoves), rate(1), rate(3)
			deep := 0
			for i, m := range moves {
				next := s.Field
				next.Put(m)
				require.InDelta(t, judge(&next)-1, flat[i], 1e-6)
				if calm {
					require.Equal(t, flat[i], all[i])
				} else {
					require.InDelta(t, worth[m.Action()], all[i], 1e-6)
				}
				if some[i] == all[i] {
					deep++
				} else {
					require.Equal(t, flat[i], some[i])
				}
			}
			require.True(t, calm || deep == min(3, len(moves)), "the best three are looked beyond")
			legal := s.Legal(0, nil)
			s.Step(env.Alone(0, legal[rng.IntN(len(legal))]))
		}
		require.Greater(t, looks[true], 10)
		require.Equal(t, g == wintetris.Paper20Game, looks[false] > 10)
	}
}

// TestSurvivorByItsFile: what the file of a network says of its output decides who plays by it, in whatever game.
func TestSurvivorByItsFile(t *testing.T) {
	net := toybot.RandomNet(t, 1, Len, 32, 1)
	facts := mlp.Facts{Notes: map[string]string{"output": Survival}}
	for g, rows := range map[*env.Game]int{wintetris.Paper10Game: 10, wintetris.Paper20Game: 20, wintetris.Game: 20} {
		judge := envtest.Must(Entry.Learned.Over(net, facts))
		for width, want := range []int{5, 1, 2} { // 0 is the default
			envtest.Must(Entry.Search.New(g, judge, entry.Options{Numbers: map[string]int{"width": width}}))
			survivor := judge.(*Survivor)
			require.Equal(t, []int{rows, want}, []int{survivor.rows, survivor.width})
			survivor.width = 5
		}
	}
	judge := envtest.Must(Entry.Learned.Over(net, mlp.Facts{}))
	require.IsType(t, &Learned{}, judge)
	_, err := Entry.Search.New(wintetris.Paper10Game, judge, entry.Options{Numbers: map[string]int{"width": 2}})
	require.ErrorContains(t, err, "option width: only a network that was trained on survival")
}

// tenRows is what choices on ten rows by a network of random weights come to; figures of trained networks depend on it.
const tenRows = "d970a7ded81dedadf26a50185f562bad1cb822f9dcb100d7d91a52c6f731b8c3"

// TestSurvivorOnTenRows: choices are those of before, with and without looking beyond.
func TestSurvivorOnTenRows(t *testing.T) {
	judge := NewSurvivor(toybot.RandomNet(t, 1, Len, 32, 1))
	var made []byte
	for _, width := range []int{0, 1, 2} {
		agent := envtest.Must(newAgent(wintetris.Paper10Game, judge, entry.Options{Numbers: map[string]int{"width": width}}))
		s := wintetris.Paper10Game.New(1).(*wintetris.State)
		for seed := range uint64(3) {
			s.Reset(seed)
			for s.Acting() != 0 && s.Pieces < 100 {
				a := envtest.Must(agent.Act(t.Context(), s, 0))
				made = append(made, byte(a))
				s.Step(env.Alone(0, a))
			}
		}
		judge.width = 5
	}
	require.Equal(t, tenRows, fmt.Sprintf("%x", sha256.Sum256(made)))
}
