package tetrisduellog

import (
	"math/bits"

	"blockyard/env/falling"
	"blockyard/env/tetrisduel"
)

// stats are the statistics of rules §11.
type stats struct {
	first     falling.Field // the cells that seat 0 laid, in its frame
	leader    int           // seat 0 or 1, counted from 1; 0 while nobody has led
	maxCombo  int
	steals    int
	overtakes int
}

// most cells of its own that a mover has in a row it steals.
const stealMost = 3

// place follows who laid which cell through the placement p, about to be played in s, and
// returns how many battle rows it steals.
func (st *stats) place(s *tetrisduel.State, p tetrisduel.Placement) int {
	seat := s.Mover()
	board, own := s.Board(seat), st.first
	if seat == 1 {
		own = tetrisduel.Turned(&st.first)
		for x := 0; x < tetrisduel.Width; x++ { // seat 1's cells are the others
			own[x] = board[x] &^ own[x]
		}
	}
	kind := s.Block(int(s.Turn))
	tetrisduel.Put(&board, kind, p)
	tetrisduel.Put(&own, kind, p)
	const battle = 1<<tetrisduel.Reachable - 1<<tetrisduel.Peace
	steals := 0
	for rows := board.Full(tetrisduel.Width) & battle; rows != 0; rows &= rows - 1 {
		mine := 0
		for x := 0; x < tetrisduel.Width; x++ {
			mine += int(own[x] >> uint(bits.TrailingZeros64(rows)) & 1)
		}
		if mine <= stealMost {
			steals++
		}
	}
	st.clear(board, own, seat)
	return steals
}

// clear takes the rows out that the rules take out of board, and keeps who laid the rest.
func (st *stats) clear(board, own falling.Field, seat int) {
	rows := board.Full(tetrisduel.Width) & (1<<tetrisduel.Reachable - 1)
	if rows>>tetrisduel.Peace != 0 {
		rows |= (1<<tetrisduel.Reachable - 1) &^ board.Any()
	}
	board.Clear(rows)
	own.Clear(rows)
	if seat == 0 {
		st.first = own
		return
	}
	for x := 0; x < tetrisduel.Width; x++ {
		own[x] = board[x] &^ own[x]
	}
	st.first = tetrisduel.Turned(&own)
}

// count follows combo and lead after a placement was played in s.
func (st *stats) count(s *tetrisduel.State, steals int) {
	st.steals += steals
	st.maxCombo = max(st.maxCombo, int(s.Combo))
	leader := st.leader
	switch d := s.Score(0) - s.Score(1); {
	case d > 0:
		leader = 1
	case d < 0:
		leader = 2
	}
	if st.leader != 0 && leader != st.leader {
		st.overtakes++
	}
	st.leader = leader
}
