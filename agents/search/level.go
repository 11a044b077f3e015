package search

import "blockyard/env"

// A level is the memory for one ply of a search: the choices of one seat in one position,
// the positions they lead to and what these are worth. It grows and never shrinks.
type level struct {
	game  *env.Game
	legal []env.Action // the choices, ascending
	worth []float32    // of each choice
	slot  []int        // slot[k] is the choice that led to states[k]
	live  int          // how many children are not finished games

	states []env.State
	out    []float32
}

// open makes the children of s by every choice of seat, ply plies from the root, and
// gives the finished ones their worth. The live ones are states[:live]. It forces the
// draws of s.
func (l *level) open(s env.State, seat, ply int) {
	s.Force(zeros[:])
	l.legal = s.Legal(seat, l.legal[:0])
	for len(l.worth) < len(l.legal) {
		l.worth = append(l.worth, 0)
		l.slot = append(l.slot, 0)
		l.out = append(l.out, 0)
	}
	l.live = 0
	for i, a := range l.legal {
		child := l.next()
		child.CopyFrom(s)
		env.After(child, seat, a)
		if v, ended := over(child, seat, ply); ended {
			l.worth[i] = v
			continue
		}
		l.slot[l.live] = i
		l.live++
	}
}

// next returns the position after the live ones, to write in.
func (l *level) next() env.State {
	if l.live == len(l.states) {
		l.states = append(l.states, l.game.New(l.game.MinSeats))
	}
	return l.states[l.live]
}

// judge gives the live children their worth.
func (l *level) judge(e Evaluator, seat int) {
	if l.live == 0 {
		return
	}
	e.Evaluate(l.states[:l.live], seat, l.out[:l.live])
	for k, v := range l.out[:l.live] {
		l.worth[l.slot[k]] = v
	}
}

// arrange fills order with the indices of the live children: as they are, or the best of
// those judged first, equal ones as they are.
func (l *level) arrange(order []int, byWorth bool) []int {
	order = order[:0]
	for k := 0; k < l.live; k++ {
		order = append(order, k)
		for j := k; byWorth && j > 0 && l.out[k] > l.out[order[j-1]]; j-- {
			order[j], order[j-1] = order[j-1], k
		}
	}
	return order
}

// top returns the worth of the best choice, ply plies from the root. A seat that has to
// choose and cannot has lost.
func (l *level) top(ply int) float32 {
	if len(l.legal) == 0 {
		return -Win + float32(ply)
	}
	return l.worth[l.best()]
}

// best returns the first of the choices with the greatest worth. There is one at least.
func (l *level) best() int {
	at := 0
	for i := range l.legal {
		if better(l.worth[i], l.worth[at]) {
			at = i
		}
	}
	return at
}
