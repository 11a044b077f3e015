package dropbloxbot

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/features"
	"blockyard/env/dropblox"
	"blockyard/env/envtest"
)

// slowFeatures counts cell by cell what Features reads with words of bits.
func slowFeatures(f *Field, points int) []float32 {
	const rows, cols = dropblox.Rows, dropblox.Cols
	at := func(i, j int) bool { return i >= rows || j < 0 || j >= cols || i >= 0 && f[j]>>uint(i)&1 != 0 }
	covered := func(i, j int) bool { // an empty square below a taken one
		for k := range i {
			if at(k, j) && !at(i, j) {
				return true
			}
		}
		return false
	}
	var n struct {
		rowEdges, colEdges, holes, wells, holed, covers, columns  int
		peak, heap, squares, bumps, cliffs, middle, taken, beside int

		short, but [lacking + 1]int
	}
	var height [cols]int
	for i := range rows {
		missing, holes := 0, 0
		for j := range cols {
			if at(i, j) {
				height[j] = max(height[j], rows-i)
			}
			missing += yes(!at(i, j))
			holes += yes(covered(i, j))
			n.rowEdges += yes(at(i, j) != at(i, j-1))
			n.colEdges += yes(at(i, j) != at(i+1, j))
			for _, k := range [2]int{j - 1, j + 1} {
				n.beside += yes(covered(i, j) && !at(i, k) && !covered(i, k))
			}
			for k := i; k >= 0 && !at(k, j) && at(k, j-1) && at(k, j+1); k-- {
				n.wells++
			}
		}
		n.rowEdges += yes(!at(i, cols-1))
		n.taken += cols - missing
		n.holes += holes
		n.holed += yes(holes > 0)
		for k := range n.but {
			n.but[k] += yes(missing <= k)
			n.short[k] += yes(missing == k && holes == 0)
		}
	}
	for j, h := range height {
		n.peak, n.heap, n.squares = max(n.peak, h), n.heap+h, n.squares+h*h
		if j >= 4 && j <= 8 {
			n.middle = max(n.middle, h)
		}
		if j > 0 {
			step := max(h-height[j-1], height[j-1]-h)
			n.bumps += step
			n.cliffs += max(0, step-3)
		}
		lowest := -1
		for i := range rows {
			if covered(i, j) {
				lowest = i
			}
		}
		for i := range max(lowest, 0) {
			n.covers += yes(at(i, j))
		}
		n.columns += yes(lowest >= 0)
	}
	out := []float32{
		float32(n.rowEdges-2*rows) * 0.03, float32(n.colEdges-cols) * 0.03, float32(n.holes) * 0.1, float32(n.wells) * 0.03,
		float32(n.holed) * 0.2, float32(n.covers) * 0.04, float32(n.columns) * 0.2, float32(n.peak) * 0.06,
		float32(n.heap) * 0.008, float32(n.squares) * 0.0006, float32(n.bumps) * 0.05, float32(n.cliffs) * 0.1,
		float32(n.middle) * 0.06, float32(n.taken) * 0.01,
		float32(max(0, n.peak-14)) * 0.15, float32(max(0, n.peak-19)) * 0.3,
	}
	c, score := dropblox.Chances(max(points, lowScore)), max(points, lowScore)
	out = append(out, float32(n.beside)*0.1)
	out = append(out, float32(score)/500, float32(dropblox.MeanSize(score)-4.4)/3, float32(c[0]), float32(c[5])*2)
	for k := 1; k <= lacking; k++ {
		out = append(out, float32(n.short[k])*0.2)
	}
	for k := 1; k <= lacking; k++ {
		out = append(out, float32(n.but[k])*0.15)
	}
	out = append(out, slowSlots(at, covered)...)
	var steps, edges []float32
	for j, h := range height {
		out = append(out, float32(h)*0.06)
		if j > 0 {
			step := min(max(h-height[j-1], -6), 6)
			steps, edges = append(steps, float32(step)*0.2), append(edges, float32(max(step, -step))*0.2)
		}
	}
	return append(append(out, steps...), edges...)
}

func yes(b bool) int { return int(features.Yes(b)) }

