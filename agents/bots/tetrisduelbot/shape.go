package tetrisduelbot

import (
	"math/bits"

	"blockyard/env/falling"
	"blockyard/env/tetrisduel"
)

const (
	columns    = tetrisduel.Width
	rows       = tetrisduel.Reachable
	kinds      = tetrisduel.Kinds
	reach      = 1<<rows - 1
	battleRows = tetrisduel.Reachable - tetrisduel.Peace
	battle     = reach &^ (1<<tetrisduel.Peace - 1)
)

// A shape describes the board from one seat's end by counts over the rows that its blocks can
// reach. A column's open cells are the empty ones with nothing above them; a hole is any
// other empty cell. A row is clean when it lacks open cells only.
type shape struct {
	minFree int // open cells of the highest column: rows free everywhere
	maxFree int // of the lowest column
	open    int // of all columns
	heap    int // squares of the columns' heights
	holes   int
	covers  int // taken cells above the lowest hole of their column

	rowEdges int // changes between taken and empty along the rows that are not free, walls being taken
	colEdges int // changes down the columns, from empty sky to taken floor
	wells    int // open cells between taken ones or walls; the k-th from the top of its run counts k
	bumps    int // steps between neighbouring columns

	clean [4]int // clean battle rows that lack one, two, three and four cells
	foul  [2]int // other battle rows that lack one and two
	calm  [2]int // clean peace rows that lack one and two

	// What a block of each kind could take out at once, dropped straight: the most battle
	// rows, and the points of the placement that scores most, without combo.
	takes [kinds]int8
	gains [kinds]int8

	empty, sky [3]uint64 // cells that are not taken, and open ones, as measure lays columns out
}

// Boards are read four columns at a time: column 3j+k is lane j, of 16 bits, of word k, so that the column to the right
// of every lane of a word is the same lane of the next. Bit 15 of a lane is the floor. Columns 10 and 11 are wall.
const (
	lane  = 16
	each  = 1 | 1<<lane | 1<<(2*lane) | 1<<(3*lane) // bit 0 of every lane
	cells = each * reach
	floor = each << rows
	inner = 1<<(3*lane) - 1     // lanes 0 to 2
	wall  = reach << (3 * lane) // lane 3
)

// measure fills in s for a board in the seat's frame.
func (s *shape) measure(f *falling.Field) {
	w0 := f[0]&reach | f[3]&reach<<lane | f[6]&reach<<(2*lane) | f[9]&reach<<(3*lane)
	w1 := f[1]&reach | f[4]&reach<<lane | f[7]&reach<<(2*lane) | wall
	w2 := f[2]&reach | f[5]&reach<<lane | f[8]&reach<<(2*lane) | wall
	o0, o1, o2 := open(w0), open(w1), open(w2)
	e0, e1, e2 := w0^cells, w1^cells, w2^cells
	h0, h1, h2 := e0&^o0, e1&^o1, e2&^o2
	s.empty, s.sky = [3]uint64{e0, e1, e2}, [3]uint64{o0, o1, o2}

	s.open = count(o0, o1, o2)
	s.heap = columns*rows*rows - (2*rows+1)*s.open + 2*places(o0, o1, o2) // squares of 15 less a column's open cells
	low := o0 & (o1 | reach<<(3*lane)) & (o2 | reach<<(3*lane))           // the walls are no columns
	s.minFree = bits.Len64(low & (low >> lane) & (low >> (2 * lane)) & (low >> (3 * lane)))
	s.maxFree = bits.Len64(fold(o0 | o1 | o2))
	s.holes, s.covers = 0, 0
	if h0|h1|h2 != 0 {
		s.holes = count(h0, h1, h2)
		s.covers = count(w0&above(h0), w1&above(h1), w2&above(h2))
	}
	right := w0 >> lane
	s.rowEdges = count(w0^w1, w1^w2, (w2^right)&inner) + bits.OnesCount64(e0&reach) - 2*s.minFree
	s.colEdges = count(w0<<1^(w0|floor), w1<<1^(w1|floor), w2<<1^(w2|floor)) - lanes
	s.bumps = count((o0^o1)&inner, (o1^o2)&inner, (o2^o0>>lane)&inner)
	s.wells = depths(o0&^(o2<<lane|o1), o1&^(o0|o2), o2&^(o1|o0>>lane))
	s.lines(e0, e1, e2, fold(h0|h1|h2))
}

