package dropbloxbot

import (
	"bytes"
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/dropblox"
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
		missing, hole := []int{}, false
		for j := range cols {
			if at(i, j) {
				n.taken++
				height[j] = max(height[j], rows-i)
			} else {
				missing = append(missing, j)
			}
			if at(i, j) != at(i, j-1) {
				n.rowEdges++
			}
			if at(i, j) != at(i+1, j) {
				n.colEdges++
			}
			if covered(i, j) {
				n.holes++
				hole = true
				for _, k := range [2]int{j - 1, j + 1} {
					if k >= 0 && k < cols && !at(i, k) && !covered(i, k) {
						n.beside++
					}
				}
			}
			for k := i; k >= 0 && !at(k, j) && at(k, j-1) && at(k, j+1); k-- {
				n.wells++
			}
		}
		if !at(i, cols-1) {
			n.rowEdges++
		}
		for k := len(missing); k <= lacking; k++ {
			n.but[k]++
		}
		if hole {
			n.holed++
		} else if k := len(missing); k > 0 && k < 5 && k < cols {
			n.short[k]++
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
			if at(i, j) {
				n.covers++
			}
		}
		if lowest >= 0 {
			n.columns++
		}
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
		rows, cols, holes, wells := edges(&f)
		require.InDelta(t, want[0], float32(rows-2*dropblox.Rows)*0.03, 1e-4)
		require.InDelta(t, want[1], float32(cols-dropblox.Cols)*0.03, 1e-4)
		require.InDelta(t, want[2], float32(holes)*0.1, 1e-4)
		require.InDelta(t, want[3], float32(wells)*0.03, 1e-4)
	}
	Features(&Field{}, 1<<30, out)
}

// slowBest is the worth of the best line of depth placements, every one tried, by the
// rules' own steps.
func slowBest(h *Hand, s *dropblox.State, line float32, depth int) (best float32, alive bool) {
	for _, a := range s.Legal(0, nil) {
		next := *s
		at := dropblox.At(a)
		b := s.Block(0)
		shape := dropblox.NewShape(&b)
		turn := &shape.Turn[at.R]
		next.Step(env.Alone(0, a))
		kid := []Kid{{Field: next.Taken, Row: float32(at.I) + float32(turn.Low.I+turn.High.I)/2}}
		made := s.Taken
		shape.Put(&made, at.R, at.I, at.J)
		for i := range dropblox.Rows {
			if made.Full(dropblox.Cols)>>uint(i)&1 == 0 {
				continue
			}
			kid[0].Rows++
			for _, o := range turn.Offsets[:b.Size] {
				if at.I+int(o.I) == i {
					kid[0].Eroded++
				}
			}
		}
		if depth > 1 && next.Failed {
			continue
		}
		worth := []float32{0}
		h.Rate(&Board{Line: line}, kid, 0, worth)
		if depth > 1 {
			var ok bool
			if worth[0], ok = slowBest(h, &next, kid[0].Line, depth-1); !ok {
				continue
			}
		}
		if !alive || worth[0] > best {
			best, alive = worth[0], true
		}
	}
	return best, alive
}

// A beam that drops nothing finds the best line.
func TestBeamAgainstFullSearch(t *testing.T) {
	h := &Hand{Classic}
	for seed := range uint64(4) {
		var s dropblox.State
		s.Reset(seed)
		b := NewBeam(h)
		for range 10 {
			p := Of(&s)
			p.Depth = 2
			at, done, ok := b.Choose(p, MaxWidth, time.Time{})
			require.True(t, done && ok)
			want, alive := slowBest(h, &s, 0, 2)
			require.True(t, alive)
			require.InDelta(t, want, b.last, 1e-2)
			s.Step(env.Alone(0, at.Action()))
		}
	}
}

