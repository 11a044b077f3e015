package wintetrisbot

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/entry/toybot"
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
func raters(t testing.TB) map[string]Rater {
	net := envtest.Must(Entry.LoadNet(wintetris.Game, ""))
	return map[string]Rater{"hand": NewHand(Demo), "learned": NewLearned(net)}
}
