package server

import (
	"slices"
	"time"

	"blockyard/rpc/session/batch"
	"blockyard/rpc/session/memory"
	"blockyard/rpc/wire"
)

// mostWait is the longest time that recv waits, in milliseconds.
const mostWait = 60_000

func (s *session) send(f *wire.Frame, h *handle) error {
	st, err := h.Streamed()
	if err != nil {
		return err
	}
	envs, actions := f.Bin(1, "envs"), f.Bin(2, "actions")
	if err := f.Err(); err != nil {
		return err
	}
	n := len(envs) / 4
	if len(envs)%4 != 0 || n > h.Config.Envs {
		return badParams("send: envs has %d bytes, want 4 for each of at most %d games", len(envs), h.Config.Envs)
	}
	if want := 2 * n * h.Env.Rows(); len(actions) != want {
		return badParams("send: %d bytes of actions, want %d: 2 for each row of the %d games", len(actions), want, n)
	}
	st.Envs = st.Envs[:n]
	copy(memory.Bytes(st.Envs), envs)
	copy(memory.Bytes(st.Actions), actions)
	if err := st.Begin(); err != nil {
		return err
	}
	s.Put(s.Done(f.ID))
	return nil
}

// recv returns the games that are done. It waits for least of them, but not longer than wait_ms, nor when no more
// games are in flight, nor when the session's next request has arrived.
func (s *session) recv(f *wire.Frame, h *handle) error {
	n := int64(h.Config.Envs)
	least := f.Int(1, "least", 1, n)
	most := f.Int(2, "most", least, n)
	wait := f.Int(3, "wait_ms", 0, mostWait)
	var to *batch.Place
	if !f.Absent(4) {
		slot := f.Int(4, "slot", 0, batch.MostSlots-1)
		if slot < int64(len(h.Slots)) {
			to = h.Slots[slot]
			most = min(most, int64(to.Games))
		} else {
			f.Fail(badParams("recv: slot %d, but the handle has %d: call share first", slot, len(h.Slots)))
		}
	}
	if err := f.Err(); err != nil {
		return err
	}
	st, err := h.Streamed()
	if err != nil {
		return err
	}
	most = min(most, int64(st.Fits))
	s.await(st, int(min(least, most)), time.Duration(wait)*time.Millisecond)
	if err := st.Receive(int(most)); err != nil {
		return err
	}
	if n := len(st.Envs); n > 0 {
		s.illegal += h.Stepped(n * h.Env.Rows())
	}
	if to != nil {
		st.Gather(to.Slab)
		h.reply = wire.AppendReceived(h.reply[:0], f.ID, memory.Bytes(st.Envs), -1)
	} else {
		size := st.SlabLen(len(st.Envs))
		h.reply = wire.AppendReceived(h.reply[:0], f.ID, memory.Bytes(st.Envs), size)
		head := len(h.reply)
		h.reply = append(h.reply, make([]byte, size)...)
		st.Gather(h.reply[head:])
	}
	s.Put(h.reply)
	return nil
}

// await waits as recv says.
func (s *session) await(st *batch.Stream, least int, wait time.Duration) {
	if wait == 0 {
		return
	}
	ready := st.Await(least)
	st.Timer.Reset(wait)
	defer st.Timer.Stop()
	for !s.Waiting() {
		select {
		case <-ready:
			return
		case <-st.Timer.C:
			return
		case <-s.Context.Done():
			return
		case <-s.Arrived:
		}
	}
}

// streamStats returns how the workers of a handle's stream spend their time.
func (s *session) streamStats(f *wire.Frame, h *handle) error {
	if h.Stream == nil {
		return s.Reply(f.ID, wire.Fields{"in_flight", 0, "done", 0, "steps", 0, "busy_s", 0.0, "workers", 0})
	}
	sent, done := h.Stream.InFlight()
	steps, busy, workers := h.Stream.Work()
	return s.Reply(f.ID, wire.Fields{
		"in_flight", sent, "done", done, "steps", steps, "busy_s", busy.Seconds(), "workers", workers,
	})
}

// What a method needs while games of its handle are in flight.
const (
	settled  = iota // that none is being stepped; otherwise it waits
	anything        // nothing
	idle            // that the games which it names are not in flight; otherwise it waits
	received        // that all have been received: the method is refused otherwise
	saved           // that the games which it names are not in flight: the method is refused otherwise
)

// pause lets a method begin that was requested while games may be in flight.
func (h *handle) pause(f *wire.Frame, need int) error {
	sent, _ := h.Stream.InFlight()
	switch {
	case sent == 0 || need == anything || (need == idle || need == saved) && h.namesIdle(f):
		return nil
	case need == received || need == saved:
		return badParams("%s: %d games were sent and have not been received: call recv first", f.Method, sent)
	}
	h.Stream.Settle()
	return nil
}

// namesIdle reports whether param 1 of a request names only games that are not in flight.
func (h *handle) namesIdle(f *wire.Frame) bool {
	if string(f.Method) == "render" {
		i := f.Int(1, "game", 0, int64(h.Config.Envs-1))
		return f.Err() == nil && h.Stream.Idle(int(i))
	}
	b := f.Bin(1, "games")
	return f.Err() == nil && b != nil && !slices.ContainsFunc(words[uint32](b), func(i uint32) bool {
		return int(i) >= h.Config.Envs || !h.Stream.Idle(int(i))
	})
}
