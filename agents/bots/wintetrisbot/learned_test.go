package wintetrisbot

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/entry/toybot"
	"blockyard/env/envtest"
	"blockyard/env/wintetris"
)

// slowFeatures is the features by name, cell by cell.
func slowFeatures(f *wintetris.Field) map[string]float32 {
	out := map[string]float32{}
	h := [wintetris.Width]int{}
	for x := range h {
		for y := range wintetris.Height {
			if f.At(x, y) {
				h[x] = y + 1
			}
		}
	}
	peak, heap := 0, 0
	for x, v := range h {
		out[FeatureNames[x]] = float32(v) * 0.1
		peak, heap = max(peak, v), heap+v
		if x > 0 {
			d := max(-6, min(6, v-h[x-1]))
			out[FeatureNames[9+x]] = float32(d) * 0.25
			out[FeatureNames[18+x]] = float32(max(d, -d)) * 0.25
		}
	}
	holes, buried, rows, rowChanges, columnChanges, wells := 0, 0, 0, 0, 0, 0
	filled := func(x, y int) bool { return x < 0 || x >= wintetris.Width || y < 0 || f.At(x, y) }
	for y := range peak {
		any := 0
		for x := range wintetris.Width {
			if !f.At(x, y) && y < h[x] {
				holes, any, buried = holes+1, 1, buried+h[x]-y-1
			}
			for k := y; k < peak && k >= 0 && !f.At(x, y) && y >= h[x]; k++ { // every open cell above counts this one
				if !filled(x-1, k) || !filled(x+1, k) {
					break
				}
				wells++
			}
		}
		for x := range wintetris.Width + 1 {
			if filled(x-1, y) != filled(x, y) {
				rowChanges++
			}
		}
		rows += any
	}
	for x := range wintetris.Width {
		for y := range peak {
			if filled(x, y) != filled(x, y-1) {
				columnChanges++
			}
		}
		if h[x] == peak && peak > 0 {
			columnChanges++
		}
		if peak == 0 {
			columnChanges++ // the floor against nothing
		}
	}
	for name, v := range map[string]float32{
		"holes": float32(holes) * 0.1, "buried": float32(buried) * 0.03, "rows with holes": float32(rows) * 0.2,
		"row changes": float32(rowChanges) * 0.03, "column changes": float32(columnChanges) * 0.03,
		"wells": float32(wells) * 0.05,
		"peak":  float32(peak) * 0.1, "heap": float32(heap) * 0.01, "tower": float32(max(0, peak-10)) * 0.2,
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
		var moves []wintetris.Block
		for _, m := range f.Moves(at, nil) {
			if m.Inside() {
				moves = append(moves, m)
			}
		}
		got := make([]float64, len(moves))
		l.Rate(&f, moves, next, got)
		for i, m := range moves {
			g := f
			want, rows := float64(lost), g.Put(m)
			if at := wintetris.Spawn(next); g.Fits(at) {
				best := float64(lost)
				for _, q := range g.Moves(at, nil) {
					if !q.Inside() {
						continue
					}
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

// raters are the hand-tuned one and the shipped net, or a random one if none is shipped.
func raters(t testing.TB) map[string]Rater {
	net, err := Entry.LoadNet(wintetris.Game, "")
	if err != nil {
		net = toybot.RandomNet(t, 1, Len, 32, 1)
	}
	l := NewLearned(net)
	return map[string]Rater{"hand": NewHand(Demo), "learned": l}
}
