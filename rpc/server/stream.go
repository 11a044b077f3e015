package server

import (
	"encoding/binary"
	"errors"
	"slices"
	"sort"
	"time"

	"blockyard/env"
	"blockyard/env/vec"
	"blockyard/rpc/server/limits"
	"blockyard/rpc/server/memory"
	"blockyard/rpc/wire"
)

// mostWait is the longest time that recv waits, in milliseconds.
const mostWait = 60_000

// A stream is what a handle needs for send and recv. Games are stepped in the background, each into its
// rows of the handle's own slab; recv collects the rows of those that are done.
type stream struct {
	*vec.Stream
	envs    []uint32     // of the request being answered
	actions []env.Action // of the request being answered
	reply   []byte
	fits    int // games whose rows fit into one response
	timer   *time.Timer
	fields  []streamField
}

// A streamField is a field of the slab.
type streamField struct {
	from []byte // where the games write it; nil for bits, which recv packs
	game int    // bytes per game
}

// streamed returns the handle's stream, which it starts at the first call.
func (s *session) streamed(h *handle) (*stream, error) {
	if h.stream != nil {
		return h.stream, nil
	}
	if err := h.awake("send"); err != nil {
		return nil, err
	}
	n := h.c.Envs
	st := &stream{envs: make([]uint32, 0, n), actions: make([]env.Action, h.rows), timer: time.NewTimer(0)}
	for _, f := range h.layout.Fields {
		from := h.own.slab[f.Offset : f.Offset+f.Len]
		switch f.Name {
		case "terminated":
			from = h.private.terminated
		case "truncated":
			from = h.private.truncated
		}
		st.fields = append(st.fields, streamField{from, f.Len / n})
	}
	if f := h.layout.bits; f.Name != "" {
		st.fields = append(st.fields, streamField{nil, f.Len / n})
	}
	room := s.srv.limits.MaxReply - replyRoom
	st.fits = sort.Search(n, func(k int) bool { return st.slabLen(k+1)+4*(k+1) > room })
	if st.fits == 0 {
		return nil, s.srv.ledger.ExceedsReply(st.slabLen(1) + replyRoom)
	}
	size := int64(st.slabLen(st.fits) + replyRoom + n*(4+4+4+4+1) + 2*2*h.rows)
	if err := s.account(0, 0, size); err != nil {
		return nil, err
	}
	need := limits.Use{Goroutines: min(h.c.Workers, n), Timers: 1}
	err := s.srv.ledger.Take(need)
	if err == nil {
		if st.Stream, err = h.env.Stream(h.own.batch); err != nil {
			s.srv.ledger.Give(need)
		}
	}
	if err != nil {
		s.account(0, 0, -size)
		return nil, err
	}
	h.memory += size
	h.use.Add(need)
	h.stream = st
	return st, nil
}

// slabLen is the length of the slab of k games: what open would announce for them.
func (st *stream) slabLen(k int) (n int) {
	for _, f := range st.fields {
		n = (n+cacheLine-1)&^(cacheLine-1) + (k*f.game+7)&^7
	}
	return n
}

// send begins a step of some games.
func (s *session) send(f *wire.Frame, h *handle) error {
	st, err := s.streamed(h)
	if err != nil {
		return err
	}
	envs, err := f.Bin(1, "envs")
	if err != nil {
		return err
	}
	actions, err := f.Bin(2, "actions")
	if err != nil {
		return err
	}
	n := len(envs) / 4
	if len(envs)%4 != 0 || n > h.c.Envs {
		return wire.Errorf(wire.BadParams, "send: envs has %d bytes, want 4 for each of at most %d games",
			len(envs), h.c.Envs)
	}
	if want := 2 * n * h.env.Rows(); len(actions) != want {
		return wire.Errorf(wire.BadParams, "send: %d bytes of actions, want %d: 2 for each row of the %d games",
			len(actions), want, n)
	}
	st.envs = st.envs[:n]
	for k := range st.envs {
		if st.envs[k] = binary.LittleEndian.Uint32(envs[4*k:]); int(st.envs[k]) >= h.c.Envs {
			return wire.Errorf(wire.BadParams, "send: envs names game %d, want 0 to %d", st.envs[k], h.c.Envs-1)
		}
	}
	copy(bytesOf(st.actions), actions)
	if err := st.Send(st.envs, st.actions[:n*h.env.Rows()]); err != nil {
		return sendRefusal(err)
	}
	// Their last observations may be overwritten from now on.
	h.ended = slices.DeleteFunc(h.ended, func(i int) bool { return !st.Idle(i) })
	h.now = h.own
	s.writeOne(wire.AppendDone(s.brief[:0], f.ID))
	return nil
}

// sendRefusal is the error for a request whose games cannot be sent: one that names games wrongly is malformed.
func sendRefusal(err error) error {
	if errors.Is(err, vec.ErrMisuse) {
		return wire.Errorf(wire.BadParams, "send: %v", err)
	}
	return refused("send", err)
}

