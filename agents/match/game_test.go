package match

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/agents/search"
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/envtest"
)

func named(t testing.TB, text string) Player {
	t.Helper()
	return of(t, blockbattle.Game, text)
}

// of is a player of any game.
func of(t testing.TB, rules *env.Game, text string) Player {
	t.Helper()
	f := envtest.Must(bots.New(rules, bots.Own(text)))
	return Player{Name: text, New: f}
}

// acts is an agent made of a function.
type acts func(ctx context.Context, s env.State, seat int) (env.Action, error)

func (f acts) Act(ctx context.Context, s env.State, seat int) (env.Action, error) {
	return f(ctx, s, seat)
}

func duel(a, b env.Agent) Game {
	return Game{Rules: blockbattle.Game, Seed: 3, Names: []string{"a", "b"}, Agents: []env.Agent{a, b}}
}

func TestValuesAreKeptWhereASearchTells(t *testing.T) {
	rec := envtest.Must(Play(context.Background(), duel(search.NewFirst(), search.NewRandom(1))))
	require.Empty(t, rec.Values, "nobody told")
	a := envtest.Must(named(t, "terms6:ply=1").New(1))
	rec = envtest.Must(Play(context.Background(), duel(a, search.NewRandom(1))))
	require.Equal(t, []string{"a", "b"}, rec.Agents)
	require.Len(t, rec.Values, len(rec.Choices))
	for i, v := range rec.Values {
		require.Equal(t, i%2 == 0, v < 0, "choice %d: seat 0 tells, seat 1 does not", i)
	}
}

func TestAgentsSeeHiddenCopiesOnly(t *testing.T) {
	var truth blockbattle.State
	views := 0
	spy := acts(func(_ context.Context, s env.State, seat int) (env.Action, error) {
		mine := s.(*blockbattle.State)
		a := mine.Legal(seat, nil)[0]
		views++
		require.NotSame(t, &truth, mine)
		require.Equal(t, truth.Sides, mine.Sides)
		require.Equal(t, truth.Next, mine.Next)
		require.NotEqual(t, truth.Word, mine.Word, "what comes after the next piece is not for agents")
		mine.Reset(99) // its own copy: nobody else may notice
		return a, nil
	})
	g := duel(spy, spy)
	s := blockbattle.Game.New(2)
	s.Reset(g.Seed)
	truth = *s.(*blockbattle.State)
	g.Watch = func(s env.State, m env.Moves) error {
		require.Equal(t, &truth, s.(*blockbattle.State), "the position moved on its own")
		if m != env.NoMoves {
			next := truth
			next.Step(m)
			truth = next
		}
		return nil
	}
	rec := envtest.Must(Play(context.Background(), g))
	require.Equal(t, len(rec.Choices), views)
}

func TestBadAgentsAreNamed(t *testing.T) {
	plays := func(a env.Action, err error) acts {
		return func(context.Context, env.State, int) (env.Action, error) { return a, err }
	}
	for name, c := range map[string]struct {
		agent env.Agent
		want  string
	}{
		"illegal":      {plays(blockbattle.SkipAction, nil), "blockbattle: seat 2 (b): step 0: illegal action: skip"},
		"out of range": {plays(40000, nil), "illegal action: 40000, of 1601 actions"},
		"failing":      {plays(0, errors.New("no idea")), "blockbattle: seat 2 (b): step 0: no idea"},
	} {
		rec, err := Play(context.Background(), duel(search.NewFirst(), c.agent))
		require.ErrorContains(t, err, c.want, name)
		require.True(t, rec.Stopped)
		require.Empty(t, rec.Choices)
		require.NoError(t, record.Check(blockbattle.Game, rec))
	}
	_, err := Play(context.Background(), duel(search.NewFirst(), plays(env.None, nil)))
	require.NoError(t, err, "no answer is an answer")
	three := duel(search.NewFirst(), search.NewFirst())
	three.Agents = append(three.Agents, search.NewFirst())
	_, err = Play(context.Background(), three)
	require.ErrorContains(t, err, "blockbattle: 3 agents: want 2 to 2")
}
