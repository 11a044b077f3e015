package tetrisduelbot

import (
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/features"
	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/env/falling"
	"blockyard/env/tetrisduel"
)

// slowShape is what a shape says it is, cell by cell.
func slowShape(f *falling.Field) (s shape) {
	taken := func(x, y int) bool { return x < 0 || x >= columns || y >= rows || y >= 0 && f.At(x, y) }
	s.minFree = rows
	for x := range columns {
		for s.top[x] < rows && !taken(x, s.top[x]) {
			s.top[x]++
		}
		s.open += s.top[x]
		s.heap += (rows - s.top[x]) * (rows - s.top[x])
		s.minFree, s.maxFree = min(s.minFree, s.top[x]), max(s.maxFree, s.top[x])
		lowest := -1
		for y := range rows {
			if cell := uint64(1) << uint(lane*(x/3)+y); !taken(x, y) {
				s.empty[x%3] |= cell
				if y < s.top[x] {
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
	slowRows(&s, taken)
	slowTakes(&s, f)
	return s
}

func slowRows(s *shape, taken func(x, y int) bool) {
	for y := range rows {
		lack, holes := 0, 0
		for x := range columns {
			if taken(x, y) {
				continue
			}
			lack++
			holes += yes(y >= s.top[x])
		}
		if y >= tetrisduel.Peace {
			s.lacks[y-tetrisduel.Peace] = lack
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
		for y := range s.top[x] {
			left, right := x == 0 || y >= s.top[x-1], x == columns-1 || y >= s.top[x+1]
			if left && right {
				depth++
				s.wells += depth
			}
		}
		if x > 0 {
			d := s.top[x] - s.top[x-1]
			s.bumps += max(d, -d)
		}
	}
}

// slowTakes drops every block straight, in every legal way.
func slowTakes(s *shape, f *falling.Field) {
	for k := range kinds {
	placements:
		for _, a := range tetrisduel.Placements(f, k, true, nil) {
			p, board := tetrisduel.At(a), *f
			for _, c := range tetrisduel.Cells(k, p.D) {
				if x := p.X + int(c.X); p.Y+int(c.Y) >= s.top[x] {
					continue placements
				}
			}
			// Rows that were full before do not count: a position has none.
			tetrisduel.Put(&board, k, p)
			peace, battle := tetrisduel.Clear(&board)
			s.takes[k] = max(s.takes[k], battle)
			s.gains[k] = max(s.gains[k], tetrisduel.Gain(peace, battle))
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
			require.Equal(t, slowShape(&f), s, "%v", f)
			var digs [digLen]int32
			s.digs(digs[:])
			require.Equal(t, slowDigs(&f), digs, "%v", f)
			if s.takes != [kinds]int{} || s.gains != [kinds]int{} {
				taking++
			}
		}
		require.Greater(t, taking, 400, name)
	}
}
