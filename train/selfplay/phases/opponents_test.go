package phases

import (
	"maps"
	"slices"
	"testing"

	"blockyard/agents/bots"
	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/envtest"
	task "blockyard/train/games"
	"blockyard/train/selfplay"

	"github.com/stretchr/testify/require"
)

// In every part of a run, each opponent has its share of the games and plays as the agent that the records name.
func TestOpponentsPlayAsTheyAreCalled(t *testing.T) {
	names := []string{"combo", "hand", "digger", "terms6"}
	for kind, change := range map[string]func(*Config){
		lambdaKind:  func(*Config) {},
		siblingKind: func(c *Config) { c.Backup, c.Rounds = 1, 16*c.Rounds },
	} {
		t.Run(kind, func(t *testing.T) {
			c := small(7)
			c.Games, c.Rounds, c.Iterations, c.Gates = 12, 48, 5, 1
			c.Versus, c.Explore, c.Late, c.Samples, c.Opponents = 1, 0, 1, 1, names
			change(&c)
			r := open(t, c, 2)
			games, choices := map[string]int{}, 0
			recs := recording(t, r)
			for range c.Iterations - 1 {
				require.NoError(t, r.Step())
				require.Equal(t, kind, r.Learner.Rollout().Kind)
			}
			for _, rec := range recs() {
				require.Contains(t, rec.Agents, "net in training")
				for seat, spec := range rec.Agents {
					if spec != "net in training" {
						games[spec]++
						choices += requirePlays(t, rec, seat, spec)
					}
				}
			}
			require.ElementsMatch(t, []string{"combo:ply=1", "hand:ply=1", "digger:ply=1", "terms6:ply=1"},
				slices.Collect(maps.Keys(games)))
			require.Greater(t, choices, 500)
		})
	}
}

// requirePlays requires that a seat of a record played as the agent of spec, and returns how many choices it had.
func requirePlays(t *testing.T, rec *record.Record, seat int, spec string) (choices int) {
	t.Helper()
	g := task.BlockBattle.Rules
	f := envtest.Must(bots.New(g, bots.Own(spec)))
	agent := envtest.Must(f(1))
	view := g.New(g.MinSeats)
	replay := record.NewReplay(g, rec)
	for s, m := range replay.All() {
		if !s.Acting().Has(seat) {
			continue
		}
		env.View(view, s, seat, 1)
		a := envtest.Must(agent.Act(t.Context(), view, seat))
		require.Equal(t, a, m[seat], "%s at ply %d", spec, replay.Ply())
		choices++
	}
	require.NoError(t, replay.Err())
	return choices
}

// A worker whose opponents play in another way has another self-test, whichever of them it is.
func TestSelfTestPlaysAllOpponents(t *testing.T) {
	sum := func(g *task.Game, names ...string) string {
		c := opposed(1)
		c.Opponents = names
		return envtest.Must(selfplay.SelfTest(g, &c, selfplay.Rollout{Kind: backupKind}))
	}
	names := []string{"combo", "digger", "hand"}
	want := sum(task.BlockBattle, names...)
	require.Equal(t, want, sum(task.BlockBattle, names...))
	require.NotEqual(t, want, sum(task.BlockBattle, "digger", "combo", "hand"))
	other := *task.BlockBattle
	other.Evaluator = func(net *mlp.Net) (search.Evaluator, error) {
		if net == nil {
			return task.BlockBattle.Opponent("terms6")
		}
		return task.BlockBattle.Evaluator(net)
	}
	require.NotEqual(t, want, sum(&other, names...))
	require.Equal(t, sum(task.BlockBattle, "combo", "digger"), sum(&other, "combo", "digger"))
}
