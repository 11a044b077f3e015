package server

import (
	"math"
	"slices"
	"sync"
	"time"
	"unsafe"

	"blockyard/env"
	"blockyard/env/vec"
	"blockyard/rpc/session/batch"
	"blockyard/rpc/session/memory"
	"blockyard/rpc/wire"
)

// step is the hot path. It allocates nothing, except for the notification that pushFinal asks for.
func (s *session) step(f *wire.Frame, h *handle) error {
	raw := f.Bin(1, "actions")
	if err := f.Err(); err != nil {
		return err
	}
	if len(raw) != 2*h.Rows {
		return badParams("step: %d bytes of actions, want %d: 2 for each of the %d rows", len(raw), 2*h.Rows, h.Rows)
	}
	copy(memory.Bytes(h.Actions), raw)
	return s.play(f, h, h.Own)
}

// stepSlot is step with the actions and the slab in a slot.
func (s *session) stepSlot(f *wire.Frame, h *handle) error {
	slot := f.Int(1, "slot", 0, batch.MostSlots-1)
	if err := f.Err(); err != nil {
		return err
	}
	p, err := h.To("step_slot", &slot)
	if err != nil {
		return err
	}
	copy(memory.Bytes(h.Actions), p.Actions) // a copy, because the client may still change them
	return s.play(f, h, p)
}

// play steps into p and responds.
func (s *session) play(f *wire.Frame, h *handle, p *batch.Place) error {
	begun := time.Now()
	if err := h.Step(p); err != nil {
		return err
	}
	h.took = time.Since(begun)
	s.srv.ledger.Totals.Took(h.took)
	s.illegal += h.Stepped(h.Rows)
	if h.pushes && len(h.Ended) > 0 {
		return s.showEnds(f.ID, h, p)
	}
	s.show(f.ID, h, p)
	return nil
}

// show responds with the slab of p, or with true if p is shared with the client.
func (s *session) show(id uint32, h *handle, p *batch.Place) {
	s.Put(s.response(id, h, p))
}

// response is what show sends.
func (s *session) response(id uint32, h *handle, p *batch.Place) []byte {
	if p == h.Own {
		wire.PutHead(h.Message, id, len(p.Slab))
		return h.Message
	}
	return s.Done(id)
}

func (s *session) reset(f *wire.Frame, h *handle) error {
	var o struct {
		Seed  *wire.Natural `msgpack:"seed"`
		Seeds []byte        `msgpack:"seeds"`
		Mask  []byte        `msgpack:"mask"`
		Slot  *int64        `msgpack:"slot"`
	}
	if err := f.Options(1, &o); err != nil {
		return err
	}
	p, err := h.To("reset", o.Slot)
	if err != nil {
		return err
	}
	var seeds *vec.Seeds
	switch {
	case o.Seed != nil && o.Seeds != nil:
		return badParams("reset: seed and seeds are both given, want one of them")
	case o.Seed != nil:
		seeds = new(vec.From(uint64(*o.Seed) + h.First))
	case o.Seeds != nil:
		list, err := seedList("reset", o.Seeds, h.Config.Envs)
		if err != nil {
			return err
		}
		seeds = &list
	}
	mask, err := h.mask(o.Mask)
	if err != nil {
		return err
	}
	if err := h.Reset(seeds, mask, p); err != nil {
		return err
	}
	s.illegal += h.Counted()
	s.show(f.ID, h, p)
	return nil
}

// mask reads the games to reset; nil for all.
func (h *handle) mask(b []byte) ([]bool, error) {
	if b == nil {
		return nil, nil
	}
	if len(b) != h.Config.Envs {
		return nil, badParams("reset: mask has %d bytes, want one for each of the %d games", len(b), h.Config.Envs)
	}
	mask := make([]bool, len(b))
	for i := range b {
		mask[i] = b[i] != 0
	}
	if !slices.Contains(mask, true) {
		return nil, badParams("reset: mask selects no game, want at least one byte that is not 0")
	}
	return mask, nil
}

// askedSeats lists the seats that act and that the client plays as an opponent, with what they see.
func (s *session) askedSeats(f *wire.Frame, h *handle) error {
	list := h.gamesIn(f, "games", f.Bin(1, "games"), true)
	if err := f.Err(); err != nil {
		return err
	}
	a, err := h.Asked(list, s.srv.ledger.Room())
	if err != nil {
		return err
	}
	if err := s.Reserve(len(a.Games)*h.AskedLen() + 4*len(a.Waiting)); err != nil {
		return err
	}
	if err := a.Observe(); err != nil {
		return err
	}
	return s.Reply(f.ID, wire.Fields{"all", a.All, "games", memory.Bytes(a.Games), "seats", a.Seats,
		"opponents", memory.Bytes(a.Opponents), "planes", a.Planes, "globals", memory.Bytes(a.Globals), "mask", a.Mask,
		"waiting", memory.Bytes(a.Waiting)})
}

