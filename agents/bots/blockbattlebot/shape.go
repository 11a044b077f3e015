package blockbattlebot

import (
	"math/bits"

	"blockyard/agents/bots/features"
	"blockyard/env/blockbattle"
	"blockyard/env/falling"
)

// A shape describes one board by counts. A column's open cells are the empty ones with nothing above them; a hole is
// any other empty cell. Rows are those above the solid ones: the lowest is on the floor.
type shape struct {
	words   [4]uint64 // the board, as lanes gives it
	floor   int       // how many rows are not solid
	open    [4]uint64 // open cells of each column, in lanes
	minFree int       // open cells of the highest column: rows free everywhere
	spawn   int       // rows free in all spawn columns, 3 to 6
	deepest int       // open cells of the lowest column
	second  int       // open cells of the second lowest one

	cells     int // taken cells
	holes     int
	overhangs int // holes with an open cell to their left or right
	covers    int // taken cells above the topmost hole of their column
	holeRows  int // rows with a hole
	rowEdges  int // changes between taken and empty along the rows up to the highest, walls being taken
	colEdges  int // changes down the columns, from empty sky to taken floor
	wells     int // open cells between taken ones or walls; the k-th from the top of its run counts k

	gapOpen   int // rows with one empty cell, an open one: it is in the lowest column
	gapClosed int // rows with one empty cell, a hole
	gapTwo    int // rows with two empty cells
	ready     int // rows the I clears when dropped into the lowest column, 0 to 4

	slots   int // places for a T pointing down, one shoulder covered: a T-spin of any size
	singles int // of those, the ones that clear one row
	doubles int // of those, the ones that clear two rows
	notches int // the same place with neither shoulder covered
	halves  int // of those, the ones whose lower row lacks nothing else
}

// Boards are read three columns at a time: column 4j+k is lane j, of 21 bits, of word k, so that the column to the
// right of every lane of a word is the same lane of the next. Lanes of columns 10 and 11 are wall.
const (
	lane  = 21
	each  = 1 | 1<<lane | 1<<(2*lane)                 // bit 0 of every lane
	cells = each * (1<<blockbattle.Height - 1)        // the cells of every lane
	inner = 1<<(2*lane) - 1                           // lanes 0 and 1
	outer = (1<<blockbattle.Height - 1) << (2 * lane) // the cells of lane 2
)

// measure fills in s for a board whose lowest solid rows are not part of the game.
func (s *shape) measure(f *falling.Field, solid int) {
	floor := blockbattle.Height - solid
	w := lanes(f, floor)
	s.read(w[0], w[1], w[2], w[3], floor)
}

// lanes reads a board above row floor.
func lanes(f *falling.Field, floor int) (w [4]uint64) {
	all := (uint64(1)<<uint(floor) - 1) * each
	w[0] = (f[0] | f[4]<<lane | f[8]<<(2*lane)) & all
	w[1] = (f[1] | f[5]<<lane | f[9]<<(2*lane)) & all
	w[2] = (f[2] | f[6]<<lane | outer) & all
	w[3] = (f[3] | f[7]<<lane | outer) & all
	return w
}

// read fills in s for a board as lanes gives it.
func (s *shape) read(w0, w1, w2, w3 uint64, floor int) {
	rows := uint64(1)<<uint(floor) - 1
	all, guard := rows*each, uint64(1)<<uint(floor)*each
	s.words, s.floor = [4]uint64{w0, w1, w2, w3}, floor
	o0, o1, o2, o3 := open(w0, guard), open(w1, guard), open(w2, guard), open(w3, guard)
	left0, right3 := w3&inner<<lane|rows, w0>>lane

	s.open = [4]uint64{o0, o1, o2, o3}
	s.heights(o0, o1, o2, o3)
	h0, h1, h2, h3 := all&^w0&^o0, all&^w1&^o1, all&^w2&^o2, all&^w3&^o3
	s.cells = count(w0, w1, w2&^outer, w3&^outer)
	s.holes = count(h0, h1, h2, h3)
	s.overhangs, s.covers, s.holeRows = 0, 0, 0
	if s.holes != 0 {
		s.overhangs = count(h0&(o3&inner<<lane|o1), h1&(o0|o2), h2&(o1|o3), h3&(o2|o0>>lane))
		s.covers = count(above(w0, h0), above(w1, h1), above(w2, h2), above(w3, h3))
		s.holeRows = bits.OnesCount64(fold(h0 | h1 | h2 | h3))
	}
	s.rowEdges = count(w0^w1, w1^w2, w2^w3, (w3^right3)&inner) + bits.OnesCount64(rows&^w0) - 2*s.minFree
	s.colEdges = count(w0<<1^(w0|guard), w1<<1^(w1|guard), w2<<1^(w2|guard), w3<<1^(w3|guard)) - 2
	s.wells = depths(o0&left0&w1, o1&w0&w2, o2&w1&w3, o3&w2&right3)

	one, three := s.gaps(all&^w0, all&^w1, all&^w2, all&^w3)
	b0, b1, b2, b3 := w0>>1&all, w1>>1&all, w2>>1&all, w3>>1&all // taken just below
	n := &notch{low: one >> 1 & rows * each, both: three * each}
	p0, p1, p2, p3 := o0>>1&(left0>>1)&b1, o1>>1&b0&b2, o2>>1&b1&b3, o3>>1&b2&(b0>>lane)
	if p0|p1|p2|p3 != 0 {
		n.column(p0, left0, o3&inner<<lane, w1, o1)
		n.column(p1, w0, o0, w2, o2)
		n.column(p2, w1, o1, w3, o3)
		n.column(p3, w2, o2, right3, o0>>lane)
	}
	s.slots, s.singles, s.doubles, s.notches, s.halves = n.slots, n.singles, n.doubles, n.notches, n.halves
}

