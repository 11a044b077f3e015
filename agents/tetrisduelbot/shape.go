package tetrisduelbot

import (
	"math/bits"

	"blockyard/env/falling"
	"blockyard/env/tetrisduel"
)

const (
	columns = tetrisduel.Width
	rows    = tetrisduel.Reachable
	kinds   = tetrisduel.Kinds
	reach   = 1<<rows - 1
	battle  = reach &^ (1<<tetrisduel.Peace - 1)
)

// A shape describes the board from one seat's end by counts over the rows that its blocks can
// reach. A column's open cells are the empty ones with nothing above them; a hole is any
// other empty cell. A row is clean when it lacks open cells only.
type shape struct {
	top     [columns]int // open cells of each column
	minFree int          // of the highest column: rows free everywhere
	maxFree int          // of the lowest column
	open    int          // of all columns
	heap    int          // squares of the columns' heights
	holes   int
	covers  int // taken cells above the lowest hole of their column

	rowEdges int // changes between taken and empty along the rows that are not free, walls being taken
	colEdges int // changes down the columns, from empty sky to taken floor
	wells    int // open cells between taken ones or walls; the k-th from the top of its run counts k
	bumps    int // steps between neighbouring columns

	clean [4]int // clean battle rows that lack one, two, three and four cells
	foul  [2]int // other battle rows that lack one and two
	calm  [2]int // clean peace rows that lack one and two

	lacks [5]int // cells that each battle row lacks, from row 10 on

	// What a block of each kind could take out at once, dropped straight: the most battle
	// rows, and the points of the placement that scores most, without combo.
	takes [kinds]int
	gains [kinds]int
}

// measure fills in s for a board in the seat's frame.
func (s *shape) measure(f *falling.Field) {
	var empty, shut [columns]uint32 // empty cells, and those that are holes
	s.minFree, s.maxFree, s.open, s.heap, s.holes, s.covers, s.colEdges = rows, 0, 0, 0, 0, 0, 0
	for x := 0; x < columns; x++ {
		c := uint32(f[x]) & reach
		t := bits.TrailingZeros32(c | 1<<rows)
		s.top[x] = t
		s.open += t
		s.heap += (rows - t) * (rows - t)
		if t < s.minFree {
			s.minFree = t
		}
		if t > s.maxFree {
			s.maxFree = t
		}
		empty[x] = ^c & reach
		shut[x] = empty[x] >> uint(t) << uint(t)
		if shut[x] != 0 {
			s.holes += bits.OnesCount32(shut[x])
			s.covers += bits.OnesCount32(c & (1<<uint(31-bits.LeadingZeros32(shut[x])) - 1))
		}
		s.colEdges += bits.OnesCount32(c<<1^(c|1<<rows)) - 1
	}
	s.edges(&empty)
	s.lines(&empty, &shut)
}

// edges counts along the rows.
func (s *shape) edges(empty *[columns]uint32) {
	used := uint32(reach) >> uint(s.minFree) << uint(s.minFree)
	s.rowEdges = bits.OnesCount32(empty[0]&used) + bits.OnesCount32(empty[columns-1]&used)
	s.wells, s.bumps = 0, 0
	for x := 0; x < columns; x++ {
		left, right := 0, 0 // walls
		if x > 0 {
			left = s.top[x-1]
			s.rowEdges += bits.OnesCount32((empty[x] ^ empty[x-1]) & used)
			d := left - s.top[x]
			if d < 0 {
				d = -d
			}
			s.bumps += d
		}
		if x < columns-1 {
			right = s.top[x+1]
		}
		if right > left {
			left = right // the lower neighbour is where the well begins
		}
		if d := s.top[x] - left; d > 0 {
			s.wells += d * (d + 1) / 2
		}
	}
}

// lines sorts the rows by the cells they lack and counts what could fill them.
func (s *shape) lines(empty, shut *[columns]uint32) {
	var k1, k2, k3, k4, k5, foul uint32 // rows that lack at least so many; rows with a hole
	for x := 0; x < columns; x++ {
		e := empty[x]
		k5 |= k4 & e
		k4 |= k3 & e
		k3 |= k2 & e
		k2 |= k1 & e
		k1 |= e
		foul |= shut[x]
	}
	good := ^foul
	s.clean[0] = bits.OnesCount32(k1 &^ k2 & good & battle)
	s.clean[1] = bits.OnesCount32(k2 &^ k3 & good & battle)
	s.clean[2] = bits.OnesCount32(k3 &^ k4 & good & battle)
	s.clean[3] = bits.OnesCount32(k4 &^ k5 & good & battle)
	s.foul[0] = bits.OnesCount32(k1 &^ k2 & foul & battle)
	s.foul[1] = bits.OnesCount32(k2 &^ k3 & foul & battle)
	s.calm[0] = bits.OnesCount32(k1 &^ k2 & good &^ battle)
	s.calm[1] = bits.OnesCount32(k2 &^ k3 & good &^ battle)
	for r := range s.lacks {
		s.lacks[r] = 0
	}
	for x := 0; x < columns; x++ {
		for e := empty[x] >> tetrisduel.Peace; e != 0; e &= e - 1 {
			s.lacks[bits.TrailingZeros32(e)]++
		}
	}
	s.takes, s.gains = [kinds]int{}, [kinds]int{}
	if few := k1 &^ k5 & good; few != 0 {
		s.chances(empty, few)
	}
}

