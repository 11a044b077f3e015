package wintetrisbot

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env/envtest"
	"blockyard/env/envtest/rulebook"
	"blockyard/env/wintetris"
)

// field reads rows of a field, the lowest last.
func field(rows ...string) (f wintetris.Field) {
	for i, row := range rows {
		for x, c := range row {
			if c != '.' {
				f.Set(x, len(rows)-1-i)
			}
		}
	}
	return f
}

// block is kind in rotation r with its box in column x, dropped into f.
func block(f *wintetris.Field, kind byte, r uint8, x int8) wintetris.Block {
	k := uint8(0)
	for wintetris.Letters[k] != kind {
		k++
	}
	return f.Fall(wintetris.Block{Kind: k, Rot: r, X: x, Y: wintetris.Height})
}

// number reads a number of a table of RULES.md.
func number(text string) int { return envtest.Must(strconv.Atoi(text)) }

// book is the RULES.md of WinTetris.
func book(t *testing.T) *rulebook.Book { return rulebook.Open(t, "../../../env/wintetris") }

// TestRatings is the first table of rules §13.6.
func TestRatings(t *testing.T) {
	for _, row := range book(t).Table(t, "ratings") {
		f := field(strings.Fields(strings.ReplaceAll(row["board"], "#", "X"))...)
		b := block(&f, row["piece"][0], uint8(number(row["rotation"])), int8(number(row["x"])))
		require.EqualValues(t, number(row["rating"]), NewHand(Demo).One(&f, b), "%v", row)
	}
}

// TestFirstPiecesOfSeed1 is the second table of rules §13.6: targets, values, ticks and lines.
func TestFirstPiecesOfSeed1(t *testing.T) {
	want := map[int][5]int{} // rotation, x, value, ticks, lines
	for _, row := range book(t).Table(t, "targets") {
		want[number(row["piece"])] = [5]int{number(row["rotation"]), number(row["x"]), number(row["value"]),
			number(row["ticks"]), number(row["lines"])}
	}
	require.Len(t, want, 12)
	var e wintetris.Engine
	e.Start(1)
	s := NewSolver(NewHand(Demo), wintetris.Parts)
	for n := 1; n <= 30; n++ {
		ticks := 1
		for ; !ask(&e, s); ticks++ {
		}
		target, value, ok := s.Target()
		require.True(t, ok)
		if w, known := want[n]; known {
			require.Equal(t, w, [5]int{int(target.Rot), int(target.X), int(value), ticks, int(e.Lines)}, "piece %d", n)
		}
	}
	require.EqualValues(t, 193, e.Ticks)
	require.Equal(t, field("....X.....", ".XXXXX....", ".XXXXXX..X", "XXXXX..XXX", "XXXXXXX.XX"), e.Field)
}

// TestWholeGames are the games of rules §13.6, with the work split over four ticks and not.
func TestWholeGames(t *testing.T) {
	games := book(t).Table(t, "games")
	for seed := uint64(1); seed <= 12; seed++ {
		for k, parts := range []int{wintetris.Parts, 1} {
			var e wintetris.Engine
			s := NewSolver(NewHand(Demo), parts)
			for e.Start(seed); e.Over == wintetris.Running; {
				ask(&e, s)
			}
			require.EqualValues(t, number(games[k][fmt.Sprint(seed)]), e.Lines, "seed %d, %d parts", seed, parts)
			if ticks := map[uint64]uint64{10: 428, 12: 2513}[seed]; ticks != 0 && k == 0 {
				require.Equal(t, ticks, e.Ticks, "seed %d", seed)
				require.Equal(t, wintetris.BlockOut, e.Over, "seed %d", seed)
			}
		}
	}
}

// slowRating is rules §13.2 term by term, cell by cell.
func slowRating(f *wintetris.Field, b wintetris.Block, w Weights) float64 {
	in := map[[2]int]bool{}
	top, bottom := 0, wintetris.Height
	for _, c := range b.Cells() {
		in[c] = true
		top, bottom = max(top, c[1]+1), min(bottom, c[1]+1)
	}
	var n [Terms]int
	n[Top], n[Bottom] = top, bottom
	rows := 0
	for y := range wintetris.Height {
		full := true
		for x := range wintetris.Width {
			cell := func(x int) bool { return f.At(x, y) || in[[2]int{x, y}] }
			full = full && cell(x)
			if in[[2]int{x, y}] {
				n[Holes] += yes(y > 0 && !f.At(x, y-1) && !in[[2]int{x, y - 1}])
				n[Slots] += yes(f.At(x-1, y) && f.At(x+1, y))
			}
			n[Chasms] += yes(!f.At(x, y) && f.At(x-1, y) && f.At(x+1, y))
			n[Chasms] -= yes(!cell(x) && cell(x-1) && cell(x+1))
		}
		rows += yes(full)
	}
	if rows == 1 {
		n[Row] = 1
	} else {
		n[Rows] = rows
	}
	sum := 0.0
	for t, v := range n {
		sum += float64(v) * float64(w[t])
	}
	return sum
}

// TestRatingAgainstItsTwin rates places on fields from games with the weights of each term alone.
func TestRatingAgainstItsTwin(t *testing.T) {
	rng := rand.New(rand.NewPCG(envtest.Seed(t), 3))
	var hands [Terms + 1]*Hand
	var weights [Terms + 1]Weights
	weights[Terms] = Demo
	for i := range hands {
		if i < int(Terms) {
			weights[i][i] = 1
		}
		hands[i] = NewHand(weights[i])
	}
	for range 100 {
		var f wintetris.Field
		for y := range rng.IntN(18) {
			for x := range wintetris.Width {
				if rng.IntN(10) < 8 {
					f.Set(x, y)
				}
			}
			f[y] &^= 1 << rng.IntN(wintetris.Width)
		}
		at := wintetris.Spawn(uint8(rng.IntN(wintetris.Kinds)))
		if !f.Fits(at) {
			continue
		}
		for _, b := range f.Moves(at, nil) {
			if !b.Inside() {
				continue
			}
			for i, h := range hands {
				require.Equal(t, slowRating(&f, b, weights[i]), h.One(&f, b))
			}
		}
	}
}

// ask plays one tick with the bits of the solver.
func ask(e *wintetris.Engine, s wintetris.Solver) (locked bool) {
	return e.Tick(s.Update(&e.Field, e.Piece, e.Upcoming(), e.New))
}
