package submit

import (
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/agents/submit/programs/netpack"
	"blockyard/env"
)

// A shipped network whose weights a file rounds chooses as the exact one does: on at most three of two hundred positions
// another action, in 200 positions and, if BLOCKYARD_LONG is set, in 20,000. Of these it is 235 in Block Battle.
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
