package batch

import (
	"encoding/binary"
	"errors"
	"hash/fnv"

	"blockyard/env"
	"blockyard/rpc/wire"
)

// A state on the wire is a head of stateHead bytes, then a snapshot of vec.Env:
//
//	0  4  "BYS" and the version of this format
//	4  8  FNV-1a of the game's name, rules version and number of seats
//	12 4  steps of the episode, which the snapshot holds too: written for readers, not read back
const (
	stateHead    = 16
	stateVersion = 1
)

// StateLen is the length of the state of one game.
func (b *Batch) StateLen() int { return stateHead + b.Env.SnapshotLen() }

// kind identifies the batches that can exchange states.
func (b *Batch) kind() uint64 {
	sum := fnv.New64a()
	text := append([]byte(b.Game.Name), 0)
	text = binary.LittleEndian.AppendUint32(text, uint32(b.Game.Rules))
	text = append(text, byte(b.Config.Seats))
	_, _ = sum.Write(text)
	return sum.Sum64()
}

// States returns the states of games, one after the other.
func (b *Batch) States(list []int) (dst []byte, err error) {
	dst = make([]byte, 0, len(list)*b.StateLen())
	for _, i := range list {
		dst = append(dst, 'B', 'Y', 'S', stateVersion)
		dst = binary.LittleEndian.AppendUint64(dst, b.kind())
		dst = binary.LittleEndian.AppendUint32(dst, uint32(b.Env.Steps(i)))
		if dst, err = b.Env.Snapshot(i, dst); err != nil {
			return nil, err
		}
	}
	return dst, nil
}

// setState restores game i from its part of the bytes that States wrote.
func (b *Batch) setState(i int, state []byte) error {
	switch {
	case string(state[:3]) != "BYS":
		return errors.New("this is no state")
	case state[3] != stateVersion:
		return errors.New("a state of another version of the format")
	case binary.LittleEndian.Uint64(state[4:]) != b.kind():
		return errors.New("a state of another game, rules version or number of seats")
	}
	return b.Env.Restore(i, state[stateHead:])
}

// Restore puts states into games: into all of the list or none.
func (b *Batch) Restore(list []int, states []byte) error {
	if !b.began {
		if err := b.reset(b.seeds, nil, b.Own); err != nil {
			return err
		}
	}
	before, err := b.States(list)
	if err != nil {
		return err
	}
	n := b.StateLen()
	for k, i := range list {
		bad := b.setState(i, states[k*n:(k+1)*n])
		if bad == nil {
			continue
		}
		for k, i := range list[:k] {
			if err := b.setState(i, before[k*n:(k+1)*n]); err != nil {
				return err
			}
		}
		return wire.Errorf(wire.BadState, "restore: state %d: %v", k, bad).With("index", k)
	}
	return nil
}

// Reseed redraws what is hidden in some games. The draws of a game depend on its own number, not on the other games of
// the list.
func (b *Batch) Reseed(list []int, seed uint64) error {
	for _, i := range list {
		if err := b.Env.Reseed(i, env.Derive(seed, b.First+uint64(i))); err != nil {
			return err
		}
	}
	return nil
}

// Show writes the positions of all games to p, as after Restore or Resume.
func (b *Batch) Show(p *Place) error {
	b.Ended = b.Ended[:0]
	if err := b.Env.Observe(p.batch); err != nil {
		return err
	}
	return b.finish(p)
}
