package vec

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"blockyard/env"
)

// A snapshot is, in little-endian order: seed, episode and random generator (8 bytes each), steps (4 bytes), flags
// (1), three zeros, the seat of each row (env.MaxSeats bytes), and the position as env.Encode writes it.
const (
	stepsAt = 24
	flagsAt = 28
	seatsAt = 32
	headLen = seatsAt + env.MaxSeats

	flagCut, flagLive = 1, 2
)

// SnapshotLen returns the length in bytes of every snapshot.
func (e *Env) SnapshotLen() int { return headLen + env.EncodedLen(e.states[0]) }

// Snapshot appends environment i as bytes for Restore, without the memories of agents: see Resumable.
func (e *Env) Snapshot(i int, dst []byte) ([]byte, error) {
	if err := e.usable(i); err != nil {
		return dst, err
	}
	sl := &e.slots[i]
	for _, v := range [...]uint64{sl.root, sl.episode, sl.word} {
		dst = binary.LittleEndian.AppendUint64(dst, v)
	}
	dst = binary.LittleEndian.AppendUint32(dst, sl.steps)
	dst = append(dst, bit(sl.cut)*flagCut|bit(sl.live)*flagLive, 0, 0, 0)
	seats := sl.seats
	if e.players != nil { // they follow from the position
		seats = emptyRows
	}
	dst = append(dst, seats[:]...)
	return env.Encode(dst, e.states[i])
}

// Restore sets environment i to what Snapshot wrote, in whatever Env of the game, with new agents. An error changes
// nothing.
func (e *Env) Restore(i int, src []byte) error {
	if err := e.CheckSnapshot(i, src); err != nil {
		return err
	}
	return e.put(i, src, func(i int) error { return errors.Join(e.draw(i), e.renewAgents(i)) })
}

// CheckSnapshot returns the error with which Restore and Resume would refuse src for environment i. It leaves the
// position in the view of the first worker.
func (e *Env) CheckSnapshot(i int, src []byte) error {
	if err := e.usable(i); err != nil {
		return err
	}
	if want := e.SnapshotLen(); len(src) != want {
		return fmt.Errorf("vec %s: snapshot of %d bytes, want %d", e.g.Name, len(src), want)
	}
	if f := src[flagsAt:seatsAt]; f[0]&^(flagCut|flagLive) != 0 || f[1]|f[2]|f[3] != 0 {
		return fmt.Errorf("vec %s: snapshot with unknown flags % x", e.g.Name, f)
	}
	for r, seat := range src[seatsAt:headLen] {
		if n := e.c.Seats; seat != NoSeat && (int(seat) >= n || r >= n) {
			return fmt.Errorf("vec %s: snapshot with seat %d in row %d, want both below %d", e.g.Name, seat, r, n)
		}
	}
	s := e.pool.workers[0].view
	if err := env.Decode(s, s, src[headLen:]); err != nil {
		return fmt.Errorf("vec %s: snapshot: %w", e.g.Name, err)
	}
	return e.fits(i, s)
}

// put sets environment i to a snapshot that CheckSnapshot has just read. renew gives it its agents.
func (e *Env) put(i int, src []byte, renew func(i int) error) error {
	e.traceDrop(i)
	e.states[i].CopyFrom(e.pool.workers[0].view)
	word := func(k int) uint64 { return binary.LittleEndian.Uint64(src[8*k:]) }
	sl := &e.slots[i]
	*sl = slot{root: word(0), episode: word(1), word: word(2), steps: binary.LittleEndian.Uint32(src[stepsAt:]),
		live: src[flagsAt]&flagLive != 0, cut: src[flagsAt]&flagCut != 0, seats: e.rowsOf(src[seatsAt:headLen])}
	return e.resume(i, renew)
}

// rowsOf returns the seats of rows that a snapshot has, without those that are not driven here: the environment from
// which it comes may have had other opponents, or another form of rows.
func (e *Env) rowsOf(src []byte) (seats [env.MaxSeats]uint8) {
	seats = emptyRows
	r := 0
	for _, seat := range src {
		if seat != NoSeat && e.driven.Has(int(seat)) && r < e.rows && e.players == nil {
			seats[r] = seat
			r++
		}
	}
	return seats
}

// State returns the position of environment i. It is read-only and valid until the next Step or Reset.
func (e *Env) State(i int) env.State { return e.states[i] }

// Seed returns the seed of environment i and the number of its current episode.
func (e *Env) Seed(i int) (seed, episode uint64) { return e.slots[i].root, e.slots[i].episode }