// open returns the cells above the topmost taken one of each lane; guard holds the floor of each lane.
func open(w, guard uint64) uint64 {
	w |= guard
	return (w - each) &^ w
}

// above returns the taken cells of w above the topmost hole of their lane.
func above(w, holes uint64) uint64 {
	some := (holes + cells) >> blockbattle.Height & each // lanes with a hole
	h := holes | each<<blockbattle.Height
	return w & (h - each) &^ h & (some<<blockbattle.Height - some)
}

// fold returns the rows taken in any lane.
func fold(w uint64) uint64 { return (w | w>>lane | w>>(2*lane)) & (1<<lane - 1) }

func count(a, b, c, d uint64) int {
	return bits.OnesCount64(a) + bits.OnesCount64(b) + bits.OnesCount64(c) + bits.OnesCount64(d)
}

// depths returns, over all runs of bits, the sum of 1 + 2 + … + length.
func depths(a, b, c, d uint64) int {
	n := count(a, b, c, d)
	a, b, c, d = a&(a>>1), b&(b>>1), c&(c>>1), d&(d>>1)
	for a|b|c|d != 0 {
		n += count(a, b, c, d)
		a, b, c, d = a&(a>>1), b&(b>>1), c&(c>>1), d&(d>>1)
	}
	return n
}

func (s *shape) tops() (t [columns]int) {
	const m = 1<<lane - 1
	o0, o1, o2, o3 := s.open[0], s.open[1], s.open[2], s.open[3]
	t[0], t[4], t[8] = bits.Len32(uint32(o0&m)), bits.Len32(uint32(o0>>lane&m)), bits.Len32(uint32(o0>>(2*lane)))
	t[1], t[5], t[9] = bits.Len32(uint32(o1&m)), bits.Len32(uint32(o1>>lane&m)), bits.Len32(uint32(o1>>(2*lane)))
	t[2], t[6] = bits.Len32(uint32(o2&m)), bits.Len32(uint32(o2>>lane&m))
	t[3], t[7] = bits.Len32(uint32(o3&m)), bits.Len32(uint32(o3>>lane&m))
	return t
}

func (s *shape) top(x uint) int {
	return bits.Len32(uint32(s.open[x&3] >> (x / 4 * lane) & (1<<lane - 1)))
}

func (s *shape) heights(o0, o1, o2, o3 uint64) {
	const m = 1<<lane - 1
	// Open cells are runs from row 0 on, so AND and OR are the least and the greatest.
	low2, low3 := o2&(o2>>lane), o3&(o3>>lane)
	mid0, mid1 := o0&(o0>>lane)&(o0>>(2*lane)), o1&(o1>>lane)&(o1>>(2*lane))
	s.minFree = bits.Len32(uint32(low2 & low3 & mid0 & mid1 & m))
	s.spawn = bits.Len32(uint32(o3 & (o0 >> lane) & (o1 >> lane) & (o2 >> lane) & m))
	some, many := o0|o1, o0&o1
	many, some = many|some&o2, some|o2
	many, some = many|some&o3, some|o3
	a, b, c := some&m, some>>lane&m, some>>(2*lane)
	s.deepest = bits.Len32(uint32(a | b | c))
	s.second = bits.Len32(uint32((many|many>>lane|many>>(2*lane))&m | a&b | (a|b)&c))
}

