package server

import (
	"blockyard/rpc/session/batch"
	"blockyard/rpc/wire"
)

// gamesIn reads a set of games: nil is all, in order. If once, no game may repeat. See Err of the frame.
func (h *handle) gamesIn(f *wire.Frame, name string, b []byte, once bool) []int {
	n := h.Config.Envs
	if b == nil {
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		return all
	}
	if len(b)%4 != 0 || len(b)/4 > n {
		f.Fail(badParams("%s: %s has %d bytes, want 4 for each of at most %d games", f.Method, name, len(b), n))
		return nil
	}
	list, seen := make([]int, len(b)/4), make([]bool, n)
	for k, v := range words[uint32](b) {
		switch {
		case v >= uint32(n):
			f.Fail(badParams("%s: %s names game %d, want 0 to %d", f.Method, name, v, n-1))
			return nil
		case seen[v] && once:
			f.Fail(badParams("%s: %s names game %d twice", f.Method, name, v))
		}
		list[k], seen[v] = int(v), true
	}
	return list
}

// begunGames reads the set of games in param 1, each once. They must have been reset.
func (h *handle) begunGames(f *wire.Frame) ([]int, error) {
	list := h.gamesIn(f, "games", f.Bin(1, "games"), true)
	f.Fail(h.Awake(string(f.Method)))
	return list, f.Err()
}

// fitting returns the first games of param 1 that fit into a response of size bytes each.
func (s *session) fitting(f *wire.Frame, h *handle, size int) ([]int, error) {
	list, err := h.begunGames(f)
	if err != nil {
		return nil, err
	}
	count := s.srv.ledger.Room() / size
	if count < 1 && len(list) > 0 {
		return nil, s.srv.ledger.Fits(size)
	}
	list = list[:min(count, len(list))]
	return list, s.Reserve(len(list) * size)
}

func (s *session) snapshot(f *wire.Frame, h *handle) error {
	list, err := s.fitting(f, h, h.StateLen())
	if err != nil {
		return err
	}
	states, err := h.States(list)
	if err != nil {
		return err
	}
	return s.Reply(f.ID, wire.Fields{"count", len(list), "state_len", h.StateLen(), "states", states})
}

// putOptions are the named arguments of restore and clone, which are param 3.
type putOptions struct {
	Reseed *wire.Natural `msgpack:"reseed"`
	Slot   *int64        `msgpack:"slot"`
	at     *batch.Place  // that Slot selects
}

func (o *putOptions) read(f *wire.Frame, h *handle) error {
	err := f.Options(3, o)
	if err == nil {
		o.at, err = h.To(string(f.Method), o.Slot)
	}
	return err
}

// put redraws what is hidden in the restored or cloned games, if the client wants that, and responds with the slab.
func (s *session) put(f *wire.Frame, h *handle, list []int, o putOptions) error {
	if o.Reseed != nil {
		if err := h.Reseed(list, uint64(*o.Reseed)); err != nil {
			return err
		}
	}
	if err := h.Show(o.at); err != nil {
		return err
	}
	s.show(f.ID, h, o.at)
	return nil
}

func (s *session) restore(f *wire.Frame, h *handle) error {
	list, states := h.gamesIn(f, "games", f.Bin(1, "games"), true), f.Bin(2, "states")
	var o putOptions
	if err := o.read(f, h); err != nil {
		return err
	}
	if len(states) != len(list)*h.StateLen() {
		return badParams("restore: states has %d bytes, want %d: %d for each of %d games",
			len(states), len(list)*h.StateLen(), h.StateLen(), len(list))
	}
	if err := h.Restore(list, states); err != nil {
		return err
	}
	return s.put(f, h, list, o)
}

func (s *session) clone(f *wire.Frame, h *handle) error {
	src, dst := h.gamesIn(f, "src", f.Bin(1, "src"), false), h.gamesIn(f, "dst", f.Bin(2, "dst"), true)
	var o putOptions
	if err := o.read(f, h); err != nil {
		return err
	}
	if len(src) != len(dst) {
		return badParams("clone: src has %d games and dst %d, want as many", len(src), len(dst))
	}
	if err := h.Awake("clone"); err != nil {
		return err
	}
	if err := h.Env.CloneAll(dst, src); err != nil {
		return err
	}
	return s.put(f, h, dst, o)
}

// checkpoint responds with games, as many as fit into one response, and their head.
func (s *session) checkpoint(f *wire.Frame, h *handle) error {
	list, err := s.fitting(f, h, h.StateLen()+h.Config.Seats*batch.AgentRoom)
	if err != nil {
		return err
	}
	var o struct {
		Recordings bool `msgpack:"recordings"`
	}
	if err := f.Options(2, &o); err != nil {
		return err
	}
	saved, err := h.Save(list, o.Recordings)
	if err != nil {
		return err
	}
	fields := wire.Fields{"count", saved.Count, "head", saved.Head, "games", saved.Games, "weights", saved.Weights}
	if !o.Recordings {
		return s.Reply(f.ID, fields)
	}
	if err := s.Reserve(len(saved.Recordings)); err != nil {
		return err
	}
	return s.Reply(f.ID, append(fields, "recordings", saved.Recordings))
}

// resume continues games of a checkpoint: all of them or, after an error, none.
func (s *session) resume(f *wire.Frame, h *handle) error {
	list := h.gamesIn(f, "games", f.Bin(1, "games"), true)
	head, games := f.Bin(2, "head"), f.Bin(3, "the games of the checkpoint")
	var o struct {
		Slot       *int64 `msgpack:"slot"`
		Recordings []byte `msgpack:"recordings"`
	}
	if err := f.Options(4, &o); err != nil {
		return err
	}
	at, err := h.To("resume", o.Slot)
	if err != nil {
		return err
	}
	if err := h.Resume(list, head, games, o.Recordings); err != nil {
		return err
	}
	return s.put(f, h, nil, putOptions{at: at})
}

// weights responds with uploaded weights that an agent of the handle was loaded from.
func (s *session) weights(f *wire.Frame, h *handle) error {
	name := f.Str(1, "name")
	if err := f.Err(); err != nil {
		return err
	}
	data := h.Weights(name)
	if data == nil {
		return badParams("weights: no agent of handle %d was loaded from %.80q", h.ID, name)
	}
	if err := s.Reserve(len(data)); err != nil {
		return err
	}
	return s.Reply(f.ID, wire.Fields{"weights", data})
}
