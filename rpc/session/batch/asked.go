package batch

import (
	"blockyard/env/ansi"
	"blockyard/env/vec"
)

// Client begins the spec of an opponent whom the client itself plays, when it is asked: the rest is its name, which
// records and those who watch show.
const Client = "client:"

// MostName is the most bytes of a player's name.
const MostName = 200

// Printable reports whether name may be that of a player.
func Printable(name string) bool {
	return name != "" && ansi.Plain(name, MostName) == name
}

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

	b *Batch
}

// Asked returns the asked seats of the games in list, as many as fit into room bytes, without what they see.
func (b *Batch) Asked(list []int, room int) (*Asked, error) {
	a, places := &Asked{b: b}, make([]int, len(b.Opponents.known)+1) // of each opponent's first seat
	each := func(do func(i, seat int, opponent uint16)) {
		for _, i := range list {
			for set := b.Env.Asked(i); set != 0; set = set.Rest() {
				do(i, set.First(), b.Env.Opponent(i, set.First()))
			}
		}
	}
	each(func(_, _ int, opponent uint16) { places[opponent+1]++ })
	for k := 1; k < len(places); k++ {
		places[k] += places[k-1]
	}
	for _, i := range list {
		if b.Env.Waits(i) {
			a.Waiting = append(a.Waiting, uint32(i))
		}
	}
	a.All = places[len(places)-1]
	n := min(a.All, (room-4*len(a.Waiting))/b.AskedLen())
	if n < 1 && a.All > 0 {
		return nil, b.tab.Fits(b.AskedLen() + 4*len(a.Waiting))
	}
	a.Games, a.Seats, a.Opponents = make([]uint32, n), make([]uint8, n), make([]uint16, n)
	each(func(i, seat int, opponent uint16) {
		k := places[opponent]
		if places[opponent]++; k < n {
			a.Games[k], a.Seats[k], a.Opponents[k] = uint32(i), uint8(seat), opponent
		}
	})
	return a, nil
}

// Observe writes what the seats see, on all cores.
func (a *Asked) Observe() error {
	b, n := a.b, len(a.Games)
	width, extra, mask := b.Game.Planes.Len(), b.Game.Globals(), b.Game.MaskLen()
	a.Planes, a.Globals, a.Mask = make([]uint8, n*width), make([]float32, n*extra), make([]uint8, n*mask)
	see := func(worker, k int) {
		i, seat := int(a.Games[k]), int(a.Seats[k])
		b.Env.State(i).Observe(seat, a.Planes[k*width:(k+1)*width], a.Globals[k*extra:(k+1)*extra])
		copy(a.Mask[k*mask:(k+1)*mask], b.Env.AskedMask(worker, i, seat))
	}
	if n <= few {
		for k := range n {
			see(0, k)
		}
		return nil
	}
	first, next := make([]int32, b.Config.Envs), make([]int32, n) // 1 + index of a game's seats, which are a chain
	for k, i := range a.Games {
		first[i], next[k] = int32(k+1), first[i]
	}
	return b.Env.Each(func(worker, i int) {
		for at := first[i]; at > 0; at = next[at-1] {
			see(worker, int(at-1))
		}
	})
}

// few is how many seats are observed in less time than other goroutines need to begin.
const few = 256

// AskedLen is how many bytes Asked has for each seat.
func (b *Batch) AskedLen() int {
	return 4 + 1 + 2 + b.Game.Planes.Len() + 4*b.Game.Globals() + b.Game.MaskLen()
}

// Asks reports whether the client is an opponent, in a game now or in a mixture.
func (b *Batch) Asks() bool {
	asks := false
	b.Opponents.used(func(id uint16) { asks = asks || b.Opponents.known[id].asked })
	return asks
}

// used calls do with the numbers of the opponents that a mixture has or that play in a game.
func (l *Opponents) used(do func(id uint16)) {
	for _, m := range l.mixtures {
		for _, c := range m {
			do(c.ID)
		}
	}
	for i := range l.b.Config.Envs {
		for seat := range l.mixtures {
			if id := l.b.Env.Opponent(i, seat); id != vec.NoOpponent {
				do(id)
			}
		}
	}
}