// gaps counts rows by the cells they lack, from the empty cells, and returns those that lack one and three.
func (s *shape) gaps(e0, e1, e2, e3 uint64) (one, three uint64) {
	const m = 1<<lane - 1
	// kN: rows that lack at least N cells, first within lanes, then over them.
	k1, k2 := e0|e1, e0&e1
	k1, k2, k3 := k1|e2, k2|k1&e2, k2&e2
	k1, k2, k3, k4 := k1|e3, k2|k1&e3, k3|k2&e3, k3&e3
	for i := 1; i <= 2; i++ {
		shift := uint(i * lane)
		l1, l2, l3, l4 := k1>>shift&m, k2>>shift&m, k3>>shift&m, k4>>shift&m
		k1, k2, k3, k4 = k1|l1, k2|l2|k1&l1, k3|l3|k2&l1|k1&l2, k4|l4|k3&l1|k2&l2|k1&l3
	}
	one, three = k1&^k2&m, k3&^k4&m
	sky := uint64(1)<<uint(s.deepest) - 1 // rows some column is open in
	s.gapOpen = bits.OnesCount64(one & sky)
	s.gapClosed = bits.OnesCount64(one &^ sky)
	s.gapTwo = bits.OnesCount64(k2 &^ k3 & m)
	s.ready = bits.LeadingZeros64(^(one << uint(64-s.deepest)))
	s.ready = min(s.ready, 4)
	return one, three
}

// A notch counts the places for a T pointing down: a pit with an open column, whose shoulders are taken cells in the
// pit's lowest row. Bit y of a word stands for the row of the T's bar.
type notch struct {
	low, both uint64 // rows above one that lacks one cell; rows that lack three

	slots, singles, doubles, notches, halves int
}

// column examines the columns of one word: pit says where the row below the bar is a pit; for the columns to the left
// and right, l and r are the taken cells, lo and ro the open ones.
func (n *notch) column(pit, l, lo, r, ro uint64) {
	bare := pit & lo & ro
	n.notches += bits.OnesCount64(bare)
	n.halves += bits.OnesCount64(bare & n.low)
	if slot := pit & (ro&^l&(l<<1) | lo&^r&(r<<1)); slot != 0 {
		n.slots += bits.OnesCount64(slot)
		n.doubles += bits.OnesCount64(slot & n.low & n.both)
		n.singles += bits.OnesCount64(slot & (n.low ^ n.both))
	}
}

const fitLen = 13 // how many features describe which pieces the surface is ready for

// stepSets has, for a step between two columns plus Height, bit 0 of the lane for its kind: flat, up, down, two up, two
// down. Shifted to the left column, the sets of a surface make one word.
var stepSets = [64]uint64{
	blockbattle.Height:     1,
	blockbattle.Height + 1: 1 << stepLane,
	blockbattle.Height - 1: 1 << (2 * stepLane),
	blockbattle.Height + 2: 1 << (3 * stepLane),
	blockbattle.Height - 2: 1 << (4 * stepLane),
}

const stepLane = columns

// fits writes the fitLen counts. A piece fits where it comes to rest on the tops of the
// columns below it with no empty cell under it, whatever the room above; the I counts
// lying only, for it always fits upright. Places past the fourth do not count.
func fits(tops *[columns]int, out []int32) {
	var set uint64
	for x := 0; x+1 < columns; x++ {
		set |= stepSets[(tops[x]-tops[x+1]+blockbattle.Height)&63] << uint(x)
	}
	const m = 1<<stepLane - 1
	flat, up, down := uint(set&m), uint(set>>stepLane&m), uint(set>>(2*stepLane)&m)
	up2, down2 := uint(set>>(3*stepLane)&m), uint(set>>(4*stepLane)&m)
	level := flat & (flat >> 1)
	counts := [7]int{
		bits.OnesCount(level & (flat >> 2)),
		bits.OnesCount(flat),
		bits.OnesCount(flat&(up>>1)) + bits.OnesCount(down),
		bits.OnesCount(down&(flat>>1)) + bits.OnesCount(up),
		bits.OnesCount(level) + bits.OnesCount(down&(up>>1)) + bits.OnesCount(up|down),
		bits.OnesCount(level) + bits.OnesCount(flat&(down>>1)) + bits.OnesCount(up2|flat),
		bits.OnesCount(level) + bits.OnesCount(up&(flat>>1)) + bits.OnesCount(flat|down2),
	}
	out = out[:fitLen]
	out[0] = int32(fitSizes[counts[0]&31][0])
	for i := 1; i < len(counts); i++ {
		f := &fitSizes[counts[i]&31]
		out[i], out[6+i] = int32(f[0]), int32(f[1])
	}
}

// fitSizes has the two counts of a number of places.
var fitSizes = func() (out [32][2]uint8) {
	for n := range out {
		out[n] = [2]uint8{uint8(min(n, 4)), uint8(features.Yes(n == 0))}
	}
	return out
}()
