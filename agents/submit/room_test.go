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
	"blockyard/env/envtest"
	"blockyard/env/games"
)

var programs sync.Map // functions that flatten, by the game, the depth and whether there is a network

// filled is b.Source, which flattens the same program once.
func filled(b Bot) (*File, error) {
	_, e := envtest.Must2(lookup(b.Game))
	b.Ply = envtest.Must(ply(e.Submission, b.Ply))
	flatten := sync.OnceValues(func() (string, error) { return b.program(e.Submission) })
	program, _ := programs.LoadOrStore(fmt.Sprint(b.Game, b.Ply, b.Net != nil), flatten)
	return b.fill(envtest.Must(program.(func() (string, error))()))
}

func TestTextLen(t *testing.T) {
	for _, sizes := range [][]int{{3, 1}, {10, 9, 1}, {29, 7, 5, 1}, {127, 64, 1}} {
		for _, bits := range []int{netpack.Fewest, 16, 23, netpack.Exact} {
			text := envtest.Must(netpack.Encode(toybot.RandomNet(t, 1, sizes...), bits))
			require.Equal(t, len(text), textLen(sizes, bits), "%v with %d bits", sizes, bits)
		}
	}
}

// The files of the shipped networks keep characters free at the least and the greatest depth.
func TestShippedBotsHaveRoom(t *testing.T) {
	files := 0
	for _, e := range submitted() {
		for _, ply := range slices.Compact([]int{min(2, e.Submission.MaxPly), e.Submission.MaxPly}) {
			f := envtest.Must(filled(Bot{Game: e.Game, Net: shipped(e.Game), Ply: ply}))
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
		return filled(Bot{Game: "blockbattle", Net: toybot.RandomNet(t, 1, sizes...)})
	}
	f := envtest.Must(with(8))
	one := toybot.RandomNet(t, 1, blockbattlebot.Len, 1, 1)
	rounded, exact := units(one, f.Room, fewestBits), units(one, f.Room, netpack.Exact)
	t.Logf("%d characters for a network: %s", f.Room, fitting(one, f.Room))
	for _, c := range []struct{ hidden, least, most int }{
		{8, netpack.Exact, netpack.Exact}, {exact, netpack.Exact, netpack.Exact}, {exact + 1, fewestBits, netpack.Exact - 1},
		{rounded, fewestBits, fewestBits},
	} {
		f = envtest.Must(with(c.hidden))
		require.True(t, c.least <= f.Bits && f.Bits <= c.most, "%d hidden units: %d bits", c.hidden, f.Bits)
	}
	require.ErrorContains(t, envtest.Failed(with(rounded+1)), "train one with "+fitting(one, f.Room))
	require.ErrorContains(t, envtest.Failed(with(300, 300)), "hidden units in each of 2 layers")
}

// The numbers of hidden units that docs/contest.md states fit, and are at most a sixth too low.
func TestSizesInTheDocs(t *testing.T) {
	page := envtest.Must(os.ReadFile("../../rpc/python/docs/contest.md"))
	row := regexp.MustCompile(`(?m)\| (\d+) \| (\d+) \| .blockyard bundle (\w+)(?: --ply (\d))? --out`)
	rows := row.FindAllSubmatch(page, -1)
	require.Len(t, rows, 5)
	for _, r := range rows {
		g := envtest.Must(games.Lookup(string(r[3])))
		ply, _ := strconv.Atoi(string(r[4]))
		net := toybot.RandomNet(t, 1, len(bots.Features(g).Names), 1, 1)
		f := envtest.Must(filled(Bot{Game: g.Name, Net: net, Ply: ply}))
		for i, bits := range []int{netpack.Exact, fewestBits} {
			stated := envtest.Must(strconv.Atoi(string(r[1+i])))
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
		g, e := envtest.Must2(lookup(name))
		exact := shipped(name)
		f, err := filled(Bot{Game: name, Net: exact, Ply: e.Submission.MaxPly}) // its weights have the fewest bits
		require.NoError(t, err)
		text := envtest.Must(netpack.Encode(exact, f.Bits))
		want := 20 * positions(10)
		others := differing(t, g, want, exact, netpack.Trusted(text))
		t.Logf("%s, %d bits per weight: another action in %d of %d positions", name, f.Bits, others, want)
		require.LessOrEqual(t, others, 3*want/200)
	}
}

// differing plays games with the first of two networks and random moves, and returns in how many of n positions the
// other one chooses another action.
func differing(t *testing.T, g *env.Game, n int, nets ...*mlp.Net) (others int) {
	agents := []env.Agent{search.NewRandom(5)}
	for _, net := range nets {
		agent := envtest.Must(search.New(g, bots.Of(g).Learned.New(net).(search.Evaluator), search.Options{}))
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
					chosen[i] = envtest.Must(agent.Act(t.Context(), view, seat))
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
