package dropblox

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/env/envtest/rulebook"
)

// A seed is a whole number, of which the sign makes no difference. RULES.md has the first numbers of some.
func TestKey(t *testing.T) {
	for _, same := range []string{"+1234", "-1234"} {
		require.Equal(t, envtest.Must(Key("1234")), envtest.Must(Key(same)))
	}
	for _, bad := range []string{"", "-", "1.5", "0x10", "12a", "--1", string(make([]byte, 9000))} {
		require.Error(t, envtest.Failed(Key(bad)), "%q", bad)
	}
}

// The first types drawn (rules §11.3), seven at score 0 and the others at another.
func TestDraws(t *testing.T) {
	for _, c := range []struct {
		seed  string
		then  int
		types []uint16
	}{
		{"0", 0, []uint16{21, 7, 11, 8, 16, 14, 21, 7, 28, 26, 21, 19, 2, 17, 28, 25, 23, 0, 11, 19}},
		{"50", 0, []uint16{7, 7, 28, 9, 2, 23, 9, 28, 17, 18, 27, 23, 18, 6, 26, 3, 7, 13, 6, 11}},
		{"1234", 0, []uint16{12, 81, 16, 2, 6, 22, 18, 4, 3, 14, 1, 13, 2, 7, 18, 10, 27, 15, 14, 12}},
		{"-1", 0, []uint16{24, 7, 13, 22, 0, 12, 0, 20, 27, 0, 15, 11, 12, 6, 14, 6, 13, 0, 16, 5}},
		{"11", 480, []uint16{16, 13, 17, 14, 22, 8, 23, 1, 27, 17, 4, 1, 68, 5881, 74, 18, 19, 24, 28, 20}},
		{"11", 1000, []uint16{16, 13, 17, 14, 22, 8, 23, 11, 27, 175, 190, 207, 3067, 5881, 10680, 2233, 2311, 3526, 28, 62}},
	} {
		var s State
		require.NoError(t, s.ResetSeed(c.seed))
		got := s.Draws(nil)
		require.Equal(t, got[0], s.Blocks[0])
		require.Equal(t, got[2], s.Blocks[1], "the second draw is thrown away")
		for s.Points = int32(c.then); len(got) < len(c.types); {
			got = append(got, uint16(s.draw()))
		}
		require.Equal(t, c.types, got, "seed %s", c.seed)
	}
}

// Draw and Chances are two ways to say the same.
func TestDrawFollowsChances(t *testing.T) {
	const n = 2000
	for _, score := range []int{0, 100, 480, 700, 1500} {
		var count [6]int
		for k := range n {
			count[levelAt((float64(k)+0.5)/n, score)]++
		}
		for k, p := range Chances(score) {
			require.InDelta(t, p, float64(count[k])/n, 1.5/n, "score %d, level %d", score, k)
		}
	}
	require.Equal(t, Types-1, Draw(0, math.Nextafter(1, 0), 5000))
}

// clutter is a board with random squares up to a random height, which may be the top.
func clutter(rng *rand.Rand) (taken Field) {
	density := rng.Float64()
	for i := rng.IntN(Rows); i < Rows; i++ {
		hole := rng.IntN(Cols)
		for j := range Cols {
			if j != hole && rng.Float64() < density {
				taken[j] |= 1 << uint(i)
			}
		}
		if rng.IntN(8) == 0 {
			density = rng.Float64() * rng.Float64()
		}
	}
	return taken
}

// covered is a board with the block's squares taken.
func covered(taken Field, b *Block) Field {
	for _, o := range b.Cells() {
		taken[b.Center.J+o.J] |= 1 << uint(b.Center.I+o.I)
	}
	return taken
}

func TestPathRefuses(t *testing.T) {
	var s State
	s.Reset(3)
	b := s.Block(0)
	shape := NewShape(&b)
	for _, p := range []Placement{{0, 6, 12}, {3, 0, 0}, {0, 6, Rows - 1 + 40}, {-1, 0, 0}, {0, 12, 4}, {4, 0, 0}} {
		_, ok := shape.Path(&s.Taken, p, nil)
		require.False(t, ok, "%v", p)
	}
	require.ErrorContains(t, envtest.Failed(s.Path(5, nil)), "5 0 0")
}

