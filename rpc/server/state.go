package server

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

func (h *handle) stateLen() int { return stateHead + h.env.SnapshotLen() }

// kind identifies the handles that can exchange states.
func (h *handle) kind() uint64 {
	sum := fnv.New64a()
	b := append([]byte(h.game.Name), 0)
	b = binary.LittleEndian.AppendUint32(b, uint32(h.game.Rules))
	b = append(b, byte(h.c.Seats))
	_, _ = sum.Write(b)
	return sum.Sum64()
}

func (h *handle) appendState(dst []byte, i int) ([]byte, error) {
	dst = append(dst, 'B', 'Y', 'S', stateVersion)
	dst = binary.LittleEndian.AppendUint64(dst, h.kind())
	dst = binary.LittleEndian.AppendUint32(dst, uint32(h.env.Steps(i)))
	return h.env.Snapshot(i, dst)
}

// setState restores game i from the bytes that appendState wrote.
func (h *handle) setState(i int, b []byte) error {
	switch {
	case string(b[:3]) != "BYS":
		return errors.New("this is no state")
	case b[3] != stateVersion:
		return errors.New("a state of another version of the format")
	case binary.LittleEndian.Uint64(b[4:]) != h.kind():
		return errors.New("a state of another game, rules version or number of seats")
	}
	return h.env.Restore(i, b[stateHead:])
}

// wake resets the handle if that has not been done.
func (h *handle) wake() error {
	if h.began {
		return nil
	}
	return h.reset(h.seeds, nil, h.own)
}

// awake returns an error if the games have not been reset.
func (h *handle) awake(method string) error {
	if h.began {
		return nil
	}
	return wire.Errorf(wire.NeedsReset, "%s: handle %d has not been reset", method, h.id).With("envs", []int{0})
}

// selected reads the set of games in param i: nil is all, in order. If once, no game may repeat.
func (h *handle) selected(f *wire.Frame, i int, name string, once bool) ([]int, error) {
	b, err := f.Bin(i, name)
	if err != nil {
		return nil, err
	}
	n := h.c.Envs
	if b == nil {
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		return all, nil
	}
	if len(b)%4 != 0 || len(b)/4 > n {
		return nil, wire.Errorf(wire.BadParams, "%s: %s has %d bytes, want 4 for each of at most %d games", f.Method, name, len(b), n)
	}
	list, seen := make([]int, len(b)/4), make([]bool, n)
	for k := range list {
		v := binary.LittleEndian.Uint32(b[4*k:])
		switch {
		case v >= uint32(n):
			return nil, wire.Errorf(wire.BadParams, "%s: %s names game %d, want 0 to %d", f.Method, name, v, n-1)
		case seen[v] && once:
			return nil, wire.Errorf(wire.BadParams, "%s: %s names game %d twice", f.Method, name, v)
		}
		list[k], seen[v] = int(v), true
	}
	return list, nil
}

// replyRoom is the space that a response needs beside its bulk data.
const replyRoom = 1024

// fitting returns how many of n items of this size fit into one response. If none fits, it fails.
func (s *session) fitting(n, size int) (int, error) {
	room := s.srv.limits.MaxReply - replyRoom
	if n > 0 && size > room {
		return 0, wire.Exceeds("max_reply", int64(s.srv.limits.MaxReply), int64(size+replyRoom), "--max-reply")
	}
	return min(n, room/max(1, size)), nil
}

func (s *session) snapshot(f *wire.Frame) error {
	h, err := s.handle(f)
	if err != nil {
		return err
	}
	list, err := h.selected(f, 1, "games", true)
	if err == nil {
		err = h.awake("snapshot")
	}
	if err != nil {
		return err
	}
	count, err := s.fitting(len(list), h.stateLen())
	if err != nil {
		return err
	}
	release, err := s.srv.borrow(count * h.stateLen())
	if err != nil {
		return err
	}
	defer release()
	states := make([]byte, 0, count*h.stateLen())
	for _, i := range list[:count] {
		if states, err = h.appendState(states, i); err != nil {
			return refusal("snapshot", err)
		}
	}
	return s.reply(f.ID, wire.Fields{{Name: "count", Value: count}, {Name: "state_len", Value: h.stateLen()}, {Name: "states", Value: states}})
}

