package server

import (
	"blockyard/env"
	"blockyard/env/vec"
	"blockyard/rpc/wire"
)

// legalRows describes lists of legal actions, one per row of some games, in compressed sparse row
// (CSR) form: the list of row k is actions[indptr[k]:indptr[k+1]].
type legalRows struct {
	games  []int
	indptr []uint32
}

// legalRows counts the legal actions of every row of the games in list. It stops before the game
// whose rows would need more than room bytes, at size bytes per action and 4 per row.
func (h *handle) legalRows(list []int, size, room int) legalRows {
	rows := h.env.Rows()
	sp := legalRows{indptr: make([]uint32, 1, 1+len(list)*rows)}
	var buf []env.Action
	total := 0
	for k, i := range list {
		start := len(sp.indptr)
		for r := range rows {
			buf = h.env.Legal(i, r, buf[:0])
			total += len(buf)
			sp.indptr = append(sp.indptr, uint32(total))
		}
		if total*size+4*len(sp.indptr) > room {
			sp.games, sp.indptr = list[:k], sp.indptr[:start]
			return sp
		}
	}
	sp.games = list
	return sp
}

func (sp *legalRows) total() int { return int(sp.indptr[len(sp.indptr)-1]) }

func (s *session) legal(f *wire.Frame) error {
	h, sp, err := s.legalRowsParam(f, 2)
	if err != nil {
		return err
	}
	release, err := s.srv.borrow(2*sp.total() + 4*len(sp.indptr))
	if err != nil {
		return err
	}
	defer release()
	actions := make([]env.Action, 0, sp.total())
	for _, i := range sp.games {
		for r := range h.env.Rows() {
			actions = h.env.Legal(i, r, actions)
		}
	}
	return s.reply(f.ID, wire.Fields{
		{Name: "count", Value: len(sp.games)}, {Name: "indptr", Value: bytesOf(sp.indptr)}, {Name: "actions", Value: bytesOf(actions)},
	})
}

// legalRowsParam reads the handle and the games of a request and counts their legal actions; size is
// the number of bytes of one action in the response, 0 for that of an afterstate.
func (s *session) legalRowsParam(f *wire.Frame, size int) (*handle, legalRows, error) {
	h, err := s.handle(f)
	if err != nil {
		return nil, legalRows{}, err
	}
	list, err := h.selected(f, 1, "games", true)
	if err != nil {
		return nil, legalRows{}, err
	}
	if err := h.awake(string(f.Method)); err != nil {
		return nil, legalRows{}, err
	}
	if size == 0 {
		size = h.afterLen()
	}
	room := s.srv.limits.MaxReply - replyRoom
	sp := h.legalRows(list, size, room)
	if len(sp.games) == 0 && len(list) > 0 {
		asked := h.env.Rows() * h.game.MaxLegal * size
		return nil, sp, wire.Exceeds("max_reply", int64(s.srv.limits.MaxReply), int64(asked), "--max-reply")
	}
	return h, sp, nil
}

// afterLen is the number of bytes of an afterstate in a response.
func (h *handle) afterLen() int { return h.game.Planes.Len() + 4*h.game.Globals() + 4 + 1 + 2 }

// afters are the afterstates of some rows.
type afters struct {
	h       *handle
	sp      legalRows
	seed    uint64
	actions []env.Action
	planes  []uint8
	globals []float32
	reward  []float32
	done    []uint8
}

// afterstates returns, for every legal action of every row, what the row's seat observes after it.
func (s *session) afterstates(f *wire.Frame) error {
	h, sp, err := s.legalRowsParam(f, 0)
	if err != nil {
		return err
	}
	h.asked++
	o := struct {
		Seed *uint64 `msgpack:"seed"`
	}{}
	if err := f.Options(2, &o); err != nil {
		return err
	}
	a := afters{h: h, sp: sp, seed: env.Derive(uint64(h.id), h.asked)}
	if o.Seed != nil {
		a.seed = *o.Seed
	}
	m := sp.total()
	release, err := s.srv.borrow(m*h.afterLen() + 4*len(sp.indptr))
	if err != nil {
		return err
	}
	defer release()
	a.actions = make([]env.Action, m)
	a.planes = make([]uint8, m*h.game.Planes.Len())
	a.globals = make([]float32, m*h.game.Globals())
	a.reward, a.done = make([]float32, m), make([]uint8, m)
	if err := a.fill(); err != nil {
		return refusal("afterstates", err)
	}
	return s.reply(f.ID, wire.Fields{
		{Name: "count", Value: len(sp.games)}, {Name: "indptr", Value: bytesOf(sp.indptr)}, {Name: "actions", Value: bytesOf(a.actions)},
		{Name: "planes", Value: a.planes}, {Name: "globals", Value: bytesOf(a.globals)},
		{Name: "reward", Value: bytesOf(a.reward)}, {Name: "done", Value: a.done},
	})
}

// fill plays every action on a copy of its position, on all cores.
func (a *afters) fill() error {
	return a.h.eachRow(&a.sp, func(w, i, r, k int) { a.row(a.h.scratch[2*w], a.h.scratch[2*w+1], i, r, k) })
}

// eachRow calls do, on all cores, for every row r of every game i in sp, where it is row k. Worker w
// may use scratch[2*w] and scratch[2*w+1].
func (h *handle) eachRow(sp *legalRows, do func(w, i, r, k int)) error {
	if h.scratch == nil {
		for range 2 * h.c.Workers {
			h.scratch = append(h.scratch, h.game.New(h.c.Seats))
		}
	}
	place := make([]int32, h.c.Envs) // 1 + where a game is in the list
	for k, i := range sp.games {
		place[i] = int32(k + 1)
	}
	return h.env.Each(func(worker, i int) {
		if place[i] == 0 {
			return
		}
		rows := h.env.Rows()
		for r := range rows {
			do(worker, i, r, (int(place[i])-1)*rows+r)
		}
	})
}

// drawSeed is the seed of the random draws after the actions of row r of game i. It depends on the
// number of the game, not on the other games of the request.
func (h *handle) drawSeed(seed uint64, i, r int) uint64 {
	return env.Derive(seed, (h.first+uint64(i))*uint64(h.env.Rows())+uint64(r))
}

// row plays the actions of row r of game i, which is row k of sp. All of them get the same random
// draws, so that differences between them are due to the actions.
func (a *afters) row(view, after env.State, i, r, k int) {
	h, first, end := a.h, int(a.sp.indptr[k]), int(a.sp.indptr[k+1])
	if first == end {
		return
	}
	seat := h.env.Seat(i, r)
	h.env.Legal(i, r, a.actions[first:first:end])
	env.View(view, h.env.State(i), seat, h.drawSeed(a.seed, i, r))
	planes, globals := h.game.Planes.Len(), h.game.Globals()
	before := h.measure(view, seat)
	for m := first; m < end; m++ {
		after.CopyFrom(view)
		env.After(after, seat, a.actions[m])
		after.Observe(seat, a.planes[m*planes:(m+1)*planes], a.globals[m*globals:(m+1)*globals])
		a.reward[m] = h.measure(after, seat) - before
		if after.Acting() == 0 {
			a.done[m] = 1
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
