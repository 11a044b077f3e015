package games

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/blockbattlebot"
	"blockyard/agents/mlp"
	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/blocking"
	"blockyard/env/dropblox"
	"blockyard/env/envtest"
	"blockyard/env/tetrisduel"
	"blockyard/env/wintetris"
)

// The mirrored features of a position are the features of the mirrored position, but for a few.
func TestMirror(t *testing.T) {
	for _, c := range []struct {
		game   *Game
		seat   func(s env.State) int
		mirror func(s env.State) env.State
		but    func(name string, row []float32) bool
	}{
		{BlockBattle, first, mirrorBlockBattle, func(name string, row []float32) bool {
			heights := slices.Sorted(slices.Values(row[:blockbattle.Width]))
			return name == "own bumps" && heights[0] == heights[1] // of the lowest columns they pass over the first
		}},
		{TetrisDuel, func(s env.State) int { return 1 - s.(*tetrisduel.State).Mover() }, mirrorDuelState,
			func(string, []float32) bool { return false }},
		{Dropblox, first, mirrorDropblox, func(name string, _ []float32) bool {
			return name == "middle" // blocks appear in one more column on the left of it than on the right
		}},
	} {
		var r env.Rand
		r.Seed(12)
		s := c.game.Rules.New(c.game.Rules.MinSeats)
		for range 100 {
			s.Reset(r.Next())
			c.game.Damage(s, &r)
			m := c.mirror(s)
			row, want := fill(c.game, s, c.seat(s)), fill(c.game, m, c.seat(m))
			c.game.Mirror(row)
			for i, name := range c.game.Features {
				if !c.but(name, row) {
					require.InDelta(t, want[i], row[i], 1e-6, name)
				}
			}
		}
	}
}

func first(env.State) int { return 0 }

func mirrorBlockBattle(s env.State) env.State {
	m := *s.(*blockbattle.State)
	for i := range m.Sides {
		slices.Reverse(m.Sides[i].Cells[:blockbattle.Width])
	}
	return &m
}

func mirrorDuelState(s env.State) env.State {
	m, kinds := *s.(*tetrisduel.State), [tetrisduel.Kinds]uint8{0, 2, 1, 3, 6, 5, 4}
	var blocks []uint8
	for i := range tetrisduel.HalfTurns {
		blocks = append(blocks, kinds[m.Block(i+1)])
	}
	draws, _ := tetrisduel.Draws(blocks)
	copy(m.Deal[:], draws)
	slices.Reverse(m.Cells[:tetrisduel.Width])
	return &m
}

func mirrorDropblox(s env.State) env.State {
	m := *s.(*dropblox.State)
	slices.Reverse(m.Taken[:dropblox.Cols])
	return &m
}

// fill returns all features of s as seat sees it.
func fill(g *Game, s env.State, seat int) []float32 {
	row, r := make([]float32, len(g.Features)), g.Reader()
	r.Shared(s, seat, row[g.Own:])
	r.Own(s, seat, row[:g.Own])
	return row
}

// The positions that training starts from are accepted, not over, and hardly ever the same. They stay what they are, or
// the commands that made the shipped networks make others. A stricter State.Check changes them, too: positions that it
// refuses are drawn again.
func TestStartsStayTheSame(t *testing.T) {
	for _, c := range []struct {
		rules *env.Game
		game  *Game
		sum   string
	}{
		{blockbattle.Game, BlockBattle, "5cd3384fbfa32f6c"},
		{tetrisduel.Game, TetrisDuel, "73e20847b8a7460e"},
		{blocking.Game, Blocking, "1dc9775bbf86ad5b"},
		{wintetris.Game, WinTetris, "cb6af90391c07fc8"},
		{wintetris.Paper10Game, WinTetrisPaper, "c16566b8730c4267"},
		{wintetris.Paper20Game, WinTetrisPaper, "499379210a86efbe"},
		{dropblox.Game, Dropblox, "652cbb44947cd1d3"},
	} {
		t.Run(c.rules.Name, func(t *testing.T) {
			g := envtest.Must(Of(c.rules))
			require.Same(t, c.game, g)
			var r env.Rand
			r.Seed(1)
			s, hash, all := c.rules.New(c.rules.MinSeats), sha256.New(), map[string]bool{}
			for range 1000 {
				s.Reset(r.Next())
				g.Damage(s, &r)
				require.NoError(t, s.Check())
				require.NotZero(t, s.Acting())
				data := envtest.Must(env.Encode(nil, s))
				hash.Write(data)
				all[string(data)] = true
			}
			require.Greater(t, len(all), 990)
			require.Equal(t, c.sum, fmt.Sprintf("%x", hash.Sum(nil)[:8]))
		})
	}
}