// Seat returns the seat of row r of environment i, or NoSeat if the row need not act.
func (e *Env) Seat(i, r int) int { return int(e.slots[i].seats[r]) }

// Shows returns the seat whose observation row r of environment i shows, or NoSeat if it shows zeros.
func (e *Env) Shows(i, r int) int {
	if e.players != nil {
		return int(e.players[r])
	}
	return e.Seat(i, r)
}

// Ended reports whether environment i's episode has ended and awaits its reset. Steps returns how many steps it has
// taken, and LastLength those of the last episode that ended there.
func (e *Env) Ended(i int) bool     { return e.slots[i].ended() }
func (e *Env) Steps(i int) int      { return int(e.slots[i].steps) }
func (e *Env) LastLength(i int) int { return int(e.slots[i].length) }

// Legal appends the legal actions of row r of environment i, in ascending order.
func (e *Env) Legal(i, r int, dst []env.Action) []env.Action {
	for k, b := range e.mask(i*e.rows + r) {
		for ; b != 0; b &= b - 1 {
			dst = append(dst, env.Action(k*8+bits.TrailingZeros8(b)))
		}
	}
	return dst
}

// Sample fills actions, one per row, with legal actions drawn uniformly by the environments'
// own random generators, and with 0, which is ignored, for rows that need not act.
func (e *Env) Sample(actions []env.Action) error {
	if len(actions) != len(e.slots)*e.rows {
		return fmt.Errorf("vec %s: %d actions, want %d", e.g.Name, len(actions), len(e.slots)*e.rows)
	}
	return e.pool.run(job{do: (*Env).sample, actions: actions})
}

func (e *Env) sample(_ *worker, i int, j *job) error {
	sl := &e.slots[i]
	for r, row := 0, i*e.rows; r < e.rows; r, row = r+1, row+1 {
		j.actions[row] = 0
		if sl.seats[r] != NoSeat && !sl.over {
			j.actions[row] = e.random(row, sl.next())
		}
	}
	return nil
}

// Reseed gives environment i another future: everything that none of the driven seats may know is redrawn from seed,
// and so are later episodes and random choices. What the driven seats observe does not change.
func (e *Env) Reseed(i int, seed uint64) error {
	if err := e.usable(i); err != nil {
		return err
	}
	e.traceDrop(i)
	e.states[i].Hide(e.driven, env.Derive(seed, uint64(e.c.Seats-1)))
	sl := &e.slots[i]
	sl.root, sl.word = seed, env.Derive(seed, ownStream)
	return e.resume(i, e.renewAgents)
}

// fits returns an error if a position has another number of seats than the environments, or differs from them in what
// a variant of the game fixes: in what remains of it after a Reset.
func (e *Env) fits(i int, s env.State) error {
	if n := s.SeatCount(); n != e.c.Seats {
		return fmt.Errorf("vec %s: environment %d: a position with %d seats, want %d", e.g.Name, i, n, e.c.Seats)
	}
	e.spare.CopyFrom(s)
	text, err := encodeReset(e.buf[:0], e.spare)
	e.buf = text
	if err == nil && !bytes.Equal(text, e.fresh) {
		err = fmt.Errorf("vec %s: environment %d: a position of another variant of the game", e.g.Name, i)
	}
	return err
}

var zeros [env.MaxDraws]uint16

// encodeReset resets s with forced draws, which leave nothing of earlier ones, and appends it.
func encodeReset(dst []byte, s env.State) ([]byte, error) {
	s.Force(zeros[:])
	s.Reset(0)
	return env.Encode(dst, s)
}

// usable returns an error if environment i does not exist or cannot be used now.
func (e *Env) usable(i int) error {
	if i < 0 || i >= len(e.slots) {
		return fmt.Errorf("vec %s: environment %d of %d", e.g.Name, i, len(e.slots))
	}
	return e.ready()
}

// resume continues environment i from a position that was put there, with the agents that renew gives it.
func (e *Env) resume(i int, renew func(i int) error) error {
	w := e.pool.workers[0]
	sl := &e.slots[i]
	err := renew(i)
	if err == nil {
		sl.callers, sl.stage, sl.over = e.callers(i), stepped, false
		err = e.settle(w, i)
	}
	if err != nil {
		e.broken = fmt.Errorf("vec %s: environment %d: %w; reset all environments to go on", e.g.Name, i, err)
		return e.broken
	}
	if sl.cut = sl.cut && !sl.over; !sl.cut && e.waits(sl) {
		sl.stage = placed
	}
	e.assign(w, e.states[i], sl, i)
	return nil
}