// putOptions are the named arguments of restore and clone.
type putOptions struct {
	Reseed *uint64 `msgpack:"reseed"`
	Slot   *int64  `msgpack:"slot"`
}

func (s *session) restore(f *wire.Frame) error {
	h, err := s.handle(f)
	if err != nil {
		return err
	}
	list, err := h.selected(f, 1, "games", true)
	if err != nil {
		return err
	}
	states, err := f.Bin(2, "states")
	if err != nil {
		return err
	}
	if len(states) != len(list)*h.stateLen() {
		return wire.Errorf(wire.BadParams, "restore: states has %d bytes, want %d: %d for each of %d games", len(states), len(list)*h.stateLen(), h.stateLen(), len(list))
	}
	var o putOptions
	if err := f.Options(3, &o); err != nil {
		return err
	}
	p, err := h.to("restore", o.Slot)
	if err != nil {
		return err
	}
	if err := h.wake(); err != nil {
		return refusal("restore", err)
	}
	if err := h.setStates(list, states); err != nil {
		return err
	}
	return s.put(f, h, list, o, p)
}

// setStates restores all games or none.
func (h *handle) setStates(list []int, states []byte) error {
	var before []byte
	var err error
	for _, i := range list {
		if before, err = h.appendState(before, i); err != nil {
			return refusal("restore", err)
		}
	}
	n := h.stateLen()
	for k, i := range list {
		bad := h.setState(i, states[k*n:(k+1)*n])
		if bad == nil {
			continue
		}
		for k, i := range list[:k] {
			if err := h.setState(i, before[k*n:(k+1)*n]); err != nil {
				return refusal("restore", err)
			}
		}
		return wire.Errorf(wire.BadState, "restore: state %d: %v", k, bad).With("index", k)
	}
	return nil
}

// put redraws what is hidden in the restored or cloned games, if the client wants that, and responds
// with the slab. The draws of a game depend on its own number, not on the other games of the request.
func (s *session) put(f *wire.Frame, h *handle, list []int, o putOptions, p *place) error {
	for _, i := range list {
		if o.Reseed != nil {
			if err := h.env.Reseed(i, env.Derive(*o.Reseed, h.first+uint64(i))); err != nil {
				return refusal(string(f.Method), err)
			}
		}
	}
	h.ended = h.ended[:0]
	if err := h.env.Observe(p.batch); err != nil {
		return refusal(string(f.Method), err)
	}
	if err := h.finish(p); err != nil {
		return refusal(string(f.Method), err)
	}
	s.show(f.ID, h, p)
	return nil
}

func (s *session) clone(f *wire.Frame) error {
	h, err := s.handle(f)
	if err != nil {
		return err
	}
	src, err := h.selected(f, 1, "src", false)
	if err != nil {
		return err
	}
	dst, err := h.selected(f, 2, "dst", true)
	if err != nil {
		return err
	}
	if len(src) != len(dst) {
		return wire.Errorf(wire.BadParams, "clone: src has %d games and dst %d, want as many", len(src), len(dst))
	}
	var o putOptions
	if err := f.Options(3, &o); err != nil {
		return err
	}
	p, err := h.to("clone", o.Slot)
	if err != nil {
		return err
	}
	if err := h.awake("clone"); err != nil {
		return err
	}
	if err := h.copyGames(src, dst); err != nil {
		return refusal("clone", err)
	}
	return s.put(f, h, dst, o, p)
}

// copyGames copies game src[k] to game dst[k], for all k at once.
func (h *handle) copyGames(src, dst []int) error {
	written := make([]bool, h.c.Envs)
	for k, i := range dst {
		written[i] = src[k] != i
	}
	kept := map[int][]byte{} // sources that will be overwritten
	for _, i := range src {
		if !written[i] || kept[i] != nil {
			continue
		}
		b, err := h.appendState(nil, i)
		if err != nil {
			return err
		}
		kept[i] = b
	}
	for k, i := range dst {
		if b := kept[src[k]]; b != nil && src[k] != i {
			if err := h.setState(i, b); err != nil {
				return err
			}
			continue
		}
		if err := h.env.Clone(i, src[k]); err != nil {
			return err
		}
	}
	return nil
}