// slowSlots tries every window and every run of rows.
func slowSlots(at, covered func(i, j int) bool) []float32 {
	out := make([]float32, 3*windows)
	for w := 1; w <= windows; w++ {
		length, missing := 0, 0
		for left := 0; left+w <= dropblox.Cols; left++ {
			inSlot := func(i int) (lack int, ok bool) {
				for j := range dropblox.Cols {
					if at(i, j) {
						continue
					}
					if lack++; j < left || j >= left+w || covered(i, j) {
						return 0, false
					}
				}
				return lack, i < dropblox.Rows
			}
			most, lack := 0, 0
			for last := dropblox.Rows - 1; last >= 0; last-- {
				k, sum := 0, 0
				for k < longestSlot && k <= last {
					lack, ok := inSlot(last - k)
					if !ok {
						break
					}
					k, sum = k+1, sum+lack
				}
				if k > most {
					most, lack = k, sum
				}
			}
			if most > length || most == length && lack < missing {
				length, missing = most, lack
			}
		}
		out[w-1] = float32(length) * 0.2
		out[windows+w-1] = float32(int(1)<<length-1) * 0.008
		out[2*windows+w-1] = float32(missing) * 0.1
	}
	return out
}

// mess is a random board: rows that lack a few squares on rows with holes.
func mess(rng *rand.Rand) (f Field) {
	well := rng.IntN(dropblox.Cols)
	for i := 8 + rng.IntN(25); i < dropblox.Rows; i++ {
		row := 1<<dropblox.Cols - 1&^(1<<well)
		if rng.IntN(3) == 0 {
			row &= rng.IntN(1 << dropblox.Cols)
		}
		if rng.IntN(3) == 0 && well+1 < dropblox.Cols {
			row &^= 1 << (well + 1)
		}
		for j := range f {
			f[j] |= uint64(row>>j&1) << uint(i)
		}
	}
	return f
}

func TestFeaturesAgainstSlowTwin(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	out := make([]float32, Len)
	require.Len(t, FeatureNames, Len)
	for range 600 {
		f, points := mess(rng), rng.IntN(1500)
		Features(&f, points, out)
		want := slowFeatures(&f, points)
		for k := range want {
			require.InDelta(t, want[k], out[k], 1e-4, "%s", FeatureNames[k])
		}
		var sums edgeSums
		sums.set(&f)
		require.InDelta(t, want[0], float32(from16(sums.whole, 0)-2*dropblox.Rows)*0.03, 1e-4)
		require.InDelta(t, want[1], float32(from16(sums.whole, columnEdge)-dropblox.Cols)*0.03, 1e-4)
		require.InDelta(t, want[2], float32(from16(sums.whole, hole))*0.1, 1e-4)
		require.InDelta(t, want[3], float32(from16(sums.whole, well))*0.03, 1e-4)
	}
	Features(&Field{}, 1<<30, out)
}

// What is found counted in a few columns and the board before is what is counted in all columns, for every placement.
func TestViewsOfPlacementsAgainstWholeBoards(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	s := new(dropblox.State)
	s.Reset(1)
	beam := NewBeam(&Hand{Classic})
	var p, want parent
	var got counts
	var sums, whole edgeSums
	for boards, short := 0, 0; boards < envtest.Many(10_000, 100_000); {
		s.Reset(rng.Uint64())
		from := Board{Field: mess(rng)}
		from.Field.Clear(from.Field.Full(dropblox.Cols))
		block := s.Block(0)
		if !block.Fits(&from.Field) {
			continue
		}
		beam.shapes[0] = dropblox.NewShape(&block)
		beam.place(0, &from)
		p.set(&from.Field)
		sums.set(&from.Field)
		for i := range beam.kids {
			k := &beam.kids[i]
			lo, end := k.columns()
			want.set(&k.Field)
			whole.set(&k.Field)
			require.Equal(t, k.Rows > 0, k.end == 0)
			if boards++; k.Rows > 0 {
				continue
			}
			short += yes(end-lo < dropblox.Cols)
			p.look(&k.Field, lo, end, &got)
			require.True(t, want.counts == got, "want %+v, got %+v", want.counts, got)
			require.Equal(t, whole.whole, sums.of(&k.Field, lo, end))
		}
		require.True(t, boards < 1000 || short > 500)
	}
}