const lanes = 12 // of a board

// open returns the cells above the topmost taken one of each lane.
func open(w uint64) uint64 {
	w |= floor
	return (w - each) &^ w
}

// above returns the cells above the lowest hole of each lane.
func above(h uint64) uint64 {
	h = h >> 1 & cells // the bit that leaves a lane is no hole
	h |= h >> 1 & (each * (1<<15 - 1))
	h |= h >> 2 & (each * (1<<14 - 1))
	h |= h >> 4 & (each * (1<<12 - 1))
	return h | h>>8&(each*(1<<8-1))
}

// fold returns the rows that are set in any lane.
func fold(w uint64) uint64 {
	w |= w >> (2 * lane)
	return (w | w>>lane) & reach
}

func count(a, b, c uint64) int {
	return bits.OnesCount64(a) + bits.OnesCount64(b) + bits.OnesCount64(c)
}

// depths returns, over all runs of bits, the sum of 1 + 2 + … + length.
func depths(a, b, c uint64) int {
	n := 0
	for a|b|c != 0 {
		n += count(a, b, c)
		a, b, c = a&(a>>1), b&(b>>1), c&(c>>1)
	}
	return n
}

// places returns the sum of the places of set bits in their lanes, from 1 on, by the binary digits of the places. For n
// open cells of a column it is n(n+1)/2.
func places(a, b, c uint64) int {
	const k1, k2, k4, k8 = each * 0x5555, each * 0x6666, each * 0x7878, each * 0x7f80
	return count(a&k1, b&k1, c&k1) + 2*count(a&k2, b&k2, c&k2) + 4*count(a&k4, b&k4, c&k4) + 8*count(a&k8, b&k8, c&k8)
}

// first returns how many bits of lane 0 are set.
func first(w uint64) int { return bits.OnesCount64(w & (1<<lane - 1)) }

// tops returns the open cells of each column.
func (s *shape) tops() (out [columns]int) {
	a, b, c := s.sky[0], s.sky[1], s.sky[2]
	for x := 0; x+2 < columns; x += 3 {
		out[x], out[x+1], out[x+2] = first(a), first(b), first(c)
		a, b, c = a>>lane, b>>lane, c>>lane
	}
	out[columns-1] = first(a)
	return out
}

// lines sorts the rows by the cells they lack, and counts what could fill them.
func (s *shape) lines(e0, e1, e2, foul uint64) {
	// kN: rows that lack at least N cells, first within lanes, then over them.
	k1, k2, k3, k4, k5 := e0|e1|e2, e0&e1|(e0|e1)&e2, e0&e1&e2, uint64(0), uint64(0)
	a1, a2, a3 := k1, k2, k3
	for i := 0; i < 3; i++ {
		a1, a2, a3 = a1>>lane, a2>>lane, a3>>lane
		k5 |= k4&a1 | k3&a2 | k2&a3
		k4 |= k3&a1 | k2&a2 | k1&a3
		k3 |= k2&a1 | k1&a2 | a3
		k2 |= k1&a1 | a2
		k1 |= a1
	}
	one, two := k1&^k2&reach, k2&^k3&reach
	s.clean[0] = bits.OnesCount64(one &^ foul & battle)
	s.clean[1] = bits.OnesCount64(two &^ foul & battle)
	s.clean[2] = bits.OnesCount64(k3 &^ k4 &^ foul & battle)
	s.clean[3] = bits.OnesCount64(k4 &^ k5 &^ foul & battle)
	s.foul[0] = bits.OnesCount64(one & foul & battle)
	s.foul[1] = bits.OnesCount64(two & foul & battle)
	s.calm[0] = bits.OnesCount64(one &^ foul &^ battle)
	s.calm[1] = bits.OnesCount64(two &^ foul &^ battle)
	s.takes, s.gains = [kinds]int8{}, [kinds]int8{}
	if few := k1 &^ k5 &^ foul & reach; few != 0 {
		s.chances(e0, e1, e2, few)
	}
}

// lacking returns the cells that a row lacks, bit x being column x.
func lacking(e0, e1, e2 uint64, y uint) uint32 {
	y &= 15
	return uint32(row(e0>>y) | row(e1>>y)<<1 | row(e2>>y)<<2)
}

