package batch

import (
	"blockyard/agents/bots/features"
	"blockyard/env"
	"blockyard/env/vec"
)

// Rows are the legal actions of the rows of some games in compressed sparse row (CSR) form: those of row k are
// Actions[Indptr[k]:Indptr[k+1]]. A row that need not act has one, 0, which is ignored.
type Rows struct {
	Games   []int
	Indptr  []uint32
	Actions []env.Action

	// Of the afterstate of each action, after Play.
	Reward []float32
	Done   []uint8

	b    *Batch
	seed uint64
}

// AfterLen is how many bytes an action, its reward and its done have together.
const AfterLen = 2 + 4 + 1

// Legal counts legal actions of rows, of as many games as fit into a response of size bytes per action.
func (b *Batch) Legal(list []int, size, room int) *Rows {
	rows := b.Env.Rows()
	l := &Rows{b: b, Games: list, Indptr: make([]uint32, 1, 1+len(list)*rows)}
	var buf []env.Action
	total := 0
	for k, i := range list {
		start := len(l.Indptr)
		for r := range rows {
			buf = b.legal(i, r, buf[:0])
			total += len(buf)
			l.Indptr = append(l.Indptr, uint32(total))
		}
		if total*size+4*len(l.Indptr) > room {
			l.Games, l.Indptr = list[:k], l.Indptr[:start]
			break
		}
	}
	return l
}

// Total is the number of actions.
func (l *Rows) Total() int { return int(l.Indptr[len(l.Indptr)-1]) }

// Fill lists the actions.
func (l *Rows) Fill() {
	l.Actions = make([]env.Action, 0, l.Total())
	for _, i := range l.Games {
		for r := range l.b.Env.Rows() {
			l.Actions = l.b.legal(i, r, l.Actions)
		}
	}
}

// legal appends the legal actions of row r of game i: the action 0, which is ignored, if it need not act.
func (b *Batch) legal(i, r int, dst []env.Action) []env.Action {
	n := len(dst)
	if dst = b.Env.Legal(i, r, dst); len(dst) == n {
		dst = append(dst, 0)
	}
	return dst
}

// idle reports whether row r of game i need not act.
func (b *Batch) idle(i, r int) bool {
	return b.Env.Seat(i, r) == vec.NoSeat || b.Env.State(i).Acting() == 0
}

// NextSeed returns a seed for afterstates that no call returned before.
func (b *Batch) NextSeed() uint64 {
	b.asked++
	return env.Derive(uint64(b.ID), b.asked)
}

// An afterstate is the position after one of the actions of Rows.
type afterstate struct {
	env.State
	seat   int  // whose action led to it
	idle   bool // the seat need not act: the position is as it was, and the seat may be vec.NoSeat
	at     int  // its index
	alike  int  // index of an earlier one of the same row in which the game goes on too; -1 for none
	worker int
}

// Observe plays every action of every row and returns what the row's seat observes after it.
func (l *Rows) Observe(seed uint64) (planes []uint8, globals []float32, err error) {
	width, extra := l.b.Game.Planes.Len(), l.b.Game.Globals()
	planes, globals = make([]uint8, l.Total()*width), make([]float32, l.Total()*extra)
	return planes, globals, l.play(seed, func(after *afterstate) {
		if after.seat == vec.NoSeat {
			return
		}
		m := after.at
		after.Observe(after.seat, planes[m*width:(m+1)*width], globals[m*extra:(m+1)*extra])
	})
}

// Features plays every action and returns the features of what follows. Afterstates that end the game, and rows that
// need not act, have none: they remain zeros.
func (l *Rows) Features(seed uint64, have *features.Set) ([]float32, error) {
	n := len(have.Names)
	rows := make([]float32, l.Total()*n)
	var readers []features.Reader // by worker
	for range l.b.Config.Workers {
		readers = append(readers, have.New())
	}
	return rows, l.play(seed, func(after *afterstate) {
		if after.idle || l.Done[after.at] != 0 {
			return
		}
		row, reader := rows[after.at*n:(after.at+1)*n], readers[after.worker]
		if after.alike >= 0 {
			copy(row[have.Own:], rows[after.alike*n+have.Own:(after.alike+1)*n])
		} else {
			reader.Shared(after.State, after.seat, row[have.Own:])
		}
		reader.Own(after.State, after.seat, row[:have.Own])
	})
}

// play lists the actions and calls do for the afterstate of each, on all cores, those of a row in order.
func (l *Rows) play(seed uint64, do func(*afterstate)) error {
	b, m := l.b, l.Total()
	l.seed, l.Actions, l.Reward, l.Done = seed, make([]env.Action, m), make([]float32, m), make([]uint8, m)
	if b.scratch == nil {
		for range 2 * b.Config.Workers {
			b.scratch = append(b.scratch, b.Game.New(b.Config.Seats))
		}
	}
	rows := b.Env.Rows()
	place := make([]int, b.Config.Envs) // 1 + where a game is in the list
	for k, i := range l.Games {
		place[i] = k + 1
	}
	return b.Env.Each(func(worker, i int) {
		if place[i] == 0 {
			return
		}
		for r := range rows {
			l.row(worker, i, r, (place[i]-1)*rows+r, do)
		}
	})
}

// row plays the actions of row r of game i, which is row k of l, on copies of the position. All of them
// get the same random draws, so that differences between them are due to the actions. The draws depend
// on the number of the game, not on the other games of the request.
func (l *Rows) row(worker, i, r, k int, do func(*afterstate)) {
	b, first, end := l.b, int(l.Indptr[k]), int(l.Indptr[k+1])
	if b.idle(i, r) {
		now := b.Env.State(i)
		if now.Acting() == 0 {
			l.Done[first] = 1
		}
		do(&afterstate{State: now, seat: b.Env.Shows(i, r), idle: true, at: first, alike: -1, worker: worker})
		return
	}
	view := b.scratch[2*worker]
	after := afterstate{State: b.scratch[2*worker+1], seat: b.Env.Seat(i, r), alike: -1, worker: worker}
	b.Env.Legal(i, r, l.Actions[first:first:end])
	draws := env.Derive(l.seed, (b.First+uint64(i))*uint64(b.Env.Rows())+uint64(r))
	env.View(view, b.Env.State(i), after.seat, draws)
	before := float32(b.Config.Reward.Measure(view, after.seat))
	for m := first; m < end; m++ {
		after.CopyFrom(view)
		env.After(after.State, after.seat, l.Actions[m])
		l.Reward[m] = float32(b.Config.Reward.Measure(after.State, after.seat)) - before
		over := after.Acting() == 0
		if over {
			l.Done[m] = 1
		}
		after.at = m
		do(&after)
		if !over {
			after.alike = m
		}
	}
}
