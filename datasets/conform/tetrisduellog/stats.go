package tetrisduellog

import (
	"math/bits"

	"blockyard/env/falling"
	"blockyard/env/tetrisduel"
)

// stats are the statistics of rules §11.
type stats struct {
	cells     [2]falling.Field // the cells that each seat placed, in its frame
	leader    int              // the leading seat, 1 or 2; 0 while nobody has led
	maxCombo  int
	steals    int
	overtakes int
}

// stealMost is the largest number of the mover's own cells in a battle row that it steals.
const stealMost = 3

// place updates the cells of both seats for placement p, which is about to be played in s. It returns
// the number of battle rows that p steals.
func (st *stats) place(s *tetrisduel.State, p tetrisduel.Placement) (steals int) {
	const reachable, peace = 1<<tetrisduel.Reachable - 1, 1<<tetrisduel.Peace - 1
	seat, kind := s.Mover(), s.Block(int(s.Turn))
	board, own := s.Board(seat), st.cells[seat]
	tetrisduel.Put(&board, kind, p)
	tetrisduel.Put(&own, kind, p)
	cleared := board.Full(tetrisduel.Width) & reachable
	battle := cleared &^ peace
	for rows := battle; rows != 0; rows &= rows - 1 {
		mine := 0
		for x := range tetrisduel.Width {
			mine += int(own[x] >> bits.TrailingZeros64(rows) & 1)
		}
		if mine <= stealMost {
			steals++
		}
	}
	if battle != 0 {
		cleared |= reachable &^ board.Any()
	}
	board.Clear(cleared)
	own.Clear(cleared)
	for x := range own {
		board[x] &^= own[x]
	}
	st.cells[seat], st.cells[1-seat] = own, tetrisduel.Turned(&board)
	return steals
}

// count updates the other statistics after a placement was played in s.
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
