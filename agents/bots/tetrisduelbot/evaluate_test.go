package tetrisduelbot

import (
	"math/bits"
	"math/rand"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/entry/toybot"
	"blockyard/agents/bots/features"
	"blockyard/agents/match"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/env/falling"
	"blockyard/env/tetrisduel"
)

// The terms to the seat that has just moved are its counts less the other's. All but points fade over the last
// half-turns. One seat's gain is the other's loss.
func TestTermsAgainstTwin(t *testing.T) {
	next, h, out, other := positions(), NewHand(), make([]float32, 1), make([]float32, 1)
	for range envtest.Many(3000, 100_000) {
		s := next()
		seat := 1 - s.Mover()
		ownBoard, oppBoard := s.Board(seat), s.Board(s.Mover())
		own, _ := slowShape(&ownBoard)
		opp, _ := slowShape(&oppBoard)
		var want [Terms]int
		want[Lead] = int(s.Points[seat] - s.Points[1-seat])
		for sign, x := range map[int]*shape{1: &own, -1: &opp} {
			high, kindsThat := rows-x.minFree, 0
			for _, n := range x.takes {
				kindsThat += int(min(n, 1))
			}
			for term, n := range map[Term]int{
				Holes: x.holes, Covers: x.covers, RowEdges: x.rowEdges, ColEdges: x.colEdges, Wells: x.wells, Bumps: x.bumps,
				Open: x.open, Heap: x.heap, Peak: max(high-5, 0) * max(high-5, 0), Danger: max(high-11, 0) * max(high-11, 0),
				Clean1: x.clean[0], Clean2: x.clean[1], Clean3: x.clean[2], Clean4: x.clean[3], Calm: x.calm[0], Kinds: kindsThat,
			} {
				want[term] += sign * n
			}
		}
		gain := func(x *shape, after int) (points, takes int) { // of the block after so many half-turns
			if int(s.Turn)+after > tetrisduel.HalfTurns {
				return 0, 0
			}
			k := s.Block(int(s.Turn) + after)
			takes = int(min(x.takes[k], 1))
			return int(x.gains[k]) + takes*int(s.Combo), takes
		}
		now, takes := gain(&opp, 0)
		want[Next], _ = gain(&own, 1)
		later, _ := gain(&opp, 2)
		want[Now], want[Later], want[Carry] = -now, -later, int(s.Combo)*(1-2*takes)

		h.Evaluate([]env.State{s}, seat, out)
		rest := float32(0)
		for term, n := range want {
			require.EqualValues(t, n, h.terms[term][0], "%s of %v", TermNames[term], s)
			rest += float32(n) * Tuned[term]
		}
		lead := float32(want[Lead]) * Tuned[Lead]
		faded := (rest - lead) * min(1, float32(tetrisduel.HalfTurns+1-int(s.Turn))/40)
		require.InDelta(t, lead+faded, out[0], 1e-2)
		h.Evaluate([]env.State{s}, 1-seat, other)
		require.Equal(t, out[0], -other[0])
	}
}

// A half is the same function of either seat's end, but for the blocks that are to come.
func TestFeatures(t *testing.T) {
	require.Len(t, FeatureNames, Len)
	for i, name := range FeatureNames[:halfLen] {
		require.Equal(t, "opponent"+name[len("own"):], FeatureNames[halfLen+i])
	}
	side := func(half []float32) []float32 { return slices.Delete(slices.Clone(half), nextAt, nextAt+4*soon) }
	var x, y [Len]float32
	next := positions()
	for range 1000 {
		s := next()
		fill(s, x[:])
		for i, v := range x {
			require.True(t, v >= -8 && v <= 15 && v == v, "%s is %v", FeatureNames[i], v)
		}
		s.Turn = 1 + s.Turn%tetrisduel.HalfTurns // the other has moved
		fill(s, y[:])
		require.Equal(t, side(x[:halfLen]), side(y[halfLen:2*halfLen]))
		require.Equal(t, side(x[halfLen:2*halfLen]), side(y[:halfLen]))
	}
}

// fill writes all features of s as the seat that has just moved sees it.
func fill(s *tetrisduel.State, out []float32) {
	r := new(FeatureReader)
	r.Shared(s, moved(s), out[OwnLen:])
	r.Own(s, moved(s), out[:OwnLen])
}

func TestLeavesAgainstPositions(t *testing.T) {
	learned := NewLearned(toybot.RandomNet(t, 1, Len, 64, 1))
	for _, e := range []search.LeafEvaluator{NewHand(), learned} {
		next := positions()
		toybot.Leaves(t, tetrisduel.Game, e, func() (env.State, int) {
			s := next()
			return s, s.Mover()
		})
	}
}

