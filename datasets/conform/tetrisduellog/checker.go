// Package tetrisduellog compares transcripts of the original engine of the Tetris duel with package tetrisduel: whole
// games (game, turn and end by "type"), placements of a block on a board ("valid"), and boards before and after full
// rows go ("before"). A replay takes the blocks and the placements from the transcript and compares every other value.
// A wrong answer must be wrong by the rules, and a late one a legal one. Boards are 75 hex digits, three per row; a
// placement in a list is a hex digit for the row, the column and the direction.
package tetrisduellog

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"blockyard/datasets/conform"
	"blockyard/env"
	"blockyard/env/falling"
	"blockyard/env/tetrisduel"
)

// New returns a checker of transcripts of the Tetris duel: whole games, lists of placements and clears.
func New() *conform.Checker {
	games := new(conform.Series[game])
	return &conform.Checker{Tag: "type", Kinds: []conform.Kind{
		conform.Line(games, "game", begin),
		conform.Line(games, "turn", turn),
		conform.Line(games, "end", end),
		conform.Keyed("list", "valid", checkList),
		conform.Keyed("clear", "before", checkClear),
	}}
}

// listRecord is a board in the mover's frame and the placements of a block on it.
type listRecord struct {
	Board string   `json:"board"`
	Block int      `json:"block"`
	All   []string `json:"all"`
	Valid []string `json:"valid"`
}

func checkList(t *conform.Tally, v conform.Values, r *listRecord) {
	board := parseBoard(r.Board)
	k, err := kindOf(r.Block)
	conform.Valid(err)
	t.At("block %c on %s", tetrisduel.Letters[k], r.Board)
	conform.Same(t, "valid", strings.Join(r.Valid, " "), listText(tetrisduel.Placements(&board, k, false, nil)))
	if r.All != nil {
		conform.Same(t, "all", strings.Join(r.All, " "), listText(tetrisduel.Placements(&board, k, true, nil)))
	}
}

// clearRecord is a board in the mover's frame before and after clearing.
type clearRecord struct {
	Before string `json:"before"`
	After  string `json:"after"`
}

func checkClear(t *conform.Tally, v conform.Values, r *clearRecord) {
	board := parseBoard(r.Before)
	parseBoard(r.After) // which is compared as text
	t.At("board %s", r.Before)
	peace, battle := tetrisduel.Clear(&board)
	v.Given(t, "after", textOf(&board), "peace", peace, "battle", battle)
}

// stats are the statistics of rules §13.
type stats struct {
	cells     [2]falling.Field // the cells that each seat placed, in its frame
	leader    int              // the leading seat, 1 or 2; 0 while nobody has led
	maxCombo  int
	steals    int
	overtakes int
}

const stealMost = 3 // the largest number of the mover's own cells in a battle row that it steals

// place updates both seats' cells for p, to be played in s, and returns the battle rows that p steals.
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

const rowDigits = 3

func parseBoard(text string) (f falling.Field) {
	if len(text) != rowDigits*tetrisduel.Height {
		conform.Malformed("a board of %d digits, want %d", len(text), rowDigits*tetrisduel.Height)
	}
	for y := 0; y < tetrisduel.Height; y++ {
		digits := text[rowDigits*y : rowDigits*(y+1)]
		row, err := strconv.ParseUint(digits, 16, 16)
		if err != nil {
			conform.Malformed("board row %d: %q, want %d hex digits", y, digits, rowDigits)
		}
		if row>>tetrisduel.Width != 0 {
			conform.Malformed("board row %d: %x is wider than %d cells", y, row, tetrisduel.Width)
		}
		for x := 0; x < tetrisduel.Width; x++ {
			if row>>x&1 != 0 {
				f.Set(x, y)
			}
		}
	}
	return f
}

// A boardText is a board as the transcript writes it, in lower case, so that case does not matter.
type boardText string

func (b *boardText) UnmarshalJSON(text []byte) error {
	*b = boardText(strings.ToLower(strings.Trim(string(text), `"`)))
	return nil
}

func textOf(f *falling.Field) boardText {
	var b strings.Builder
	for y := 0; y < tetrisduel.Height; y++ {
		row := 0
		for x := 0; x < tetrisduel.Width; x++ {
			if f.At(x, y) {
				row |= 1 << x
			}
		}
		fmt.Fprintf(&b, "%03x", row)
	}
	return boardText(b.String())
}

// listText is a list of placements in the order of the contest.
func listText(ids []env.Action) string {
	text := func(p tetrisduel.Placement) string { return fmt.Sprintf("%x%d%d", p.Y, p.X, p.D) }
	return strings.Join(conform.Each(tetrisduel.Ordered(ids), text), " ")
}

func parsePlacement(v []int) (p tetrisduel.Placement, err error) {
	if len(v) != 3 || v[0] < 0 || v[0] >= tetrisduel.Reachable || v[1] < 0 || v[1] >= tetrisduel.Width ||
		v[2] < 0 || v[2] >= tetrisduel.Directions {
		return p, fmt.Errorf("placement %v: want [y, x, d] with y 0..14, x 0..9, d 0..3", v)
	}
	return tetrisduel.Placement{Y: v[0], X: v[1], D: v[2]}, nil
}

// kindOf checks the number of a block, 1..7, and returns it from 0.
func kindOf(block int) (int, error) {
	if block < 1 || block > tetrisduel.Kinds {
		return 0, fmt.Errorf("block %d: want 1 to %d", block, tetrisduel.Kinds)
	}
	return block - 1, nil
}

func placementText(a env.Action) string {
	if a == env.None {
		return "none"
	}
	p := tetrisduel.At(a)
	return fmt.Sprint([]int{p.Y, p.X, p.D})
}