// The target of a game is within 0 and 1, the higher the better a seat did, and with
// two seats what one gains the other loses.
func TestBlockingChance(t *testing.T) {
	s := blocking.New(2, 0)
	s.Reason = blocking.Blocked
	last := float32(0)
	for margin := -30; margin <= 30; margin++ {
		s.Points[0], s.Points[1] = int16(60+margin), 60
		a, b := Blocking.Chance(s, 0), Blocking.Chance(s, 1)
		require.InDelta(t, 1, a+b, 1e-6)
		require.Greater(t, a, last)
		require.Less(t, a, float32(1))
		last = a
	}
	four := blocking.New(4, 0)
	four.Reason = blocking.Blocked
	four.Points = [4]int16{30, 20, 20, 10}
	var c [4]float32
	for i := range c {
		c[i] = Blocking.Chance(four, i)
	}
	require.Greater(t, c[0], float32(.9))
	require.Equal(t, c[1], c[2])
	require.Greater(t, c[1], c[3])
}

// Blocking with other shapes is trained by the same features; its weights are those of Blocking.
func TestBlockingWithOtherShapes(t *testing.T) {
	lines := blocking.DefaultTable.Lines()
	lines[4] = "E 1 4 ####"
	shapes := envtest.Must(blocking.ReadShapes(strings.NewReader(strings.Join(lines, "\n"))))
	rules := envtest.Must(blocking.With(blocking.NewTable(shapes)))
	g := envtest.Must(Of(rules))
	require.Same(t, rules, g.Rules)
	require.Equal(t, Blocking.Features, g.Features)
	require.Equal(t, "blocking", g.entry.Facts(g.Rules, nil).Game)
	require.Same(t, blocking.Game, Blocking.Rules)
	s := rules.New(2)
	var r env.Rand
	r.Seed(1)
	for range 20 {
		g.Damage(s, &r)
		require.True(t, s.(*blocking.State).SameTable(rules.New(2)))
	}
}

// The planner plays by the net it is given: one that prefers high stacks
// soon has one.
func TestDropbloxIsPlayedByTheNet(t *testing.T) {
	const peak = 7 // "peak"
	require.Equal(t, "peak", Dropblox.Features[peak])
	height := func(taste float32) (sum int) {
		w := make([]float32, len(Dropblox.Features))
		w[peak] = taste
		net := envtest.Must(mlp.New([]mlp.Layer{{In: len(w), Out: 1, W: w, B: []float32{0}}}))
		a := Dropblox.Solo.Planner(net, 4)
		var s dropblox.State
		s.Reset(3)
		x := make([]float32, len(w))
		for range 5 {
			act, points, ok := a(&s, x)
			require.True(t, ok)
			require.GreaterOrEqual(t, points, int(s.Points))
			require.NotZero(t, x[peak])
			require.NoError(t, env.Apply(dropblox.Game, &s, env.Alone(0, act)))
		}
		Dropblox.Reader().Own(&s, 0, x)
		return int(x[peak]*100 + 0.5)
	}
	require.Less(t, height(-1), height(1))
}

// The opponents of a game are its baseline and the other evaluators of its entry, each one new.
func TestOpponent(t *testing.T) {
	for _, o := range blockbattlebot.Entry.Others {
		require.Equal(t, o.New(), envtest.Must(BlockBattle.Opponent(o.Name)))
	}
	a, b := envtest.Must(BlockBattle.Opponent("hand")), envtest.Must(BlockBattle.Opponent("hand"))
	require.Equal(t, blockbattlebot.NewHand(), a)
	require.NotSame(t, a, b, "it belongs to one worker")
	envtest.Must(Blocking.Opponent("greedy"))
	for _, name := range []string{"", "combo", "hand:ply=2", "learned"} {
		require.ErrorContains(t, envtest.Failed(TetrisDuel.Opponent(name)), "there are hand", name)
	}
}
