package vec

import (
	"encoding/binary"
	"math/bits"

	"blockyard/env"
)

// assign gives the rows of environment i to the driven seats that must act, and writes what
// these may play. Once the game is over, masks are empty, and under ActingRows rows keep their seats.
func (e *Env) assign(w *worker, s env.State, sl *slot, i int) {
	set := sl.acting & e.driven
	if sl.over && e.players == nil && sl.seats == emptyRows { // no driven seat has acted: the rows show all of them
		set = e.driven
	}
	for r, row := 0, i*e.rows; r < e.rows; r, row = r+1, row+1 {
		mask := e.mask(row)
		if len(mask) == 8 { // saves a call
			*(*[8]byte)(mask) = [8]byte{}
		} else {
			clear(mask)
		}
		seat := NoSeat
		switch {
		case e.players != nil:
			if own := int(e.players[r]); set.Has(own) {
				seat = own
			}
		case set != 0:
			seat = set.First()
			set = set.Rest()
		case sl.over:
			continue
		}
		sl.seats[r] = uint8(seat)
		switch {
		case sl.over || seat == NoSeat:
		case e.maskers != nil:
			e.maskers[i].MaskLegal(seat, mask)
		default:
			w.legal = s.Legal(seat, w.legal[:0])
			pack(mask, w.legal)
		}
	}
}

// AskedMask returns the legal actions of an asked seat of environment i, as Batch.Legal has them: read-only, and valid
// until the next step. worker is as Each gives it, or 0.
func (e *Env) AskedMask(worker, i, seat int) []byte {
	k, w := i*e.c.Seats+seat, e.pool.workers[worker]
	mask := e.askedMasks[k*e.stride : (k+1)*e.stride]
	if sl := &e.slots[i]; !sl.masked.Has(seat) {
		sl.masked |= 1 << seat
		clear(mask)
		if e.maskers != nil {
			e.maskers[i].MaskLegal(seat, mask)
		} else {
			w.legal = e.states[i].Legal(seat, w.legal[:0])
			pack(mask, w.legal)
		}
	}
	return mask[:e.maskLen]
}

// pack sets the bits of actions, which are in ascending order, in a mask of whole words.
func pack(mask []byte, actions []env.Action) {
	word, at := uint64(0), 0 // a word of the mask, and its offset
	for _, a := range actions {
		if k := int(a>>6) << 3; k != at {
			binary.LittleEndian.PutUint64(mask[at:], word)
			word, at = 0, k
		}
		word |= 1 << (a & 63)
	}
	binary.LittleEndian.PutUint64(mask[at:], word)
}

// mask returns a row's mask, padded to whole 8-byte words.
func (e *Env) mask(row int) []byte { return e.masks[row*e.stride : (row+1)*e.stride] }

// allows reports whether a is in the row's mask.
func (e *Env) allows(row int, a env.Action) bool {
	return int(a) < e.g.Actions && has(e.masks[row*e.stride:], a)
}

func has(mask []byte, a env.Action) bool { return mask[a>>3]>>(a&7)&1 != 0 }

// random returns one of the row's legal actions, chosen uniformly by the random bits r, or None if it has none.
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

// nth returns the position of the set bit of word that has n set bits below it.
func nth(word uint64, n int) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	sums := word - word>>1&0x5555555555555555
	sums = sums&0x3333333333333333 + sums>>2&0x3333333333333333
	sums = (sums + sums>>4) & 0x0F0F0F0F0F0F0F0F * ones          // byte k: number of set bits in bytes 0 to k
	at := int(((uint64(n)*ones|tops)-sums)&tops>>7*ones>>56) * 8 // first bit of the byte with the n-th set bit
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

// rowSlabs are the slabs that show writes.
type rowSlabs struct {
	planes       []uint8
	globals      []float32
	seats, legal []uint8
}

// show writes the observations and masks of environment i's rows. It skips nil slabs.
func (e *Env) show(w *worker, s env.State, sl *slot, i int, v *rowSlabs) {
	for r, row := 0, i*e.rows; r < e.rows; r, row = r+1, row+1 {
		seat := sl.seats[r]
		if v.seats != nil {
			v.seats[row] = seat
		}
		if e.players != nil {
			seat = e.players[r]
		}
		if v.planes != nil || v.globals != nil {
			p, q := w.planes, w.globals
			if n := e.planes; v.planes != nil {
				p = v.planes[row*n : (row+1)*n : (row+1)*n]
			}
			if n := e.globals; v.globals != nil {
				q = v.globals[row*n : (row+1)*n : (row+1)*n]
			}
			if seat != NoSeat {
				s.Observe(int(seat), p, q)
			} else {
				clear(p)
				clear(q)
			}
		}
		if n := e.maskLen; v.legal != nil {
			copy(v.legal[row*n:(row+1)*n], e.mask(row))
		}
	}
}

// observe writes environment i as it stands, with reward 0.
func (e *Env) observe(w *worker, i int, j *job) error {
	out := j.out
	s, sl := e.states[i], &e.slots[i]
	e.account(w, s, sl, i, out, nil)
	e.show(w, s, sl, i, &j.rows)
	e.showOpponents(i, out.Opponent)
	clear(part(out.Illegal, i, e.rows))
	clear(part(out.Moves, i, MovesLen))
	return nil
}

// part returns the n elements of environment i in a slab, or none if there is no slab.
func part[T any](slab []T, i, n int) []T {
	if slab == nil {
		return nil
	}
	return slab[i*n : (i+1)*n]
}

// account writes environment i's flags, scores and rewards. before is from before the step; nil for reward 0.
func (e *Env) account(w *worker, s env.State, sl *slot, i int, out *Batch, before *measures) {
	seats := e.c.Seats
	mark(out.Terminated, i, sl.over)
	mark(out.Truncated, i, sl.cut)
	scores, row := part(out.Score, i, seats), part(out.Reward, i, seats)
	for seat := range scores {
		scores[seat] = int32(s.Score(seat))
	}
	clear(row)
	if row == nil || before == nil {
		return
	}
	if e.c.Reward != RewardScore && sl.over {
		for seat := range row {
			row[seat] = s.Result(seat)
		}
	}
	if e.c.Reward != RewardResult {
		e.addChanges(w, s, sl.over, row, before)
	}
}

// mark sets a flag of a slab, or does nothing if there is no slab.
func mark(flags []uint8, i int, to bool) {
	if flags != nil {
		flags[i] = bit(to)
	}
}

func bit(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}
