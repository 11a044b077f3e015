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

// states returns the states of games, one after the other.
func (h *handle) states(list []int) (dst []byte, err error) {
	dst = make([]byte, 0, len(list)*h.stateLen())
	for _, i := range list {
		dst = append(dst, 'B', 'Y', 'S', stateVersion)
		dst = binary.LittleEndian.AppendUint64(dst, h.kind())
		dst = binary.LittleEndian.AppendUint32(dst, uint32(h.env.Steps(i)))
		if dst, err = h.env.Snapshot(i, dst); err != nil {
			return nil, err
		}
	}
	return dst, nil
}

// setState restores game i from its part of the bytes that states wrote.
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
	return h.gamesIn(string(f.Method), name, b, once)
}

// gamesIn reads a set of games: nil is all, in order. If once, no game may repeat.
func (h *handle) gamesIn(method, name string, b []byte, once bool) ([]int, error) {
	n := h.c.Envs
	if b == nil {
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		return all, nil
	}
	if len(b)%4 != 0 || len(b)/4 > n {
		return nil, wire.Errorf(wire.BadParams, "%s: %s has %d bytes, want 4 for each of at most %d games",
			method, name, len(b), n)
	}
	list, seen := make([]int, len(b)/4), make([]bool, n)
	for k := range list {
		v := binary.LittleEndian.Uint32(b[4*k:])
		switch {
		case v >= uint32(n):
			return nil, wire.Errorf(wire.BadParams, "%s: %s names game %d, want 0 to %d", method, name, v, n-1)
		case seen[v] && once:
			return nil, wire.Errorf(wire.BadParams, "%s: %s names game %d twice", method, name, v)
		}
		list[k], seen[v] = int(v), true
	}
	return list, nil
}

// replyRoom is the space that a response needs beside its bulk data.
const replyRoom = 1024

// begunGames reads the set of games in param 1, each once. They must have been reset.
func (h *handle) begunGames(f *wire.Frame) ([]int, error) {
	list, err := h.selected(f, 1, "games", true)
	if err == nil {
		err = h.awake(string(f.Method))
	}
	return list, err
}

// fitting reads the games in param 1, of which the response has size bytes each, and returns the first of
// them that fit into one.
func (s *session) fitting(f *wire.Frame, h *handle, size int) ([]int, error) {
	list, err := h.begunGames(f)
	if err != nil {
		return nil, err
	}
	count := (s.srv.limits.MaxReply - replyRoom) / size
	if count < 1 && len(list) > 0 {
		return nil, s.srv.ledger.ExceedsReply(size + replyRoom)
	}
	list = list[:min(count, len(list))]
	return list, s.reserve(len(list) * size)
}

func (s *session) snapshot(f *wire.Frame, h *handle) error {
	list, err := s.fitting(f, h, h.stateLen())
	if err != nil {
		return err
	}
	states, err := h.states(list)
	if err != nil {
		return err
	}
	return s.reply(f.ID, wire.Fields{"count", len(list), "state_len", h.stateLen(), "states", states})
}

// putOptions are the named arguments of restore and clone, which are param 3.
type putOptions struct {
	Reseed *wire.Natural `msgpack:"reseed"`
	Slot   *int64        `msgpack:"slot"`
	at     *place        // that Slot selects
}

func (o *putOptions) read(f *wire.Frame, h *handle) error {
	err := f.Options(3, o)
	if err == nil {
		o.at, err = h.to(string(f.Method), o.Slot)
	}
	return err
}

func (s *session) restore(f *wire.Frame, h *handle) error {
	list, err := h.selected(f, 1, "games", true)
	if err != nil {
		return err
	}
	states, err := f.Bin(2, "states")
	if err != nil {
		return err
	}
	if len(states) != len(list)*h.stateLen() {
		return wire.Errorf(wire.BadParams, "restore: states has %d bytes, want %d: %d for each of %d games",
			len(states), len(list)*h.stateLen(), h.stateLen(), len(list))
	}
	var o putOptions
	if err := o.read(f, h); err != nil {
		return err
	}
	if !h.began {
		if err := h.reset(h.seeds, nil, h.own); err != nil {
			return err
		}
	}
	if err := h.setStates(list, states); err != nil {
		return err
	}
	return s.put(f, h, list, o)
}

// setStates restores all games or none.
func (h *handle) setStates(list []int, states []byte) error {
	before, err := h.states(list)
	if err != nil {
		return err
	}
	n := h.stateLen()
	for k, i := range list {
		bad := h.setState(i, states[k*n:(k+1)*n])
		if bad == nil {
			continue
		}
		for k, i := range list[:k] {
			if err := h.setState(i, before[k*n:(k+1)*n]); err != nil {
				return err
			}
		}
		return wire.Errorf(wire.BadState, "restore: state %d: %v", k, bad).With("index", k)
	}
	return nil
}

// put redraws what is hidden in the restored or cloned games, if the client wants that, and responds
// with the slab. The draws of a game depend on its own number, not on the other games of the request.
func (s *session) put(f *wire.Frame, h *handle, list []int, o putOptions) error {
	if o.Reseed != nil {
		for _, i := range list {
			if err := h.env.Reseed(i, env.Derive(uint64(*o.Reseed), h.first+uint64(i))); err != nil {
				return err
			}
		}
	}
	h.ended = h.ended[:0]
	if err := h.env.Observe(o.at.batch); err != nil {
		return err
	}
	if err := h.finish(o.at); err != nil {
		return err
	}
	s.show(f.ID, h, o.at)
	return nil
}

func (s *session) clone(f *wire.Frame, h *handle) error {
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
	if err := o.read(f, h); err != nil {
		return err
	}
	if err := h.awake("clone"); err != nil {
		return err
	}
	if err := h.env.CloneAll(dst, src); err != nil {
		return err
	}
	return s.put(f, h, dst, o)
}