// Whole games end, by legal choices; the same game is played twice.
func TestPlays(t *testing.T) {
	learned, err := NewLearned(even(t))
	require.NoError(t, err)
	for _, r := range []Rater{&Hand{Classic}, learned} {
		var scores [2]int
		for k := range scores {
			a := NewAgent(r, 2, 2)
			var s dropblox.State
			s.Reset(8)
			for s.Acting() != 0 && s.Turns < 150 {
				act, err := a.Act(context.Background(), &s, 0)
				require.NoError(t, err)
				require.NoError(t, env.Apply(dropblox.Game, &s, env.Alone(0, act)))
			}
			scores[k] = int(s.Points)
		}
		require.Equal(t, scores[0], scores[1])
	}
}

// Where every line ends in a game that is over the one with the most points is played.
func TestLastStand(t *testing.T) {
	var s dropblox.State
	s.Reset(0)
	for j := range s.Taken { // up to row 10, one column open
		if j != 11 {
			s.Taken[j] = within &^ (1<<10 - 1)
		}
	}
	s.Blocks = [dropblox.Known]uint16{11, 12677, 12677, 12677, 12677, 12677}
	b := NewBeam(&Hand{Classic})
	at, _, ok := b.Choose(Of(&s), 10, time.Time{})
	require.True(t, ok)
	require.Equal(t, 11, at.J, "the five rows that are to be had")
	s.Taken[6] = within
	_, _, ok = b.Choose(Of(&s), 10, time.Time{})
	require.False(t, ok)
}

func TestFitKeepsTheDeadline(t *testing.T) {
	var s dropblox.State
	s.Reset(5)
	b := NewBeam(&Hand{Classic})
	begun := time.Now()
	_, ok := b.Fit(Of(&s), begun.Add(60*time.Millisecond))
	require.True(t, ok)
	require.Less(t, time.Since(begun), 2*time.Second)
	at, ok := b.Fit(Of(&s), begun) // too late for anything but the first boards
	require.True(t, ok)
	way, err := s.Path(at.Action(), nil)
	require.NoError(t, err, way)
}

func TestBudget(t *testing.T) {
	left := 299 * time.Second
	for score := range 1000 { // a game at its slowest: one point in two turns
		for range 2 {
			b := Budget(score, left)
			require.Positive(t, b)
			require.LessOrEqual(t, b, left/50)
			left -= b
		}
	}
	require.Zero(t, Budget(600, -time.Second))
	const whole = 300 * time.Second
	require.Greater(t, Budget(500, whole/2), 3*Budget(0, whole),
		"a turn that may be the last gets more than the first ones")
}

// A program's turn: commands that lead somewhere, one write each; no word about what cannot
// be played.
func TestAnswer(t *testing.T) {
	b := NewBeam(&Hand{Classic})
	var s dropblox.State
	s.Reset(1)
	for range 12 {
		p := s.Position()
		var out bytes.Buffer
		require.NoError(t, Answer(b, []string{string(p.AppendJSON(nil)), "3"}, time.Now(), &out))
		commands, foreign := dropblox.ReadOutput(out.String())
		require.Empty(t, foreign)
		taken := s.Taken
		blk := s.Block(0)
		for _, c := range commands {
			require.True(t, c.Carry(&blk, &taken), c)
		}
		s.Play(commands)
	}
	p := s.Position()
	text := string(p.AppendJSON(nil))
	var none bytes.Buffer
	for _, args := range [][]string{{}, {text}, {text, "soon"}, {text, "NaN"}, {"{}", "3"}, {text, "1", "2"}} {
		require.Error(t, Answer(b, args, time.Now(), &none), args)
	}
	for _, seconds := range []string{"0", "-3", "299", "1e9"} {
		if seconds == "0" || seconds == "-3" {
			var out bytes.Buffer
			require.NoError(t, Answer(b, []string{text, seconds}, time.Now(), &out), "an answer at once")
		}
	}
	p.Failed = true
	require.NoError(t, Answer(b, []string{string(p.AppendJSON(nil)), "3"}, time.Now(), &none))
	require.Empty(t, none.String())
	// A preview block that is not where blocks appear ends what is known.
	odd := strings.Replace(text, `"center": {"i": 8, "j": 6}`, `"center": {"i": 0, "j": 0}`, 1)
	var out bytes.Buffer
	require.NoError(t, Answer(b, []string{odd, "1"}, time.Now(), &out))
}
