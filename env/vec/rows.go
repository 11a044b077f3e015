package vec

import (
	"encoding/binary"
	"math/bits"

	"blockyard/env"
)

// look assigns the rows of environment i and lists what they may play.
func (e *Env) look(w *worker, i int) {
	s, sl := e.states[i], &e.slots[i]
	if sl.over {
		if sl.seats == emptyRows {
			sl.assign(e.driven, e.rows)
		}
		clear(e.masks[i*e.rows*e.stride : (i+1)*e.rows*e.stride])
		return
	}
	sl.assign(sl.acting&e.driven, e.rows)
	for r := range e.rows {
		mask := e.mask(i*e.rows + r)
		clear(mask)
		if seat := sl.seats[r]; seat == NoSeat {
			continue
		} else if e.maskers != nil {
			e.maskers[i].MaskLegal(int(seat), mask)
		} else {
			w.legal = s.Legal(int(seat), w.legal[:0])
			pack(mask, w.legal)
		}
	}
}

func (sl *slot) assign(set env.Seats, rows int) {
	sl.seats = emptyRows
	for r := 0; r < rows && set != 0; r++ {
		sl.seats[r] = uint8(set.First())
		set = set.Rest()
	}
}

// pack sets the bits of the actions, which ascend, in a mask of whole words.
func pack(mask []byte, actions []env.Action) {
	word, at := uint64(0), 0 // of the mask, and where it lies
	for _, a := range actions {
		if k := int(a>>6) << 3; k != at {
			binary.LittleEndian.PutUint64(mask[at:], word)
			word, at = 0, k
		}
		word |= 1 << (a & 63)
	}
	binary.LittleEndian.PutUint64(mask[at:], word)
}

// mask returns a row's mask, padded to whole words.
func (e *Env) mask(row int) []byte { return e.masks[row*e.stride : (row+1)*e.stride] }

// allows reports whether a is in the row's mask.
func (e *Env) allows(row int, a env.Action) bool {
	return int(a) < e.g.Actions && e.masks[row*e.stride+int(a>>3)]>>(a&7)&1 != 0
}

// random returns one of the row's actions, uniformly by the bits of r; None if it has none.
func (e *Env) random(row int, r uint64) env.Action {
	mask := e.mask(row)
	n := 0
	for k := 0; k < len(mask); k += 8 {
		n += bits.OnesCount64(binary.LittleEndian.Uint64(mask[k:]))
	}
	if n == 0 {
		return env.None
	}
	pick, _ := bits.Mul64(r, uint64(n))
	left := int(pick)
	for k := 0; ; k += 8 {
		word := binary.LittleEndian.Uint64(mask[k:])
		if c := bits.OnesCount64(word); left >= c {
			left -= c
			continue
		}
		return env.Action(k*8 + nth(word, left))
	}
}

// nth returns where the set bit is that has n set bits below it; there is one.
func nth(word uint64, n int) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	sums := word - word>>1&0x5555555555555555
	sums = sums&0x3333333333333333 + sums>>2&0x3333333333333333
	sums = (sums + sums>>4) & 0x0F0F0F0F0F0F0F0F * ones          // byte k: set bits in bytes 0 to k
	at := int(((uint64(n)*ones|tops)-sums)&tops>>7*ones>>56) * 8 // past the bytes that have n at most
	return at + int(nthOfByte[(n-int(uint8(sums<<8>>at)))&7][uint8(word>>at)])
}

// nthOfByte is nth within a byte.
var nthOfByte = func() (out [8][256]uint8) {
	for word := range 256 {
		for n, left := 0, uint8(word); left != 0; n, left = n+1, left&(left-1) {
			out[n][word] = uint8(bits.TrailingZeros8(left))
		}
	}
	return out
}()

// show writes environment i's views; nil slabs are left out.
func (e *Env) show(w *worker, i int, planes []uint8, globals []float32, seats []uint8) {
	s, sl := e.states[i], &e.slots[i]
	g := e.globals
	for r := range e.rows {
		row, seat := i*e.rows+r, sl.seats[r]
		if seats != nil {
			seats[row] = seat
		}
		if planes == nil && globals == nil {
			continue
		}
		p, q := w.planes, w.globals
		if planes != nil {
			p = planes[row*e.planes : (row+1)*e.planes : (row+1)*e.planes]
		}
		if globals != nil {
			q = globals[row*g : (row+1)*g : (row+1)*g]
		}
		if seat == NoSeat {
			clear(p)
			clear(q)
			continue
		}
		s.Observe(int(seat), p, q)
	}
}

// showMasks writes environment i's masks; a nil slab is left out.
func (e *Env) showMasks(i int, legal []uint8) {
	if legal == nil {
		return
	}
	n := e.g.MaskLen()
	for row := i * e.rows; row < (i+1)*e.rows; row++ {
		copy(legal[row*n:(row+1)*n], e.mask(row))
	}
}

// observe writes all of environment i as it stands, with reward 0.
func (e *Env) observe(w *worker, i int, out *Batch) {
	e.show(w, i, out.Planes, out.Globals, out.Seat)
	e.showMasks(i, out.Legal)
	if out.Reward != nil {
		clear(out.Reward[i*e.c.Seats : (i+1)*e.c.Seats])
	}
	e.account(i, out)
}

// reward writes environment i's rewards of a step from the scores before it.
func (e *Env) reward(i int, out *Batch, before *[env.MaxSeats]int) {
	if out.Reward == nil {
		return
	}
	s, over := e.states[i], e.slots[i].over
	row := out.Reward[i*e.c.Seats : (i+1)*e.c.Seats]
	for seat := range row {
		switch {
		case e.c.Reward == RewardScore:
			row[seat] = float32(s.Score(seat) - before[seat])
		case over:
			row[seat] = s.Result(seat)
		default:
			row[seat] = 0
		}
	}
}

// account writes environment i's flags and scores.
func (e *Env) account(i int, out *Batch) {
	sl := &e.slots[i]
	if out.Terminated != nil {
		out.Terminated[i] = bit(sl.over)
	}
	if out.Truncated != nil {
		out.Truncated[i] = bit(sl.cut)
	}
	if out.Score == nil {
		return
	}
	s, row := e.states[i], out.Score[i*e.c.Seats:(i+1)*e.c.Seats]
	for seat := range row {
		row[seat] = int32(s.Score(seat))
	}
}

func bit(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}
