package blockbattlebot

import (
	"flag"
	"math/bits"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env/blockbattle"
	"blockyard/env/falling"
)

var seed = flag.Int64("seed", 1, "seed of the random positions")

// slowShape is measure cell by cell.
func slowShape(f *falling.Field, solid int) shape {
	const w = blockbattle.Width
	h := blockbattle.Height - solid
	taken := func(x, y int) bool { return y >= 0 && (x < 0 || x >= w || y >= h || f.At(x, y)) }
	block := func(x, y int) bool { return x >= 0 && x < w && y >= 0 && y < h && f.At(x, y) }
	s := shape{floor: h, minFree: h, spawn: h}
	s.words[2], s.words[3] = uint64(1<<h-1)<<(2*lane), uint64(1<<h-1)<<(2*lane) // walls
	var top [w]int
	for x := 0; x < w; x++ {
		for top[x] < h && !f.At(x, top[x]) {
			s.open[x&3] |= 1 << (x/4*lane + top[x])
			top[x]++
		}
		t := top[x]
		s.minFree = min(s.minFree, t)
		if x >= 3 && x <= 6 {
			s.spawn = min(s.spawn, t)
		}
		if t >= s.deepest {
			s.deepest, s.second = t, s.deepest
		} else {
			s.second = max(s.second, t)
		}
	}
	isOpen := func(x, y int) bool { return x >= 0 && x < w && y < top[x] }
	for x := 0; x < w; x++ {
		run, first := 0, h
		for y := 0; y < h; y++ {
			switch {
			case f.At(x, y):
				s.cells++
				s.words[x&3] |= 1 << (x/4*lane + y)
			case !isOpen(x, y):
				s.holes++
				first = min(first, y)
				s.overhangs += yes(isOpen(x-1, y) || isOpen(x+1, y))
			}
			if isOpen(x, y) && taken(x-1, y) && taken(x+1, y) {
				run++
				s.wells += run
			} else {
				run = 0
			}
			s.colEdges += yes(taken(x, y) != taken(x, y-1))
		}
		s.colEdges += yes(!taken(x, h-1))
		for y := 0; first < h && y < first; y++ {
			s.covers += yes(f.At(x, y))
		}
	}
	lacks := make([]int, h+1)
	for y := 0; y < h; y++ {
		hole, gap := false, 0
		for x := 0; x < w; x++ {
			if !f.At(x, y) {
				lacks[y]++
				gap = x
				hole = hole || !isOpen(x, y)
			}
		}
		for x := 0; y >= s.minFree && x <= w; x++ {
			s.rowEdges += yes(taken(x, y) != taken(x-1, y))
		}
		s.holeRows += yes(hole)
		switch {
		case lacks[y] == 1 && isOpen(gap, y):
			s.gapOpen++
		case lacks[y] == 1:
			s.gapClosed++
		case lacks[y] == 2:
			s.gapTwo++
		}
	}
	for y := s.deepest - 1; y >= 0 && lacks[y] == 1 && s.ready < 4; y-- {
		s.ready++
	}
	for x := 1; x < w-1; x++ {
		for y := 0; y+1 < h; y++ {
			if !isOpen(x, y+1) || !block(x-1, y+1) || !block(x+1, y+1) {
				continue
			}
			low, both := lacks[y+1] == 1, lacks[y] == 3
			slot := func(a, b int) bool { return isOpen(a, y) && !block(b, y) && block(b, y-1) }
			switch {
			case slot(x-1, x+1) || slot(x+1, x-1):
				s.slots++
				if low && both {
					s.doubles++
				} else if low || both {
					s.singles++
				}
			case isOpen(x-1, y) && isOpen(x+1, y):
				s.notches++
				s.halves += yes(low)
			}
		}
	}
	return s
}

// randomField is a board of some kind: noise, a heap without holes, nearly full rows, a mixture, or rows around a well.
func randomField(r *rand.Rand) (f falling.Field, solid int) {
	solid = r.Intn(8)
	if r.Intn(20) == 0 {
		solid = r.Intn(blockbattle.Height + 1)
	}
	h := blockbattle.Height - solid
	kind, top, density, well := r.Intn(5), r.Intn(h+1), r.Float64(), r.Intn(blockbattle.Width)
	for x := 0; x < blockbattle.Width; x++ {
		low := top + r.Intn(4)
		for y := top; y < h; y++ {
			switch kind {
			case 0:
				if r.Float64() < density {
					f.Set(x, y)
				}
			case 1:
				if y >= low {
					f.Set(x, y)
				}
			case 2:
				if r.Intn(12) != 0 {
					f.Set(x, y)
				}
			case 3:
				if y >= low && r.Intn(8) != 0 || r.Intn(10) == 0 {
					f.Set(x, y)
				}
			case 4:
				if x != well && y >= h-6 {
					f.Set(x, y)
				}
			}
		}
	}
	if kind == 3 && h >= 4 { // a place for a T, more or less finished
		x, y := 1+r.Intn(8), 1+r.Intn(h-3)
		for i := -1; i <= 1; i++ {
			f[x+i] &^= 1<<uint(y+1) - 1
		}
		f[x] &^= 1 << uint(y+1)
		f.Set(x-1, y+1)
		f.Set(x+1, y+1)
		if r.Intn(3) > 0 {
			f.Set(x-1, y-1)
		}
		for i := 0; i < 10 && r.Intn(2) == 0; i++ {
			if i < x-1 || i > x+1 {
				f.Set(i, y)
				f.Set(i, y+1)
			}
		}
	}
	return f, solid
}

// slowBumps is bumps column by column.
func slowBumps(tops [columns]int) (sum int) {
	lowest, last := 0, -1
	for x, t := range tops {
		if t > tops[lowest] {
			lowest = x
		}
	}
	for x, t := range tops {
		if x == lowest {
			continue
		}
		if last >= 0 {
			sum += max(t-last, last-t)
		}
		last = t
	}
	return sum
}

func TestMeasureAgainstTwin(t *testing.T) {
	r := rand.New(rand.NewSource(*seed))
	var total, fast shape
	for i := range 20_000 {
		f, solid := randomField(r)
		slow := slowShape(&f, solid)
		fast.measure(&f, solid)
		for x, top := range fast.tops() {
			require.Equal(t, bits.OnesCount64(slow.open[x&3]>>(x/4*lane)&(1<<lane-1)), top)
			require.Equal(t, top, fast.top(uint(x)))
		}
		require.Equal(t, slowBumps(fast.tops()), fast.bumps(), "seed %d, position %d", *seed, i)
		require.Equal(t, slow, fast, "seed %d, position %d, %d solid rows", *seed, i, solid)
		total.slots += slow.slots
		total.doubles += slow.doubles
		total.singles += slow.singles
		total.halves += slow.halves
		total.ready += slow.ready
	}
	rarest := min(total.slots, total.doubles, total.singles, total.halves, total.ready)
	require.Greater(t, rarest, 100, "too few patterns among the positions: %+v", total)
}