// slowTurn is rules §5 on a plain bitmap.
func slowTurn(cells [Rows][Cols]uint16, b Block) (out [Rows][Cols]uint16, rows int) {
	for _, o := range b.Cells() {
		cells[b.Center.I+o.I][b.Center.J+o.J] = uint16(b.Type) + 1
	}
	var kept [][Cols]uint16
	for _, row := range cells {
		if slices.Contains(row[:], 0) {
			kept = append(kept, row)
		}
	}
	rows = Rows - len(kept)
	copy(out[rows:], kept)
	return out, rows
}

// Step by action, and Play by the commands that lead there, make the same game; the bitmap
// is what the slow twin makes.
func TestStepAgainstCommandsAndSlowTwin(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	most := 0
	for game := range uint64(60) {
		var a, b State
		a.Reset(game)
		a.Taken = rubbleWithWell(rng)
		for at := range Rows * Cols {
			a.Cells[at/Cols][at%Cols] = uint16(a.Taken[at%Cols] >> (at / Cols) & 1)
		}
		for !a.Failed {
			legal := a.Legal(0, nil)
			act := legal[rng.IntN(len(legal))]
			for _, l := range legal { // a way to remove rows is always taken
				after := a
				if after.Step(env.Alone(0, l)); after.Points > a.Points {
					act = l
				}
			}
			b = a
			way := envtest.Must(a.Path(act, nil))
			said := a
			said.Turn(strings.Fields(a.Answer(0, act))...)
			blk := a.Block(0)
			for _, c := range way {
				require.True(t, c.Carry(&blk, &a.Taken))
			}
			blk.Drop(&a.Taken)
			cells, rows := slowTurn(a.Cells, blk)
			points := a.Points
			require.Equal(t, rows, b.Play(way))
			a.Step(env.Alone(0, act))
			require.Equal(t, a, b, Text(act))
			require.Equal(t, a, said, "played as a bot of the contest writes it")
			require.Equal(t, cells, a.Cells)
			require.Equal(t, int(points)+1<<rows-1, int(a.Points))
			most = max(most, rows)
		}
	}
	require.Greater(t, most, 2, "no turn removed several rows")
}

// rubbleWithWell is a board of full rows but for one column.
func rubbleWithWell(rng *rand.Rand) (taken Field) {
	well := rng.IntN(Cols)
	for j := range taken {
		if j != well {
			taken[j] = within &^ (1<<uint(12+rng.IntN(15)) - 1)
		}
	}
	return taken
}

// Commands of one turn, some of them ignored, and lines that are none (rules §4.2, §5, §8.3).
func TestTurn(t *testing.T) {
	var s State
	s.Reset(0) // type 21 at (8, 6)
	p := s.Turn("left", "hold", "LEFT", "up", "rotate", "drop", "left")
	require.Equal(t, []int8{Applied, Unknown, Unknown, Applied, Applied, Dropped}, p.Applied)
	require.Equal(t, Cell{7, 5}, p.Moved.Center)
	require.Equal(t, 24, p.Fall)
	s.Expire()
	before := s
	require.Empty(t, s.Turn("left").Applied)
	require.Zero(t, s.Play([]Command{Left}))
	require.Equal(t, before, s)
}

// scene makes a game with a block of a type in play, on a board of its lowest rows: '#' taken, '.' empty.
func scene(t *testing.T, kind int, picture string) *State {
	s := &State{}
	s.Force([]uint16{uint16(kind), 0, 0, 0, 0, 0, 0, 0})
	s.Reset(1)
	rulebook.Board(t, picture, Cols, func(j, up int, _ byte) {
		s.Cells[Rows-1-up][j] = 1
		s.Taken[j] |= 1 << (Rows - 1 - up)
	})
	require.NoError(t, s.Check())
	return s
}