// row moves bit 0 of lane j to bit 3j.
func row(e uint64) uint64 {
	e &= each
	return (e | e>>(lane-3) | e>>(2*lane-6) | e>>(3*lane-9)) & (1 | 1<<3 | 1<<6 | 1<<9)
}

// A fit is a way of filling a run of empty cells with one row of a block, relative to the run's leftmost cell.
type fit struct {
	kind   uint8
	left   int8      // leftmost column of the block
	first  int8      // topmost row of the block
	lowest int8      // last row that its topmost row can be
	cells  uint64    // cells of each column of the block from left on, 16 bits each, bit 0 being row first
	runs   [4]uint32 // cells of each row of the block from first on, bit 8 being the run's leftmost column
}

// fits lists, by the length of a run less 1, what can fill it in a clean row. Beside the run all cells are taken there,
// so the block's rows below are within the run's columns.
var fits = listFits()

func listFits() (out [4][]fit) {
	for k := 0; k < kinds; k++ {
		for d := 0; d < tetrisduel.Directions; d++ {
			cells := tetrisduel.Cells(k, d) // by row, then column
			left, first := cells[0].X, cells[0].Y
			for _, c := range cells {
				left = min(left, c.X)
			}
			for i, at := range cells {
				if i > 0 && cells[i-1].Y == at.Y {
					continue // the row has been looked at
				}
				f := fit{kind: uint8(k), left: left - at.X, first: first - at.Y}
				for _, c := range cells {
					x, y := c.X-left, c.Y-first
					f.lowest = rows - 1 - y
					f.cells |= 1 << uint(16*x+y)
					f.runs[y] |= 1 << uint(8+c.X-at.X)
				}
				fills, useful := f.runs[at.Y-first], true
				for _, run := range f.runs[at.Y-first+1:] {
					useful = useful && run&^fills == 0
				}
				list := &out[bits.OnesCount32(fills)-1]
				for _, other := range *list {
					useful = useful && f != other
				}
				if useful {
					*list = append(*list, f)
				}
			}
		}
	}
	return out
}

// chances notes what each kind of block, dropped straight, takes of the rows few, clean ones that lack 1 to 4.
func (s *shape) chances(e0, e1, e2, few uint64) {
	var lack [rows + 3]uint32 // cells that a row lacks, bit x being column x; 0 for all other rows, and below all
	for set := few; set != 0; set &= set - 1 {
		y := bits.TrailingZeros64(set)
		lack[y] = lacking(e0, e1, e2, uint(y))
	}
	var shut [lanes]uint64 // cells that are not open in a column and the next three, 16 bits each; walls are shut
	n0, n1, n2, next := ^s.sky[0], ^s.sky[1], ^s.sky[2], ^uint64(0)
	for x := lanes - 3; x >= 0; x -= 3 {
		shut[x+2] = next<<lane | n2>>(3*lane)
		shut[x+1] = shut[x+2]<<lane | n1>>(3*lane)
		next = shut[x+1]<<lane | n0>>(3*lane)
		shut[x], n0, n1, n2 = next, n0<<lane, n1<<lane, n2<<lane
	}
	for ; few != 0; few &= few - 1 {
		y := bits.TrailingZeros64(few)
		left := bits.TrailingZeros32(lack[y])
		run := lack[y] >> uint(left)
		if run&(run+1) != 0 {
			continue // in two parts
		}
		list := fits[bits.Len32(run)-1]
		for i := range list {
			f := &list[i]
			x, top := left+int(f.left), y+int(f.first)
			if uint(x) >= columns || uint(top) > uint(f.lowest) {
				continue
			}
			block, shut := f.cells<<(uint(top)&15), shut[x]
			if block&shut == 0 && block<<1&shut != 0 { // it fits and rests
				s.note(f, left, top, &lack)
			}
		}
	}
}

// note notes what f takes out when its topmost row is top and the run begins in column left.
func (s *shape) note(f *fit, left, top int, lack *[rows + 3]uint32) {
	p, w := 0, 0
	for i, run := range f.runs {
		switch full := run != 0 && run<<uint(left)>>8 == lack[top+i]; {
		case full && top+i >= tetrisduel.Peace:
			w++
		case full:
			p++
		}
	}
	s.takes[f.kind] = max(s.takes[f.kind], int8(w))
	s.gains[f.kind] = max(s.gains[f.kind], int8(tetrisduel.Gain(p, w)))
}
