package server

import (
	"blockyard/env"
	"blockyard/env/vec"
	"blockyard/rpc/wire"
)

// legalRows are the lists of legal actions of the rows of some games in compressed sparse row (CSR)
// form: the list of row k is actions[indptr[k]:indptr[k+1]].
type legalRows struct {
	games  []int
	indptr []uint32
}

func (l *legalRows) total() int { return int(l.indptr[len(l.indptr)-1]) }

// legalRows counts the legal actions of the rows of the games that param 1 selects. It stops before the
// game with which the response, of size bytes per action, would exceed the limit.
func (s *session) legalRows(f *wire.Frame, h *handle, size int) (l legalRows, err error) {
	list, err := h.begunGames(f)
	if err != nil {
		return l, err
	}
	rows := h.env.Rows()
	l = legalRows{games: list, indptr: make([]uint32, 1, 1+len(list)*rows)}
	var buf []env.Action
	total := 0
	for k, i := range list {
		start := len(l.indptr)
		for r := range rows {
			buf = h.legal(i, r, buf[:0])
			total += len(buf)
			l.indptr = append(l.indptr, uint32(total))
		}
		if total*size+4*len(l.indptr) > s.srv.limits.MaxReply-replyRoom {
			l.games, l.indptr = list[:k], l.indptr[:start]
			break
		}
	}
	if len(l.games) == 0 && len(list) > 0 {
		return l, s.srv.ledger.ExceedsReply(rows * h.game.MaxLegal * size)
	}
	return l, nil
}

// legal appends the legal actions of row r of game i: the action 0, which is ignored, if the row need not
// act, so that every row has one.
func (h *handle) legal(i, r int, dst []env.Action) []env.Action {
	n := len(dst)
	if dst = h.env.Legal(i, r, dst); len(dst) == n {
		dst = append(dst, 0)
	}
	return dst
}

// idle reports whether row r of game i need not act.
func (h *handle) idle(i, r int) bool {
	return h.env.Seat(i, r) == vec.NoSeat || h.env.State(i).Acting() == 0
}

func (s *session) legal(f *wire.Frame, h *handle) error {
	l, err := s.legalRows(f, h, 2)
	if err != nil {
		return err
	}
	if err := s.reserve(2*l.total() + 4*len(l.indptr)); err != nil {
		return err
	}
	actions := make([]env.Action, 0, l.total())
	for _, i := range l.games {
		for r := range h.env.Rows() {
			actions = h.legal(i, r, actions)
		}
	}
	return s.reply(f.ID, wire.Fields{"count", len(l.games), "indptr", bytesOf(l.indptr), "actions", bytesOf(actions)})
}

// afters are the legal actions of some rows and their afterstates.
type afters struct {
	legalRows
	h       *handle
	seed    uint64
	actions []env.Action
	reward  []float32
	done    []uint8
}

// newAfters reads a request for afterstates whose response has size bytes for each, apart from what
// afters holds.
func (s *session) newAfters(f *wire.Frame, h *handle, size int) (*afters, error) {
	size += 2 + 4 + 1 // action, reward and done
	l, err := s.legalRows(f, h, size)
	if err != nil {
		return nil, err
	}
	h.asked++
	o := struct {
		Seed wire.Natural `msgpack:"seed"`
	}{wire.Natural(env.Derive(uint64(h.id), h.asked))}
	if err := f.Options(2, &o); err != nil {
		return nil, err
	}
	m := l.total()
	if err := s.reserve(m*size + 4*len(l.indptr)); err != nil {
		return nil, err
	}
	return &afters{legalRows: l, h: h, seed: uint64(o.Seed), actions: make([]env.Action, m), reward: make([]float32, m),
		done: make([]uint8, m)}, nil
}

// fields is the result of a request, with the entries of more between actions and reward.
func (a *afters) fields(more ...any) wire.Fields {
	head := wire.Fields{"count", len(a.games), "indptr", bytesOf(a.indptr), "actions", bytesOf(a.actions)}
	return append(append(head, more...), "reward", bytesOf(a.reward), "done", a.done)
}

// An afterstate is one element of afters.
type afterstate struct {
	env.State
	seat   int  // whose action led to it
	idle   bool // the seat need not act: the position is as it was, and the seat may be vec.NoSeat
	at     int  // its index
	alike  int  // index of an earlier one of the same row in which the game goes on too; -1 for none
	worker int
}

// afterstates returns, for every legal action of every row, what the row's seat observes after it.
func (s *session) afterstates(f *wire.Frame, h *handle) error {
	planes, globals := h.game.Planes.Len(), h.game.Globals()
	a, err := s.newAfters(f, h, planes+4*globals)
	if err != nil {
		return err
	}
	p, g := make([]uint8, len(a.actions)*planes), make([]float32, len(a.actions)*globals)
	err = a.each(func(after *afterstate) {
		if after.seat == vec.NoSeat {
			return
		}
		m := after.at
		after.Observe(after.seat, p[m*planes:(m+1)*planes], g[m*globals:(m+1)*globals])
	})
	if err != nil {
		return err
	}
	return s.reply(f.ID, a.fields("planes", p, "globals", bytesOf(g)))
}

// each calls do for every afterstate, on all cores, those of a row in order.
func (a *afters) each(do func(*afterstate)) error {
	h := a.h
	if h.scratch == nil {
		for range 2 * h.c.Workers {
			h.scratch = append(h.scratch, h.game.New(h.c.Seats))
		}
	}
	rows := h.env.Rows()
	place := make([]int, h.c.Envs) // 1 + where a game is in the list
	for k, i := range a.games {
		place[i] = k + 1
	}
	return h.env.Each(func(worker, i int) {
		if place[i] == 0 {
			return
		}
		for r := range rows {
			a.row(worker, i, r, (place[i]-1)*rows+r, do)
		}
	})
}

// row plays the actions of row r of game i, which is row k of a, on copies of the position. All of them
// get the same random draws, so that differences between them are due to the actions. The draws depend
// on the number of the game, not on the other games of the request.
func (a *afters) row(worker, i, r, k int, do func(*afterstate)) {
	h, first, end := a.h, int(a.indptr[k]), int(a.indptr[k+1])
	if h.idle(i, r) {
		now := h.env.State(i)
		if now.Acting() == 0 {
			a.done[first] = 1
		}
		do(&afterstate{State: now, seat: h.env.Shows(i, r), idle: true, at: first, alike: -1, worker: worker})
		return
	}
	view := h.scratch[2*worker]
	after := afterstate{State: h.scratch[2*worker+1], seat: h.env.Seat(i, r), alike: -1, worker: worker}
	h.env.Legal(i, r, a.actions[first:first:end])
	draws := env.Derive(a.seed, (h.first+uint64(i))*uint64(h.env.Rows())+uint64(r))
	env.View(view, h.env.State(i), after.seat, draws)
	before := h.measure(view, after.seat)
	for m := first; m < end; m++ {
		after.CopyFrom(view)
		env.After(after.State, after.seat, a.actions[m])
		a.reward[m] = h.measure(after.State, after.seat) - before
		over := after.Acting() == 0
		if over {
			a.done[m] = 1
		}
		after.at = m
		do(&after)
		if !over {
			after.alike = m
		}
	}
}

// measure is the quantity whose changes are the rewards of the handle.
func (h *handle) measure(s env.State, seat int) float32 {
	if h.c.Reward == vec.RewardScore {
		return float32(s.Score(seat))
	}
	return s.Result(seat)
}