// takeAnswers takes the actions of asked seats, which the next step plays.
func (s *session) takeAnswers(f *wire.Frame, h *handle) error {
	games, seats, actions := f.Bin(1, "games"), f.Bin(2, "seats"), f.Bin(3, "actions")
	if err := f.Err(); err != nil {
		return err
	}
	if n := len(seats); len(games) != 4*n || len(actions) != 2*n || n > h.Config.Envs*h.Config.Seats {
		return badParams("answer: %d bytes of games, %d of seats and %d of actions, want 4, 1 and 2 for each answer",
			len(games), n, len(actions))
	}
	answers, played := make([]vec.Answer, len(seats)), words[env.Action](actions)
	for k, i := range words[uint32](games) {
		answers[k] = vec.Answer{Env: int(i), Seat: int(seats[k]), Action: played[k]}
	}
	if err := h.Env.Answer(answers); err != nil {
		return err
	}
	s.Put(s.Done(f.ID))
	return nil
}

// final returns the last observations of the games that ended in the last step, as many as fit into one response, from
// that of param 1 on.
func (s *session) final(f *wire.Frame, h *handle) error {
	first := int64(0)
	if !f.Absent(1) {
		first = f.Int(1, "first", 0, math.MaxUint32)
	}
	if err := f.Err(); err != nil {
		return err
	}
	last := h.Last()
	list, each := h.Ended[min(int(first), len(h.Ended)):], last.Size()
	if fit := s.srv.ledger.Room() / each; fit < len(list) {
		if fit == 0 {
			return s.srv.ledger.Fits(len(list) * each)
		}
		list = list[:fit]
	}
	if err := s.Reserve(len(list) * each); err != nil {
		return err
	}
	return s.Reply(f.ID, last.Of(list, make([]byte, len(list)*each)))
}

// pushFinal makes every step that ends games be followed by a notification with their last observations.
func (s *session) pushFinal(f *wire.Frame, h *handle) error {
	if h.Config.Autoreset != vec.SameStep {
		return badParams("push_final: the autoreset mode is %v, want SameStep", h.Config.Autoreset)
	}
	h.pushes = true
	return s.Reply(f.ID, true)
}

// pushes are memory for notifications; to allocate it at every step would keep the garbage collector busy.
var pushes = sync.Pool{New: func() any { return new([]byte) }}

// showEnds is show after a step that ended games, and the notification as one message with it. Without memory for the
// games the notification has none of them: the client then asks for them, as for those that do not fit.
func (s *session) showEnds(id uint32, h *handle, p *batch.Place) error {
	last := h.Last()
	each := last.Size()
	list := h.Ended[:min(len(h.Ended), s.srv.ledger.Room()/each)]
	if s.Memory.Try(len(list)*each) != nil {
		list = nil
	}
	buf := pushes.Get().(*[]byte)
	defer pushes.Put(buf)
	*buf = slices.Grow((*buf)[:0], len(list)*each)
	pushed, err := wire.Notify("final", h.ID, id, last.Of(list, *buf))
	if err != nil {
		return err
	}
	s.Send(append([][]byte{s.response(id, h, p)}, pushed...)...)
	return nil
}

// replay plays logged steps of games.
func (s *session) replay(f *wire.Frame, h *handle) error {
	list, err := h.begunGames(f)
	if err != nil {
		return err
	}
	logs, err := h.readLogs(f, list)
	if err != nil {
		return err
	}
	if err := h.Replay(logs); err != nil {
		return err
	}
	return s.Reply(f.ID, true)
}

// readLogs reads the steps of the games in list: their number, actions, and moves of agents.
func (h *handle) readLogs(f *wire.Frame, list []int) ([]vec.Log, error) {
	lengths, actions, moves := f.Bin(2, "lengths"), f.Bin(3, "actions"), f.Bin(4, "moves")
	if err := f.Err(); err != nil {
		return nil, err
	}
	if len(lengths) != 4*len(list) {
		return nil, badParams("replay: lengths has %d bytes, want 4 for each of %d games", len(lengths), len(list))
	}
	counts, steps := words[uint32](lengths), 0
	for _, n := range counts {
		steps += int(n)
	}
	row, move := 2*h.Env.Rows(), 0
	if h.Env.Driven().Len() < h.Config.Seats {
		move = 2 * vec.MovesLen
	}
	if len(actions) != steps*row || len(moves) != steps*move {
		return nil, badParams("replay: %d bytes of actions and %d of moves, want %d and %d: %d and %d "+
			"for each of %d steps", len(actions), len(moves), steps*row, steps*move, row, move, steps)
	}
	logs := make([]vec.Log, 0, len(list))
	for k, i := range list {
		n := int(counts[k])
		if n == 0 {
			continue
		}
		l := vec.Log{Env: i, Actions: words[env.Action](actions[:n*row])}
		if move > 0 {
			l.Moves = words[uint16](moves[:n*move])
		}
		logs = append(logs, l)
		actions, moves = actions[n*row:], moves[n*move:]
	}
	return logs, nil
}

// words reads little-endian numbers.
func words[T ~uint64 | ~uint32 | ~uint16](b []byte) []T {
	out := make([]T, len(b)/int(unsafe.Sizeof(*new(T))))
	copy(memory.Bytes(out), b)
	return out
}