// recv returns the games that are done. It waits for least of them, but not longer than wait_ms, nor when no more
// games are in flight, nor when the session's next request has arrived.
func (s *session) recv(f *wire.Frame, h *handle) error {
	n := int64(h.c.Envs)
	least, err := f.Int(1, "least", 1, n)
	if err != nil {
		return err
	}
	most, err := f.Int(2, "most", least, n)
	if err != nil {
		return err
	}
	wait, err := f.Int(3, "wait_ms", 0, mostWait)
	if err != nil {
		return err
	}
	st, err := s.streamed(h)
	if err != nil {
		return err
	}
	most = min(most, int64(st.fits))
	var to *place
	if !f.Absent(4) {
		slot, err := f.Int(4, "slot", 0, mostSlots-1)
		if err != nil {
			return err
		}
		if slot >= int64(len(h.slots)) {
			return wire.Errorf(wire.BadParams, "recv: slot %d, but the handle has %d: call share first", slot, len(h.slots))
		}
		to = h.slots[slot]
		most = min(most, int64(to.games))
	}
	s.await(st, int(min(least, most)), time.Duration(wait)*time.Millisecond)
	if st.envs, err = st.Recv(st.envs[:0], int(most)); err != nil {
		return refused(string(f.Method), err)
	}
	s.received(h, len(st.envs))
	if to != nil {
		h.gather(to.slab)
		st.reply = wire.AppendReceived(st.reply[:0], f.ID, bytesOf(st.envs), -1)
	} else {
		size := st.slabLen(len(st.envs))
		st.reply = wire.AppendReceived(st.reply[:0], f.ID, bytesOf(st.envs), size)
		head := len(st.reply)
		st.reply = append(st.reply, make([]byte, size)...)
		h.gather(st.reply[head:])
	}
	s.writeOne(st.reply)
	return nil
}

// await waits as recv says.
func (s *session) await(st *stream, least int, wait time.Duration) {
	if wait == 0 {
		return
	}
	ready := st.Await(least)
	st.timer.Reset(wait)
	defer st.timer.Stop()
	for len(s.queue) == 0 {
		select {
		case <-ready:
			return
		case <-st.timer.C:
			return
		case <-s.ctx.Done():
			return
		case <-s.arrived:
		}
	}
}

// received updates the handle and the counters after n games were received.
func (s *session) received(h *handle, n int) {
	h.ended = h.ended[:0]
	for _, i := range h.stream.envs {
		if h.private.terminated[i]|h.private.truncated[i] != 0 {
			h.ended = append(h.ended, int(i))
		}
	}
	sort.Ints(h.ended)
	if n > 0 {
		s.srv.steps.Add(1)
		s.srv.rows.Add(uint64(n * h.env.Rows()))
	}
	s.count(h)
	if h.recorder != nil {
		h.recorder.Settle()
	}
}

// gather writes the slab of the received games to dst. Rows of one game are next to each other in every field.
func (h *handle) gather(dst []byte) {
	st, at := h.stream, 0
	for _, f := range st.fields {
		gap := at
		at = (at + cacheLine - 1) &^ (cacheLine - 1)
		clear(dst[gap:at])
		for k, i := range st.envs {
			to := dst[at+k*f.game : at+(k+1)*f.game]
			if f.from != nil {
				copy(to, f.from[int(i)*f.game:])
				continue
			}
			width, each := h.game.Planes.Len(), h.game.PackedLen()
			for r := range h.env.Rows() {
				row := int(i)*h.env.Rows() + r
				memory.Pack(to[r*each:(r+1)*each], h.private.planes[row*width:(row+1)*width], h.game.CellBits())
			}
		}
		gap = at + len(st.envs)*f.game
		at += (len(st.envs)*f.game + 7) &^ 7
		clear(dst[gap:at])
	}
}

// streamStats returns how the workers of a handle's stream spend their time.
func (s *session) streamStats(f *wire.Frame, h *handle) error {
	if h.stream == nil {
		return s.reply(f.ID, wire.Fields{"in_flight", 0, "done", 0, "steps", 0, "busy_s", 0.0, "workers", 0})
	}
	sent, done := h.stream.InFlight()
	steps, busy, workers := h.stream.Work()
	return s.reply(f.ID, wire.Fields{
		"in_flight", sent, "done", done, "steps", steps, "busy_s", busy.Seconds(), "workers", workers,
	})
}

// What a method needs while games of its handle are in flight.
const (
	settled  = iota // that none is being stepped: the method waits
	anything        // nothing
	idle            // that the games which it names are not in flight; otherwise it waits
	received        // that all have been received: the method is refused otherwise
	saved           // that the games which it names are not in flight: the method is refused otherwise
)

var beside = map[string]int{
	"send": anything, "recv": anything, "stream_stats": anything, "share": anything, "close": anything, "final": anything,
	"records": anything, // it has a lock of its own
	"legal":   idle, "afterstates": idle, "features": idle, "observe": idle, "observe_text": idle,
	"snapshot": idle, "render": idle,
	"step": received, "step_slot": received, "restore": received, "clone": received, "rollout": received,
	"resume": received, "checkpoint": saved,
}

// pause lets a method begin that was requested while games may be in flight.
func (h *handle) pause(f *wire.Frame) error {
	need := beside[string(f.Method)]
	sent, _ := h.stream.InFlight()
	switch {
	case sent == 0 || need == anything || (need == idle || need == saved) && h.namesIdle(f):
		return nil
	case need == received || need == saved:
		return wire.Errorf(wire.BadParams, "%s: %d games were sent and have not been received: call recv first",
			f.Method, sent)
	}
	h.stream.Settle()
	return nil
}

// namesIdle reports whether param 1 of a request names only games that are not in flight.
func (h *handle) namesIdle(f *wire.Frame) bool {
	if string(f.Method) == "render" {
		i, err := f.Int(1, "game", 0, int64(h.c.Envs-1))
		return err == nil && h.stream.Idle(int(i))
	}
	b, err := f.Bin(1, "games")
	for k := 0; err == nil && k+4 <= len(b); k += 4 {
		i := binary.LittleEndian.Uint32(b[k:])
		if int(i) >= h.c.Envs || !h.stream.Idle(int(i)) {
			return false
		}
	}
	return err == nil && b != nil
}
