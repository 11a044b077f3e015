package batch

import (
	"cmp"
	"slices"

	"blockyard/env"
	"blockyard/env/vec"
)

// Asked are the seats of some games that act now and that the client plays as an opponent, in the order of their
// opponents' numbers, and what they see. As many as fit into a response are there, the first ones.
type Asked struct {
	Games     []uint32
	Seats     []uint8
	Opponents []uint16
	Planes    []uint8
	Globals   []float32
	Mask      []uint8

	All     int      // how many seats are asked
	Waiting []uint32 // the games that wait for their answers, although no driven seat acts
}

// Asked returns the asked seats of the games in list, as many as fit into room bytes.
func (b *Batch) Asked(list []int, room int) (*Asked, error) {
	type row struct {
		game, seat int
		opponent   uint16
	}
	a, rows := &Asked{}, []row{}
	for _, i := range list {
		if b.Env.Waits(i) {
			a.Waiting = append(a.Waiting, uint32(i))
		}
		for set := b.Env.Asked(i); set != 0; set = set.Rest() {
			rows = append(rows, row{i, set.First(), b.Env.Opponent(i, set.First())})
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.opponent, b.opponent) })
	width, extra, mask := b.Game.Planes.Len(), b.Game.Globals(), b.Game.MaskLen()
	a.All = len(rows)
	if n := (room - 4*len(a.Waiting)) / b.AskedLen(); n < len(rows) {
		if n < 1 {
			return nil, b.tab.Fits(b.AskedLen() + 4*len(a.Waiting))
		}
		rows = rows[:n]
	}
	n := len(rows)
	a.Planes, a.Globals, a.Mask = make([]uint8, n*width), make([]float32, n*extra), make([]uint8, n*mask)
	for _, r := range rows {
		a.Games, a.Seats = append(a.Games, uint32(r.game)), append(a.Seats, uint8(r.seat))
		a.Opponents = append(a.Opponents, r.opponent)
	}
	first, next := make([]int32, b.Config.Envs), make([]int32, n) // 1 + index of a game's rows, a chain
	for k := range a.Games {
		first[a.Games[k]], next[k] = int32(k+1), first[a.Games[k]]
	}
	legal := make([][]env.Action, b.Config.Workers)
	return a, b.Env.Each(func(worker, i int) {
		for at := first[i]; at > 0; at = next[at-1] {
			k, s := int(at-1), b.Env.State(i)
			s.Observe(int(a.Seats[k]), a.Planes[k*width:(k+1)*width], a.Globals[k*extra:(k+1)*extra])
			legal[worker] = s.Legal(int(a.Seats[k]), legal[worker][:0])
			for _, action := range legal[worker] {
				a.Mask[k*mask+int(action>>3)] |= 1 << (action & 7)
			}
		}
	})
}

// AskedLen is how many bytes Asked has for each seat.
func (b *Batch) AskedLen() int {
	return 4 + 1 + 2 + b.Game.Planes.Len() + 4*b.Game.Globals() + b.Game.MaskLen()
}

// Answer takes the actions of asked seats, all or, after an error, none. The next step plays them.
func (b *Batch) Answer(games []uint32, seats []uint8, actions []env.Action) error {
	answers := make([]vec.Answer, len(games))
	for k := range answers {
		answers[k] = vec.Answer{Env: int(games[k]), Seat: int(seats[k]), Action: actions[k]}
	}
	return b.Env.Answer(answers)
}

// Asks reports whether the client is an opponent, in a game now or in a mixture.
func (b *Batch) Asks() bool {
	asks := false
	b.Opponents.used(func(id uint16) { asks = asks || b.Opponents.known[id].asked })
	return asks
}
