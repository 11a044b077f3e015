package wintetris

import (
	"fmt"
	"math/rand/v2"
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
			s := g.New(1).(*State)
			s.Reset(seed + game)
			slow := slowEngine{word: seed + game}
			for !slow.over {
				slow.piece = Block{Kind: slow.draw()}
				require.Equal(t, slow.piece.Kind, s.Piece.Kind)
				places := slowDrops(&slow.f, slow.piece.Kind)
				at := make(map[env.Action]Block, len(places))
				var want []env.Action
				for _, b := range places {
					want = append(want, b.Action())
					at[b.Action()] = b
				}
				legal := s.Legal(0, nil)
				require.Equal(t, want, legal)
				require.Equal(t, places, s.Field.Drops(s.Piece.Kind, nil))
				a := legal[rng.IntN(len(legal))]
				for range 8 {
					if b := legal[rng.IntN(len(legal))]; at[b].Top() < at[a].Top() && game%4 > 0 {
						a = b
					}
				}
				s.Step(env.Alone(0, a))
				require.NoError(t, s.Check())
				for _, c := range slowCells(at[a]) {
					slow.over = slow.over || c[1] >= rows
				}
				if !slow.over {
					slow.lines += slow.f.put(at[a])
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
	seen := map[string]bool{}
	for r := range uint8(Rotations) {
		for x := range int8(Width + 2) {
			b := Block{kind, r, x - 2, Height}
			if inside := f.fits(b); !inside {
				continue
			}
			b = f.fall(b)
			cells := [Height + 6][Width]bool{}
			for _, c := range slowCells(b) {
				cells[c[1]][c[0]] = true
			}
			if key := fmt.Sprint(cells); !seen[key] {
				seen[key] = true
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
		rows := strings.Fields(row["board"])
		for i, cells := range rows {
			for x, c := range cells {
				if c == '#' {
					s.Field.Set(x, len(rows)-1-i)
				}
			}
		}
		require.NoError(t, s.Check())
		a, err := Paper10Game.Parse("r" + row["rotation"] + " x" + row["x"])
		require.NoError(t, err)
		states, actions = append(states, s), append(actions, a)
	}
	return states, actions, table
}

func TestPaperExamples(t *testing.T) {
	states, actions, table := paperExamples(t)
	for k, s := range states {
		require.NoError(t, env.Apply(Paper10Game, s, env.Alone(0, actions[k])))
		require.Equal(t, number(t, table[k]["rows removed"]), s.Score(0), "%v", table[k])
		require.Equal(t, table[k]["over"] == "yes", s.Over == LockOut, "%v", table[k])
	}
}

// Nothing of a piece that is not drawn yet can be seen.
func TestPaperHidesTheNextPiece(t *testing.T) {
	for g := range papers {
		a, b := g.New(1), g.New(1)
		a.Reset(5)
		b.CopyFrom(a)
		b.Hide(1, 99)
		require.Len(t, g.GlobalNames, Kinds)
		require.Zero(t, a.(*State).Next)
		moves := env.Alone(0, a.Legal(0, nil)[0])
		seen := map[uint8]bool{}
		for seed := range uint64(50) {
			b.CopyFrom(a)
			b.Hide(1, seed)
			b.Step(moves)
			seen[b.(*State).Piece.Kind] = true
		}
		require.Len(t, seen, Kinds)
	}
}

func TestPictureOverflow(t *testing.T) {
	states, actions, _ := paperExamples(t)
	s := states[len(states)-1]
	before, b := s.Field, target(s.Piece, actions[len(actions)-1])
	s.Step(env.Alone(0, actions[len(actions)-1]))
	require.Equal(t, LockOut, s.Over)
	draw := func(pieces ...Block) (out []string) {
		for k, row := range board(&before, 12, 0, pieces...) {
			if y := 12 - k; y >= paperRows {
				row = strings.ReplaceAll(row, ".", ":")
			}
			out = append(out, row)
		}
		return out
	}
	b.Y = paperRows + 1
	picture.Keep(t, "overflow", picture.SVG("A piece that ends above row 9: the game is over, and the full row stays", []picture.Panel{
		{Caption: "the square falls", Rows: draw(b), Left: rows(12, 0), Looks: looks, Columns: true, Lines: []int{3}},
		{Caption: "over", Rows: draw(s.Piece), Looks: looks, Lines: []int{3}},
	}))
}

// TestPictureMeasures draws what five features of rules §15.3 count in one field. What agents count has a twin of its own.
func TestPictureMeasures(t *testing.T) {
	text := []string{"...#......", "...##.....", ".#.##...#.", ".#####.#..", "##.###.##.", "#.####.###"}
	s := &State{Mode: Paper10}
	const high = 6
	for k, row := range text {
		for x, c := range row {
			if c == '#' {
				s.Field.Set(x, high-1-k)
			}
		}
	}
	solid := func(x, y int) bool { return x < 0 || x >= Width || y < 0 || s.Field.At(x, y) }
	panel := func(name string, cell func(x, y int) string) picture.Panel {
		p := picture.Panel{Rows: board(&s.Field, high-1, 0), Texts: map[[2]int]string{}, Columns: true}
		sum := 0
		for y := range high {
			for x := range Width {
				if mark := cell(x, y); mark != "" {
					p.Texts[[2]int{x, high - 1 - y}] = mark
					n := 1
					_, _ = fmt.Sscan(mark, &n)
					sum += n
				}
			}
		}
		p.Caption = fmt.Sprintf("%s: %d", name, sum)
		return p
	}
	covered := func(x, y int) bool {
		for above := y + 1; above < high; above++ {
			if s.Field.At(x, above) {
				return true
			}
		}
		return false
	}
	holes := panel("holes", func(x, y int) string {
		if !solid(x, y) && covered(x, y) {
			return "h"
		}
		return ""
	})
	depth := panel("hole depth", func(x, y int) string {
		below := y
		for solid(x, below) && below >= 0 {
			below--
		}
		if solid(x, y) && below >= 0 {
			return "d"
		}
		return ""
	})
	wells := panel("board wells", func(x, y int) string {
		n := 0
		for from := y; from < high && !solid(x, from); from++ {
			if solid(x-1, from) && solid(x+1, from) {
				n = from - y + 1
			}
		}
		if n == 0 {
			return ""
		}
		return fmt.Sprint(n)
	})
	across := panel("row transitions of these rows", func(x, y int) string {
		n := 0
		if solid(x, y) != solid(x-1, y) {
			n++
		}
		if x == Width-1 && !solid(x, y) {
			n++
		}
		return strings.TrimLeft(fmt.Sprint(n), "0")
	})
	along := panel("column transitions", func(x, y int) string {
		n := 0
		if solid(x, y) != solid(x, y-1) {
			n++
		}
		if y == high-1 && solid(x, y) {
			n++
		}
		return strings.TrimLeft(fmt.Sprint(n), "0")
	})
	steps := picture.Panel{Rows: board(&s.Field, high-1, 0), Texts: map[[2]int]string{}, Columns: true}
	heights, seen := s.Field.Heights(), map[int8]bool{}
	for x := range Width - 1 {
		d := heights[x+1] - heights[x]
		if seen[d] = true; d < -2 || d > 2 {
			delete(seen, d)
		}
		steps.Texts[[2]int{x + 1, 0}] = fmt.Sprint(d)
	}
	steps.Caption = fmt.Sprintf("steps: %d of -2 to 2", len(seen))
	picture.Keep(t, "measures", picture.SVG("What the features of the literature count in one field",
		[]picture.Panel{holes, depth, wells}, []picture.Panel{across, along, steps}))
}
