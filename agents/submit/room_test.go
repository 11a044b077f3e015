package submit

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/agents/bots/blockbattlebot"
	"blockyard/agents/bots/entry/toybot"
	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/agents/submit/programs/netpack"
	"blockyard/env"
	"blockyard/env/games"
)

var programs sync.Map // functions that flatten, by the game, the depth and whether there is a network

// filled is b.Source, which flattens the same program once.
func filled(t *testing.T, b Bot) (*File, error) {
	t.Helper()
	_, e, err := lookup(b.Game)
	require.NoError(t, err)
	b.Ply, err = ply(e.Submission, b.Ply)
	require.NoError(t, err)
	flatten := sync.OnceValues(func() (string, error) { return b.program(e.Submission) })
	program, _ := programs.LoadOrStore(fmt.Sprint(b.Game, b.Ply, b.Net != nil), flatten)
	text, err := program.(func() (string, error))()
	require.NoError(t, err)
	return b.fill(text)
}

func TestTextLen(t *testing.T) {
	for _, sizes := range [][]int{{3, 1}, {10, 9, 1}, {29, 7, 5, 1}, {127, 64, 1}} {
		for _, bits := range []int{netpack.Fewest, 16, 23, netpack.Exact} {
			text, err := netpack.Encode(toybot.RandomNet(t, 1, sizes...), bits)
			require.NoError(t, err)
			require.Equal(t, len(text), textLen(sizes, bits), "%v with %d bits", sizes, bits)
		}
	}
}

// The files of the shipped networks keep characters free at the least and the greatest depth.
func TestShippedBotsHaveRoom(t *testing.T) {
	files := 0
	for _, e := range submitted() {
		for _, ply := range slices.Compact([]int{min(2, e.Submission.MaxPly), e.Submission.MaxPly}) {
			f, err := filled(t, Bot{Game: e.Game, Net: shipped(t, e.Game), Ply: ply})
			require.NoError(t, err)
			free := MaxChars - utf8.RuneCount(f.Source)
			t.Logf("%s, ply %d: %d characters free, %d bits per weight", e.Game, ply, free, f.Bits)
			require.GreaterOrEqual(t, free, 5000, e.Game)
			files++
		}
	}
	require.Equal(t, 7, files)
}

// The error for a network that is too large says how many hidden units fit: that many do, and one more does not.
func TestTooLargeNetwork(t *testing.T) {
	with := func(hidden ...int) (*File, error) {
		sizes := slices.Concat([]int{blockbattlebot.Len}, hidden, []int{1})
		return filled(t, Bot{Game: "blockbattle", Net: toybot.RandomNet(t, 1, sizes...)})
	}
	f, err := with(8)
	require.NoError(t, err)
	one := toybot.RandomNet(t, 1, blockbattlebot.Len, 1, 1)
	rounded, exact := units(one, f.Room, fewestBits), units(one, f.Room, netpack.Exact)
	t.Logf("%d characters for a network: %s", f.Room, fitting(one, f.Room))
	for _, c := range []struct{ hidden, least, most int }{
		{8, netpack.Exact, netpack.Exact}, {exact, netpack.Exact, netpack.Exact}, {exact + 1, fewestBits, netpack.Exact - 1},
		{rounded, fewestBits, fewestBits},
	} {
		f, err = with(c.hidden)
		require.NoError(t, err)
		require.True(t, c.least <= f.Bits && f.Bits <= c.most, "%d hidden units: %d bits", c.hidden, f.Bits)
	}
	_, err = with(rounded + 1)
	require.ErrorContains(t, err, "train one with "+fitting(one, f.Room))
	_, err = with(300, 300)
	require.ErrorContains(t, err, "hidden units in each of 2 layers")
}

// The numbers of hidden units that docs/contest.md states fit, and are at most a sixth too low.
func TestSizesInTheDocs(t *testing.T) {
	page, err := os.ReadFile("../../rpc/python/docs/contest.md")
	require.NoError(t, err)
	row := regexp.MustCompile(`(?m)\| (\d+) \| (\d+) \| .blockyard bundle (\w+)(?: --ply (\d))? --out`)
	rows := row.FindAllSubmatch(page, -1)
	require.Len(t, rows, 5)
	for _, r := range rows {
		g, err := games.Lookup(string(r[3]))
		require.NoError(t, err)
		ply, _ := strconv.Atoi(string(r[4]))
		net := toybot.RandomNet(t, 1, len(bots.Features(g).Names), 1, 1)
		f, err := filled(t, Bot{Game: g.Name, Net: net, Ply: ply})
		require.NoError(t, err)
		for i, bits := range []int{netpack.Exact, fewestBits} {
			stated, err := strconv.Atoi(string(r[1+i]))
			require.NoError(t, err)
			fits := units(net, f.Room, bits)
			require.LessOrEqual(t, stated, fits, "%s", r[0])
			require.GreaterOrEqual(t, 6*stated, 5*fits, "%s", r[0])
		}
	}
}

// A shipped network whose weights a file rounds chooses as the exact one does: on at most three of two hundred positions
// another action, in 200 positions and, if BLOCKYARD_LONG is set, in 20,000. Of these it is 45 in Block Battle.
func TestRoundedNetworksChooseAlike(t *testing.T) {
	for _, name := range []string{"blockbattle", "tetrisduel"} {
		g, e, err := lookup(name)
		require.NoError(t, err)
		exact := shipped(t, name)
		f, err := filled(t, Bot{Game: name, Net: exact, Ply: e.Submission.MaxPly}) // its weights have the fewest bits
		require.NoError(t, err)
		text, err := netpack.Encode(exact, f.Bits)
		require.NoError(t, err)
		want := 20 * positions(10)
		others := differing(t, g, want, exact, netpack.Trusted(text))
		t.Logf("%s, %d bits per weight: another action in %d of %d positions", name, f.Bits, others, want)
		require.LessOrEqual(t, others, 3*want/200)
	}
}

// differing plays games with the first of two networks and random moves, and returns in how many of n positions the
// other one chooses another action.
func differing(t *testing.T, g *env.Game, n int, nets ...*mlp.Net) (others int) {
	t.Helper()
	agents := []env.Agent{search.NewRandom(5)}
	for _, net := range nets {
		agent, err := search.New(g, bots.Of(g).Learned.New(net).(search.Evaluator), search.Options{})
		require.NoError(t, err)
		agents = append(agents, agent)
	}
	s, view := g.New(g.MinSeats), g.New(g.MinSeats)
	for seed := uint64(0); n > 0; seed++ {
		s.Reset(seed)
		for ply := 0; s.Acting() != 0 && n > 0; ply++ {
			m := env.NoMoves
			for set := s.Acting(); set != 0; set = set.Rest() {
				seat := set.First()
				var chosen [3]env.Action
				for i, agent := range agents {
					env.View(view, s, seat, seed)
					var err error
					chosen[i], err = agent.Act(t.Context(), view, seat)
					require.NoError(t, err)
				}
				if n--; chosen[1] != chosen[2] {
					others++
				}
				if m[seat] = chosen[1]; (ply+seat)%5 == 0 {
					m[seat] = chosen[0]
				}
			}
			require.NoError(t, env.Apply(g, s, m))
		}
	}
	return others
}