// TestRulesExamples plays the worked examples of RULES.md, and compares its table of points.
func TestRulesExamples(t *testing.T) {
	book := rulebook.Open(t, ".")
	for _, row := range book.Table(t, "moves") {
		s := scene(t, rulebook.Number(t, row["type"]), row["board"])
		after := *s
		b := after.Turn(rulebook.Words(t, row["commands"])...).Moved
		require.Equal(t, row["centre before the drop"], fmt.Sprintf("(%d,%d)", b.Center.I, b.Center.J), "%v", row)
		b.Drop(&s.Taken)
		require.Equal(t, row["centre at rest"], fmt.Sprintf("(%d,%d)", b.Center.I, b.Center.J), "%v", row)
	}
	for _, row := range book.Table(t, "examples") {
		s := scene(t, rulebook.Number(t, row["type"]), row["board"])
		require.Equal(t, row["rows"], fmt.Sprint(s.Turn(rulebook.Words(t, row["commands"])...).Rows), "%v", row)
		require.Equal(t, row["points"], fmt.Sprint(s.Score(0)), "%v", row)
	}
	points := book.Table(t, "points")[0]
	for n := range MaxSize + 1 {
		s := scene(t, Types-1, strings.Repeat("###########. ", n))
		require.Equal(t, n, s.Turn(rulebook.Words(t, "right*9")...).Rows)
		require.Equal(t, points[fmt.Sprint(n)], fmt.Sprint(s.Score(0)))
	}
}

// TestRulesBlocks compares the tables of blocks and of draws in RULES.md.
func TestRulesBlocks(t *testing.T) {
	book := rulebook.Open(t, ".")
	from := 0
	for _, row := range book.Table(t, "types") {
		many := rulebook.Number(t, row["how many"])
		require.Equal(t, row["types"], fmt.Sprintf("%d to %d", from, from+many-1))
		for k := range many {
			require.Equal(t, row["squares"], fmt.Sprint(SizeOf(from+k)))
		}
		from += many
	}
	require.Equal(t, Types, from)
	for _, row := range book.Table(t, "appear") {
		b := BlockOf(rulebook.Number(t, row["type"]))
		var offsets []string
		for _, c := range b.Cells() {
			offsets = append(offsets, fmt.Sprintf("(%d,%d)", c.I, c.J))
		}
		require.Equal(t, row["offsets (i,j)"], strings.Join(offsets, " "))
		require.Equal(t, row["centre"], fmt.Sprintf("(%d,%d)", b.Center.I, b.Center.J))
	}
	for _, row := range book.Table(t, "uniform") {
		var g Twister
		g.Seed(envtest.Must(Key(row["seed"])))
		for _, want := range strings.Split(row["first numbers"], ", ") {
			require.Equal(t, want, strconv.FormatFloat(g.Uniform(), 'g', -1, 64))
		}
	}
	for _, row := range book.Table(t, "chances") {
		score := rulebook.Number(t, row["score"])
		for k, p := range Chances(score) {
			name := map[bool]string{true: "level 0", false: fmt.Sprint(k)}[k == 0]
			require.Equal(t, row[name], strings.TrimPrefix(fmt.Sprintf("%.4f", p), "0"), "score %d, level %d", score, k)
		}
		require.Equal(t, row["mean squares"], fmt.Sprintf("%.2f", MeanSize(score)))
	}
	for _, row := range book.Table(t, "first") {
		var s State
		require.NoError(t, s.ResetSeed(row["seed"]))
		require.Equal(t, row["the first seven types"], strings.Trim(fmt.Sprint(s.Queue[:7]), "[]"))
	}
}

// TestRulesOutput reads the lines of RULES.md.
func TestRulesOutput(t *testing.T) {
	for _, row := range rulebook.Open(t, ".").Table(t, "output") {
		commands, foreign := ReadOutput(row["line"] + "\n")
		if row["effect"] == "a command" {
			require.Len(t, commands, 1, row["line"])
		} else {
			require.Equal(t, []string{row["line"]}, foreign)
			require.Empty(t, commands)
		}
	}
}
