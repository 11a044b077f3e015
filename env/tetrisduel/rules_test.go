package tetrisduel

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/env/envtest/rulebook"
	"blockyard/env/falling"
)

// drawn makes a board of the rows that end with row 14: '#' filled, '.' empty.
func drawn(t *testing.T, picture string) (board falling.Field) {
	rows := strings.Fields(picture)
	for i, row := range rows {
		require.Len(t, row, Width)
		for x, c := range row {
			if c == '#' {
				board.Set(x, Reachable-len(rows)+i)
			}
		}
	}
	return board
}

// ready returns a board on which an I in column 9 clears p rows of the peace zone and w of the battle
// zone, and that placement.
func ready(p, w int) (board falling.Field, at Placement) {
	for y := Peace - p; y < Peace+w; y++ {
		for x := range Width - 1 {
			board.Set(x, y)
		}
	}
	end := Peace + w // the row below the I
	board.Set(Width-1, end)
	return board, Placement{Y: end - 3, X: Width - 1, D: 1}
}

// TestRulesExamples plays the rounds of RULES.md, and compares its table of points.
func TestRulesExamples(t *testing.T) {
	book := rulebook.Open(t, ".")
	shown := map[string]bool{} // "p+0" and "0+w"
	for _, row := range book.Table(t, "examples") {
		combo := envtest.Must(strconv.Atoi(row["combo"]))
		s := envtest.Start[*State](Game, 2, 1)
		s.Combo = int16(combo)
		for seat := range 2 {
			var p, w int
			clears := row[fmt.Sprintf("seat %d clears", seat+1)]
			envtest.Must(fmt.Sscanf(clears, "%d+%d", &p, &w))
			board, at := ready(p, w)
			if s.Deal[0] = 0; seat == 1 { // I J L O S T Z
				s.Deal[0] = 720 // J I L O S T Z
				board = Turned(&board)
			}
			s.Cells = board
			require.Contains(t, s.Legal(seat, nil), at.Action(), "%v", row)
			s.Step(env.Alone(seat, at.Action()))
			require.Equal(t, row[fmt.Sprintf("seat %d gains", seat+1)], fmt.Sprint(s.Score(seat)), "%v", row)
			shown[clears] = true
		}
		require.Equal(t, row["combo afterwards"], fmt.Sprint(s.Combo), "%v", row)
	}
	for zone, points := range book.Table(t, "points") {
		for n := range 5 {
			clears, gain := fmt.Sprintf("%d+0", n), Gain(n, 0)
			if zone == 1 {
				clears, gain = fmt.Sprintf("0+%d", n), Gain(0, n)
			}
			require.Equal(t, points[fmt.Sprint(n)], fmt.Sprint(gain))
			require.True(t, shown[clears], "no example clears %s", clears)
		}
	}
}

// TestRulesPlacements compares the lists, the counts and the equal placements of RULES.md.
func TestRulesPlacements(t *testing.T) {
	book := rulebook.Open(t, ".")
	for _, row := range book.Table(t, "lists") {
		board := drawn(t, row["board"])
		var list []string
		for _, p := range Ordered(Placements(&board, strings.Index(Letters, row["block"]), false, nil)) {
			list = append(list, Text(p.Action()))
		}
		require.Equal(t, row["legal placements"], strings.Join(list, ", "))
	}
	var empty falling.Field
	for k, row := range book.Table(t, "counts") {
		for kind := range Kinds {
			list := Placements(&empty, kind, k == 0, nil)
			require.Equal(t, row[Letters[kind:kind+1]], fmt.Sprint(len(list)))
		}
	}
	said := map[[2]int]string{}
	for _, row := range book.Table(t, "twins") {
		d := envtest.Must(strconv.Atoi(strings.TrimPrefix(row["the placement"], "y x ")))
		said[[2]int{strings.Index(Letters, row["block"]), d}] = row["covers the same cells as"]
	}
	shift := func(name string, by int8) string {
		if by == 0 {
			return name
		}
		return fmt.Sprintf("%s%+d", name, by)
	}
	for kind := range Kinds {
		for d := range Directions {
			want := ""
			if twin := twins[kind][d]; twin.to != d {
				want = fmt.Sprintf("%s %s %d", shift("y", twin.move.Y), shift("x", twin.move.X), twin.to)
			}
			require.Equal(t, want, said[[2]int{kind, d}], "block %c, direction %d", Letters[kind], d)
		}
	}
}

// People see seats counted from 1, the first red and the second blue, and the three zones.
func TestShow(t *testing.T) {
	s := envtest.Start[*State](Game, 2, 1)
	f := envtest.Frame(s)
	require.Equal(t, "seat 1 (red) falls down, seat 2 (blue) up", f.Boards[0].Name)
	require.Contains(t, f.Notes[0], "half-turn 1  seat 1 (red) plays")
	for y, want := range map[int]env.Cell{0: {Ink: 15}, 9: {Ink: 15}, 10: {Kind: env.CellZone}, 14: {Kind: env.CellZone}, 15: {Ink: 2}, 24: {Ink: 2}} {
		require.Equal(t, want, f.Boards[0].Cells[y*Width], "row %d", y)
	}
	s.Mark(f, 0, Placement{Y: 14, X: 0}.Action())
	require.EqualValues(t, 15, f.Boards[0].Cells[14*Width].Ink)
	s.Mark(f, 1, Placement{Y: 14, X: 0}.Action())
	require.EqualValues(t, 2, f.Boards[0].Cells[10*Width+9].Ink, "seat 2's row 14 is row 10")
	for winner, want := range map[int8]string{0: "over by limit: seat 1 (red) wins", 1: "over by limit: seat 2 (blue) wins",
		Nobody: "over by limit: a draw"} {
		s.end(Limit, winner)
		f.Reset()
		s.Show(f)
		require.Contains(t, f.Notes, want)
	}
}

// TestRulesBlocks reads the cells of RULES.md, and turns them as it says.
func TestRulesBlocks(t *testing.T) {
	rows := rulebook.Open(t, ".").Table(t, "blocks")
	require.Len(t, rows, Kinds)
	for kind, row := range rows {
		require.Equal(t, fmt.Sprint(kind+1), row["number"])
		require.Equal(t, Letters[kind:kind+1], row["block"])
		var cells []falling.Cell
		for _, text := range strings.Fields(row["cells in direction 0"]) {
			var c falling.Cell
			envtest.Must(fmt.Sscanf(text, "(%d,%d)", &c.Y, &c.X))
			cells = append(cells, c)
		}
		for d := range Directions {
			require.ElementsMatch(t, offsets[kind][d][:], cells, "block %c, direction %d", Letters[kind], d)
			for k, c := range cells {
				cells[k] = falling.Cell{Y: c.X, X: -c.Y}
			}
		}
	}
}
