package batch

import (
	"blockyard/agents/bots/features"
	"blockyard/env"
	"blockyard/env/vec"
)

// Rows are the legal actions of the rows of some games in compressed sparse row (CSR) form: those of row k are
// Actions[Indptr[k]:Indptr[k+1]]. A row that need not act has one, 0, which is ignored.
type Rows struct {
	Games  []int
	Indptr []uint32
	Outcomes

	b *Batch
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

// Describe plays every action of every row and says what follows: its features, or, without have, what the row's seat
// observes.
func (l *Rows) Describe(seed uint64, have *features.Set) error {
	b, m, rows := l.b, l.Total(), l.b.Env.Rows()
	d := b.describer(have)
	l.Outcomes = Outcomes{Actions: make([]env.Action, m), Reward: make([]float32, m), Done: make([]uint8, m),
		Features: make([]float32, m*d.features), Planes: make([]uint8, m*d.planes), Globals: make([]float32, m*d.globals)}
	place := make([]int, b.Config.Envs) // 1 + where a game is in the list
	for k, i := range l.Games {
		place[i] = k + 1
	}
	return b.Env.Each(func(worker, i int) {
		if place[i] == 0 {
			return
		}
		for r := range rows {
			k := (place[i]-1)*rows + r
			first, end := int(l.Indptr[k]), int(l.Indptr[k+1])
			d.row(worker, i, r, seed, &l.Outcomes, first, b.legal(i, r, l.Actions[first:first:end]))
		}
	})
}
