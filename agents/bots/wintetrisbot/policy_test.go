package wintetrisbot

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/features"
	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/env/wintetris"
)

// slowMeasures is rules §15.3 word by word, cell by cell, for a placement in f.
func slowMeasures(f wintetris.Field, b wintetris.Block) (out [Measures]float64) {
	low, high, rows, cells := wintetris.Height, 0, 0, 0
	for _, c := range b.Cells() {
		low, high = min(low, c[1]), max(high, c[1])
		f.Set(c[0], c[1])
	}
	for y := wintetris.Height - 1; y >= 0; y-- {
		if f[y] != full {
			continue
		}
		rows++
		for _, c := range b.Cells() {
			cells += yes(c[1] == y)
		}
		copy(f[y:], f[y+1:])
	}
	n, _ := slowField(&f)
	for k, v := range n {
		out[k] = float64(v)
	}
	out[LandingHeight], out[ErodedCells] = float64(low)+float64(high-low)/2, float64(rows*cells)
	return out
}

func yes(b bool) int { return int(features.Yes(b)) }

// slowField has the measures of a field, and the heights of its columns.
func slowField(f *wintetris.Field) (out [Measures]int, height [wintetris.Width]int) {
	const w, h = wintetris.Width, wintetris.Height
	wall := func(x, y int) bool { return x < 0 || x >= w || y < 0 || f.At(x, y) }
	hole := func(x, y int) bool { return y >= 0 && !f.At(x, y) && y < height[x] }
	for x := range w {
		for y := range h {
			if f.At(x, y) {
				height[x] = y + 1
			}
		}
		out[ColumnTransitions] += yes(height[x] == h) // the space above the field is empty
	}
	for y := range h {
		any := false
		for x := range w + 1 {
			out[RowTransitions] += yes(wall(x-1, y) != wall(x, y))
		}
		for x := range w {
			out[ColumnTransitions] += yes(wall(x, y) != wall(x, y-1))
			out[HoleCells] += yes(hole(x, y))
			any = any || hole(x, y)
			below := y
			for wall(x, below) && below >= 0 {
				below--
			}
			out[HoleDepth] += yes(f.At(x, y) && below >= 0)
		}
		out[HoleRows] += yes(any)
	}
	seen := map[int]bool{}
	for x := range w {
		depth := 0
		for y := h - 1; y >= 0; y-- {
			switch {
			case f.At(x, y):
				depth = 0
			case depth > 0 || wall(x-1, y) && wall(x+1, y):
				depth++
				out[BoardWells] += depth
			}
		}
		if x > 0 {
			if d := height[x] - height[x-1]; d >= -2 && d <= 2 {
				seen[d] = true
			}
		}
	}
	out[Diversity] = len(seen)
	return out, height
}

// TestMeasuresAgainstTheirTwin compares the measures on rubbish of every height, with completed rows.
func TestMeasuresAgainstTheirTwin(t *testing.T) {
	rng := rand.New(rand.NewPCG(envtest.Seed(t), 7))
	cleared := 0
	for n := range 4_000 {
		var f wintetris.Field
		for y := range rng.IntN(wintetris.Height - 1) {
			f[y] = uint16(rng.Uint32()|rng.Uint32()*uint32(n%3)) & full &^ (1 << rng.IntN(wintetris.Width))
			if n%2 == 0 { // nearly full, so that pieces complete rows
				f[y] = full &^ (1 << (n % 10)) &^ (1 << rng.IntN(wintetris.Width) * uint16(n>>1&1))
			}
		}
		for _, b := range f.Drops(uint8(rng.IntN(wintetris.Kinds)), nil) {
			if !b.Inside() {
				continue
			}
			want := slowMeasures(f, b)
			var got [Measures]float64
			measure(&f, f.Top(), b, &got)
			require.Equal(t, want, got, "%v %v", f, b)
			cleared += yes(want[ErodedCells] > 0)
		}
	}
	require.Greater(t, cleared, 1000)
	f := field("...#......", "...##.....", ".#.##...#.", ".#####.#..", "##.###.##.", "#.####.###") // of the picture
	var got, none [Measures]float64
	countField(&f, f.Top(), &got)
	require.Equal(t, [Measures]float64{0, 0, 32 + 2*(wintetris.Height-6), 16, 3, 18, 5, 3, 4}, got)
	countField(&wintetris.Field{}, 0, &none)
	require.Equal(t, [Measures]float64{RowTransitions: 2 * wintetris.Height, ColumnTransitions: wintetris.Width, Diversity: 1}, none)
}

// TestPoliciesChooseTheBest: an agent of a policy plays the first of the best places within the field, and does not see
// the next piece.
func TestPoliciesChooseTheBest(t *testing.T) {
	for name, p := range map[string]*Policy{"dt10": &DT10, "dt20": &DT20, "dellacherie": &Dellacherie} {
		s := wintetris.Paper10Game.New(1).(*wintetris.State)
		for seed := range uint64(3) {
			s.Reset(seed)
			solver := NewSolver(p, wintetris.Parts)
			for s.Acting() != 0 && s.Pieces < 300 {
				best, want := math.Inf(-1), wintetris.Block{}
				for _, b := range s.Field.Drops(s.Piece.Kind, nil) {
					sum := 0.0
					for k, v := range slowMeasures(s.Field, b) {
						sum += p[k] * v
					}
					if b.Top() < 10 && sum > best {
						best, want = sum, b
					}
				}
				agent := NewAgent(solver)
				got := envtest.Must(agent.Act(t.Context(), s, 0))
				if math.IsInf(best, -1) {
					require.EqualValues(t, 0xFFFF, got, "no place within the field")
				} else {
					require.Equal(t, want.Action(), got, "%s, seed %d", name, seed)
					require.InDelta(t, best, agent.Value(), 1e-2)
				}
				s.Step(env.Alone(0, got))
			}
		}
	}
}
