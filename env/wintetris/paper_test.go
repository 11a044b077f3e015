package wintetris

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/env/envtest/picture"
	"blockyard/env/envtest/rulebook"
)

var papers = map[*env.Game]int{Paper10Game: 10, Paper20Game: 20} // and their rows

// TestPaperAgainstItsTwin plays rules §15.1 word by word beside the variants, with low and with random places.
func TestPaperAgainstItsTwin(t *testing.T) {
	seed := envtest.Seed(t)
	for g, rows := range papers {
		lines := 0
		for game := range uint64(80) {
			rng := rand.New(rand.NewPCG(seed, game))
			s := envtest.Start[*State](g, 1, seed+game)
			slow := slowEngine{word: seed + game}
			for !slow.over {
				slow.piece = Block{Kind: slow.draw()}
				require.Equal(t, slow.piece.Kind, s.Piece.Kind)
				places := slowDrops(&slow.f, slow.piece.Kind)
				var want []env.Action
				for _, b := range places {
					want = append(want, b.Action())
				}
				require.Equal(t, want, s.Legal(0, nil))
				require.Equal(t, places, s.Field.Drops(s.Piece.Kind, nil))
				b := places[rng.IntN(len(places))]
				for range 8 {
					if c := places[rng.IntN(len(places))]; c.Top() < b.Top() && game%4 > 0 {
						b = c
					}
				}
				s.Step(env.Alone(0, b.Action()))
				require.NoError(t, s.Check())
				slow.over = slices.ContainsFunc(slowCells(b), func(c [2]int) bool { return c[1] >= rows })
				if !slow.over {
					slow.lines += slow.f.put(b)
				}
				require.Equal(t, slow.f.field(), s.Field)
				require.Equal(t, slow.over, s.Over == LockOut)
				require.Equal(t, slow.lines, s.Score(0))
			}
			lines += slow.lines
		}
		require.Greater(t, lines, 20, g.Name)
	}
}

// slowDrops lists each set of cells in which a piece can rest that falls from above, once.
func slowDrops(f *slowField, kind uint8) (out []Block) {
	seen := map[slowField]bool{}
	for r := range uint8(Rotations) {
		for x := range int8(Width + 2) {
			b := Block{kind, r, x - 2, Height}
			if !f.fits(b) {
				continue
			}
			b = f.fall(b)
			var cells slowField
			for _, c := range slowCells(b) {
				cells[c[1]][c[0]] = true
			}
			if !seen[cells] {
				seen[cells] = true
				out = append(out, b)
			}
		}
	}
	return out
}

// paperExamples are those of rules §15.1: positions before the action, and their rows of the table.
func paperExamples(t *testing.T) (states []*State, actions []env.Action, table []map[string]string) {
	table = rulebook.Open(t, ".").Table(t, "paper")
	for _, row := range table {
		s := Paper10Game.New(1).(*State)
		s.Piece = above(uint8(strings.Index(Letters, row["piece"])))
		rulebook.Board(t, row["board"], Width, func(x, up int, _ byte) { s.Field.Set(x, up) })
		require.NoError(t, s.Check())
		a := envtest.Must(Paper10Game.Parse("r" + row["rotation"] + " x" + row["x"]))
		states, actions = append(states, s), append(actions, a)
	}
	return states, actions, table
}

func TestPaperExamples(t *testing.T) {
	states, actions, table := paperExamples(t)
	for k, s := range states {
		require.NoError(t, env.Apply(Paper10Game, s, env.Alone(0, actions[k])))
		require.Equal(t, rulebook.Number(t, table[k]["rows removed"]), s.Score(0), "%v", table[k])
		require.Equal(t, table[k]["over"] == "yes", s.Over == LockOut, "%v", table[k])
	}
}

func TestPictureOverflow(t *testing.T) {
	states, actions, _ := paperExamples(t)
	s := states[len(states)-1]
	before, b := s.Field, target(s.Piece, actions[len(actions)-1])
	s.Step(env.Alone(0, actions[len(actions)-1]))
	require.Equal(t, LockOut, s.Over)
	draw := func(piece Block) []string {
		rows := board(&before, 12, 0, piece)
		for k, row := range rows[:13-paperRows] {
			rows[k] = strings.ReplaceAll(row, ".", ":")
		}
		return rows
	}
	b.Y = paperRows + 1
	picture.Keep(t, "overflow", picture.SVG("A piece that ends above row 9: the game is over, and the full row stays", []picture.Panel{
		{Caption: "the square falls", Rows: draw(b), Left: picture.Numbers(12, 0), Looks: looks, Columns: true, Lines: []int{3}},
		{Caption: "over", Rows: draw(s.Piece), Looks: looks, Lines: []int{3}},
	}))
}

// TestPictureMeasures draws what five features of rules §15.3 count in one field. What agents count has a twin of its own.
func TestPictureMeasures(t *testing.T) {
	const high = 6
	var f Field
	rulebook.Board(t, "...#...... ...##..... .#.##...#. .#####.#.. ##.###.##. #.####.###", Width,
		func(x, up int, _ byte) { f.Set(x, up) })
	solid := func(x, y int) bool { return x < 0 || x >= Width || y < 0 || f.At(x, y) }
	one := func(is bool) int { return map[bool]int{true: 1}[is] }
	panel := func(name, mark string, count func(x, y int) int) picture.Panel {
		p := picture.Panel{Rows: board(&f, high-1, 0), Texts: map[[2]int]string{}, Columns: true}
		sum := 0
		for y := range high {
			for x := range Width {
				if n := count(x, y); n > 0 {
					p.Texts[[2]int{x, high - 1 - y}] = cmp.Or(mark, fmt.Sprint(n))
					sum += n
				}
			}
		}
		p.Caption = fmt.Sprintf("%s: %d", name, sum)
		return p
	}
	steps := panel("steps", "", func(int, int) int { return 0 })
	heights, seen := f.Heights(), map[int8]bool{}
	for x := range Width - 1 {
		d := heights[x+1] - heights[x]
		if -2 <= d && d <= 2 {
			seen[d] = true
		}
		steps.Texts[[2]int{x + 1, 0}] = fmt.Sprint(d)
	}
	steps.Caption = fmt.Sprintf("steps: %d of -2 to 2", len(seen))
	picture.Keep(t, "measures", picture.SVG("What the features of the literature count in one field", []picture.Panel{
		panel("holes", "h", func(x, y int) int { return one(!solid(x, y) && y < int(heights[x])) }),
		panel("hole depth", "d", func(x, y int) int {
			below := y
			for below >= 0 && solid(x, below) {
				below--
			}
			return one(below >= 0 && below < y)
		}),
		panel("board wells", "", func(x, y int) (n int) {
			for from := y; from < high && !solid(x, from); from++ {
				if solid(x-1, from) && solid(x+1, from) {
					n = from - y + 1
				}
			}
			return n
		}),
	}, []picture.Panel{
		panel("row transitions of these rows", "", func(x, y int) int {
			return one(solid(x, y) != solid(x-1, y)) + one(x == Width-1 && !solid(x, y))
		}),
		panel("column transitions", "", func(x, y int) int {
			return one(solid(x, y) != solid(x, y-1)) + one(y == high-1 && solid(x, y))
		}),
		steps,
	}))
}
