package vec

import (
	"encoding/binary"
	"fmt"

	"blockyard/env"
)

// A snapshot is, in little-endian order: seed, episode and random generator (8 bytes each),
// steps (4 bytes), flags (1), three zeros, the seat of each row (env.MaxSeats bytes), and the
// position as env.Encode writes it.
const (
	stepsAt = 24
	flagsAt = 28
	seatsAt = 32
	headLen = seatsAt + env.MaxSeats
)

const (
	flagCut = 1 << iota
	flagLive
)

// SnapshotLen returns the length in bytes of every snapshot.
func (e *Env) SnapshotLen() int { return headLen + env.EncodedLen(e.states[0]) }

// Snapshot appends environment i as bytes that Restore reads under the same Game.Rules. The
// memories of agents are not part of it.
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
	dst = append(dst, sl.seats[:]...)
	return env.Encode(dst, e.states[i])
}

// Restore sets environment i to what Snapshot wrote, with new agents. If src is not a snapshot
// for this Env, it returns an error and changes nothing.
func (e *Env) Restore(i int, src []byte) error {
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
		if seat != NoSeat && (r >= e.rows || seat >= env.MaxSeats || !e.driven.Has(int(seat))) {
			return fmt.Errorf("vec %s: snapshot with seat %d in row %d, which is not driven here", e.g.Name, seat, r)
		}
	}
	s := e.pool.workers[0].view
	if err := env.Decode(s, s, src[headLen:]); err != nil {
		return fmt.Errorf("vec %s: snapshot: %w", e.g.Name, err)
	}
	if err := e.adopt(i, s); err != nil {
		return err
	}
	word := func(k int) uint64 { return binary.LittleEndian.Uint64(src[8*k:]) }
	sl := &e.slots[i]
	*sl = slot{root: word(0), episode: word(1), word: word(2), steps: binary.LittleEndian.Uint32(src[stepsAt:]),
		live: src[flagsAt]&flagLive != 0, seats: [env.MaxSeats]uint8(src[seatsAt:headLen])}
	if err := e.resume(i); err != nil {
		return err
	}
	sl.cut = src[flagsAt]&flagCut != 0 && !sl.over
	return nil
}