// positions returns what makes random positions.
func positions() func() *tetrisduel.State {
	var boards env.Rand
	boards.Seed(5)
	r := rand.New(rand.NewSource(5))
	return func() *tetrisduel.State {
		for {
			s := envtest.Start[*tetrisduel.State](tetrisduel.Game, 2, r.Uint64())
			s.Turn, s.Combo, s.Flag = int16(1+r.Intn(tetrisduel.HalfTurns)), int16(r.Intn(9)), r.Intn(2) > 0
			s.Points = [2]int32{r.Int31n(99), r.Int31n(99)}
			s.Cells = rough(&boards)
			if r.Intn(2) > 0 {
				s.Cells = tetrisduel.Turned(&s.Cells)
			}
			if s.Check() == nil { // the block has room
				return s
			}
		}
	}
}

// slowDigs are the digLen counts, row by row.
func slowDigs(f *falling.Field) (out [digLen]int32) {
	const all = 1<<columns - 1
	var row, holes [rows]uint16
	var tops [columns]int
	for x := range columns {
		tops[x] = min(rows, bits.TrailingZeros64(f[x]|1<<rows))
		for y := range rows {
			row[y] |= uint16(f[x]>>uint(y)&1) << uint(x)
			if y >= tops[x] {
				holes[y] |= ^row[y] & (1 << uint(x))
			}
		}
	}
	for y, r := range row {
		gaps, battle := all&^r, y >= tetrisduel.Peace
		n := bits.OnesCount16(gaps)
		if n == 0 || r == 0 && holes[y] == 0 { // no position has a full row; the sky
			continue
		}
		from, at := peaceFoulAt, 1
		switch {
		case holes[y] == 0 && battle:
			from, at = cleanAt, 5
			if n >= 2 && n <= 4 && gaps>>uint(bits.TrailingZeros16(gaps)) == 1<<uint(n)-1 {
				out[runsAt+n-2]++
			}
		case battle:
			from, at = foulAt, 3
		case holes[y] == 0:
			from, at = calmAt, 3
		}
		if n = min(n, 6); n >= at {
			out[from+n-at]++
		}
	}
	out[6] = 1
	if c, ok := slowCover(&row, &holes, &tops, 0); ok {
		copy(out[:], []int32{c.rows, c.gaps, c.holes, c.lacks, rows - c.row, c.least, 0})
	}
	if c, ok := slowCover(&row, &holes, &tops, tetrisduel.Peace); ok {
		copy(out[battleHoleAt:], []int32{c.rows, c.gaps, c.lacks, c.holes})
	}
	return out
}

// slowCover looks at the topmost row with a hole from a row on.
func slowCover(row, holes *[rows]uint16, tops *[columns]int, from int) (c cover, ok bool) {
	for y := from; y < rows; y++ {
		if holes[y] == 0 {
			continue
		}
		first := y
		for x, t := range tops {
			if holes[y]>>uint(x)&1 != 0 {
				first = min(first, t)
			}
		}
		lacks := func(r uint16) int32 { return int32(columns - bits.OnesCount16(r)) }
		c = cover{row: int32(y), holes: int32(bits.OnesCount16(holes[y])), lacks: lacks(row[y]), rows: int32(y - first), least: columns}
		for _, r := range row[first:y] {
			c.gaps += lacks(r)
			c.least = min(c.least, lacks(r))
		}
		return c, true
	}
	return c, false
}

// The tuned weights beat plain ones of points, heights and holes, the reply search being
// the same.
func TestHandBeatsPlainWeights(t *testing.T) {
	player := func(w Weights) match.Player {
		return match.Player{Name: "hand", New: func(uint64) (env.Agent, error) {
			return search.New(tetrisduel.Game, &Hand{Weights: w}, search.Options{})
		}}
	}
	players := []match.Player{player(Tuned), player(Weights{Lead: 1, Holes: -2, Heap: -0.1})}
	table := match.Match{Rules: tetrisduel.Game, Units: 4, Seed: 20, Players: players}
	got := envtest.Must(table.Play(t.Context()))
	require.GreaterOrEqual(t, got.Meetings[0].Wins, 7, got)
}

// slowShape is what a shape says it is, cell by cell, and the open cells of each column.
func slowShape(f *falling.Field) (s shape, top [columns]int) {
	taken := func(x, y int) bool { return x < 0 || x >= columns || y >= rows || y >= 0 && f.At(x, y) }
	s.minFree = rows
	for x := range columns {
		for top[x] < rows && !taken(x, top[x]) {
			top[x]++
		}
		s.open += top[x]
		s.heap += (rows - top[x]) * (rows - top[x])
		s.minFree, s.maxFree = min(s.minFree, top[x]), max(s.maxFree, top[x])
		lowest := -1
		for y := range rows {
			if cell := uint64(1) << uint(lane*(x/3)+y); !taken(x, y) {
				s.empty[x%3] |= cell
				if y < top[x] {
					s.sky[x%3] |= cell
				} else {
					s.holes++
					lowest = y
				}
			}
			s.colEdges += yes(taken(x, y) != taken(x, y-1) && y > 0 || y == 0 && taken(x, 0))
		}
		s.colEdges += yes(!taken(x, rows-1))
		s.colEdges-- // from empty to taken once at least
		for y := range max(lowest, 0) {
			s.covers += yes(taken(x, y))
		}
	}
	slowRows(&s, &top, taken)
	slowTakes(&s, &top, f)
	return s, top
}