// A fit is a way of filling a run of empty cells with one row of a block: where its cells
// are, seen from the leftmost cell of the run, and the runs of its rows as bits.
type fit struct {
	kind  uint8
	cells [4]struct{ x, y int8 }
	first int8     // topmost row of the block
	runs  []uint32 // cells of each row of the block from there on, bit 8 being the run's leftmost column
}

// fits lists, by the length of a run less 1, what fills it.
var fits = listFits()

func listFits() (out [4][]fit) {
	for k := 0; k < kinds; k++ {
		var seen []fit
		for d := 0; d < tetrisduel.Directions; d++ {
			for _, at := range tetrisduel.Cells(k, d) {
				f := fit{kind: uint8(k)}
				left, length := at.X, 0
				for _, c := range tetrisduel.Cells(k, d) {
					if c.Y == at.Y {
						length++
						if c.X < left {
							left = c.X
						}
					}
				}
				low := at.Y
				f.first = 9
				for i, c := range tetrisduel.Cells(k, d) {
					f.cells[i].x, f.cells[i].y = int8(c.X-left), int8(c.Y-at.Y)
					if f.cells[i].y < f.first {
						f.first = f.cells[i].y
					}
					if c.Y > low {
						low = c.Y
					}
				}
				f.runs = make([]uint32, int(low-at.Y)-int(f.first)+1)
				for _, c := range f.cells {
					f.runs[c.y-f.first] |= 1 << uint(8+c.x)
				}
				if !known(seen, &f, length) {
					seen = append(seen, f)
					out[length-1] = append(out[length-1], f)
				}
			}
		}
	}
	return out
}

// known reports whether f, filling a run of length cells, is in list already.
func known(list []fit, f *fit, length int) bool {
	for i := range list {
		g := &list[i]
		if g.first != f.first || len(g.runs) != len(f.runs) {
			continue
		}
		same := true
		for r := range f.runs {
			same = same && g.runs[r] == f.runs[r]
		}
		if same {
			return true
		}
	}
	return false
}

// chances examines the rows given as bits, clean ones that lack one to four cells, and
// notes what each kind of block, dropped straight, could take out.
func (s *shape) chances(empty *[columns]uint32, few uint32) {
	var lack [rows]uint32 // cells that a row lacks, bit x being column x; 0 for all other rows
	for x := 0; x < columns; x++ {
		for e := empty[x] & few; e != 0; e &= e - 1 {
			lack[bits.TrailingZeros32(e)] |= 1 << uint(x)
		}
	}
	for ; few != 0; few &= few - 1 {
		y := bits.TrailingZeros32(few)
		left := bits.TrailingZeros32(lack[y])
		run := lack[y] >> uint(left)
		if run&(run+1) != 0 {
			continue // in two parts
		}
		list := fits[bits.Len32(run)-1]
		for i := range list {
			s.try(&list[i], left, y, &lack)
		}
	}
}

// try drops f so that it fills the run that begins in column left of row y.
func (s *shape) try(f *fit, left, y int, lack *[rows]uint32) {
	rest := false
	for _, c := range f.cells {
		x, cy := left+int(c.x), y+int(c.y)
		if x < 0 || x >= columns || cy < 0 || cy >= s.top[x] {
			return
		}
		rest = rest || cy+1 == s.top[x]
	}
	if !rest {
		return
	}
	p, w := 0, 0
	for i, r := range f.runs {
		row := y + int(f.first) + i
		if r<<uint(left)>>8 != lack[row] {
			continue
		}
		if row >= tetrisduel.Peace {
			w++
		} else {
			p++
		}
	}
	if w > s.takes[f.kind] {
		s.takes[f.kind] = w
	}
	if g := tetrisduel.Gain(p, w); g > s.gains[f.kind] {
		s.gains[f.kind] = g
	}
}