func slowRows(s *shape, top *[columns]int, taken func(x, y int) bool) {
	for y := range rows {
		lack, holes := 0, 0
		for x := range columns {
			lack += yes(!taken(x, y))
			holes += yes(!taken(x, y) && y >= top[x])
		}
		switch at := lack - 1; {
		case at < 0 || at > 3:
		case holes == 0 && y >= tetrisduel.Peace:
			s.clean[at]++
		case at > 1:
		case holes > 0 && y >= tetrisduel.Peace:
			s.foul[at]++
		case holes == 0:
			s.calm[at]++
		}
		for x := 0; x <= columns && y >= s.minFree; x++ {
			s.rowEdges += yes(taken(x, y) != taken(x-1, y))
		}
	}
	for x := range columns {
		depth := 0
		for y := range top[x] {
			left, right := x == 0 || y >= top[x-1], x == columns-1 || y >= top[x+1]
			if left && right {
				depth++
				s.wells += depth
			}
		}
		if x > 0 {
			d := top[x] - top[x-1]
			s.bumps += max(d, -d)
		}
	}
}

// slowTakes drops every block straight, in every legal way.
func slowTakes(s *shape, top *[columns]int, f *falling.Field) {
	for k := range kinds {
	placements:
		for _, a := range tetrisduel.Placements(f, k, true, nil) {
			p, board := tetrisduel.At(a), *f
			for _, c := range tetrisduel.Cells(k, p.D) {
				if x := p.X + int(c.X); p.Y+int(c.Y) >= top[x] {
					continue placements
				}
			}
			// Rows that were full before do not count: a position has none.
			tetrisduel.Put(&board, k, p)
			peace, battle := tetrisduel.Clear(&board)
			s.takes[k] = max(s.takes[k], int8(battle))
			s.gains[k] = max(s.gains[k], int8(tetrisduel.Gain(peace, battle)))
		}
	}
}

func yes(b bool) int { return int(features.Yes(b)) }

// pick draws a number below n.
func pick(r *env.Rand, n int) int { return int(r.Next() >> 33 % uint64(n)) }

// rough is a board with a ragged surface and some holes, of either seat's making.
func rough(r *env.Rand) (f falling.Field) {
	from := pick(r, rows+1)
	for x := range columns {
		top := from + pick(r, 4) - pick(r, 3)
		for y := max(top, 0); y < tetrisduel.Height; y++ {
			if pick(r, 14) > 0 {
				f.Set(x, y)
			}
		}
	}
	f.Clear(f.Full(columns))
	return f
}

// tall is a board whose columns all end within three rows of the top, and no row from 4 on is full.
func tall(r *env.Rand) (f falling.Field) {
	for x := range columns {
		for y := pick(r, 4) * pick(r, 2); y < tetrisduel.Height; y++ {
			if y < 4 || x != y%columns {
				f.Set(x, y)
			}
		}
	}
	f.Clear(f.Full(columns))
	return f
}

// Blocks that would reach into the topmost cell of a full column, or into a wall, do not fit: boards that are tall and
// nearly lost, which rough seldom makes, are tried too.
func TestShapeIsWhatItSays(t *testing.T) {
	for name, board := range map[string]func(*env.Rand) falling.Field{"rough": rough, "tall": tall} {
		var r env.Rand
		r.Seed(3)
		taking := 0
		for range envtest.Many(4000, 100_000) {
			f := board(&r)
			var s shape
			s.measure(&f)
			want, top := slowShape(&f)
			require.Equal(t, want, s, "%v", f)
			require.Equal(t, top, s.tops(), "%v", f)
			var digs [digLen]int32
			s.digs(digs[:])
			require.Equal(t, slowDigs(&f), digs, "%v", f)
			for y, e := 0, s.empty; y < rows; y++ {
				lack := uint32(0)
				for x := range columns {
					lack |= uint32(1-yes(f.At(x, y))) << uint(x)
				}
				require.Equal(t, lack, lacking(e[0], e[1], e[2], uint(y)), "row %d of %v", y, f)
			}
			if s.takes != [kinds]int8{} || s.gains != [kinds]int8{} {
				taking++
			}
		}
		require.Greater(t, taking, 400, name)
	}
}
