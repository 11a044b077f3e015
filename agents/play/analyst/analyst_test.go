package analyst

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/agents/match"
	"blockyard/datasets/record"
	"blockyard/datasets/record/playback"
	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/env/games"
)

// game returns a game between agents of one spec. If blunder is not negative, the agents play the legal action with the
// highest id in that turn.
func game(t *testing.T, name string, seats int, spec string, blunder int) *playback.Timeline {
	g := envtest.Must(games.Lookup(name))
	f := envtest.Must(bots.New(g, bots.Own(spec)))
	m := match.Game{Rules: g, Seed: 5}
	turn := -1
	m.Enough = func(env.State) bool { turn++; return turn == 40 }
	for range seats {
		a := envtest.Must(f(1))
		m.Names = append(m.Names, spec)
		m.Agents = append(m.Agents, blunderer{a, &turn, blunder})
	}
	rec := envtest.Must(match.Play(t.Context(), m))
	require.NoError(t, record.Check(g, rec))
	return envtest.Must(playback.Whole(t.Context(), g, rec))
}

// A blunderer is an agent that plays the last legal action in one turn.
type blunderer struct {
	env.Agent
	turn    *int
	blunder int
}

func (b blunderer) Act(ctx context.Context, s env.State, seat int) (env.Action, error) {
	if *b.turn == b.blunder {
		legal := s.Legal(seat, nil)
		return legal[len(legal)-1], nil
	}
	return b.Agent.Act(ctx, s, seat)
}

var tables = []struct {
	game  string
	seats int
	spec  string
}{
	{"blockbattle", 2, "hand"}, {"blockbattle", 2, "learned"}, {"tetrisduel", 2, "hand"}, {"blocking", 2, "hand:width=4"},
	{"blocking", 4, "hand:width=4"}, {"wintetris", 1, "hand"}, {"wintetris:instant", 1, "learned"},
}

// In these games, every agent plays the best move by its own search but in one turn. An analysis by it finds that turn
// and no other loss.
func TestABlunderIsFound(t *testing.T) {
	const blunder = 9
	for _, c := range tables {
		r := game(t, c.game, c.seats, c.spec, blunder)
		turns := 0
		got := envtest.Must(new(Analyst).Game(t.Context(), r, c.spec, func(n int) { turns = n }))
		require.Equal(t, []any{r.Len(), r.Len(), c.game, c.spec}, []any{turns, got.Turns, got.Game, got.Agent})
		require.NotEmpty(t, got.Unit)
		require.Len(t, got.Decisions, len(r.Rec.Choices), c.game)
		lost := map[int]float64{} // by the seats
		for _, d := range got.Decisions {
			if d.Loss == 0 {
				require.Empty(t, d.Lost)
				continue
			}
			require.Equal(t, blunder, d.Turn, "%s: played %s, best %s", c.game, d.Played, d.Best)
			require.Positive(t, d.Loss)
			require.Greater(t, d.Rank, 1)
			require.NotEqual(t, d.Played, d.Best)
			require.NotEmpty(t, d.Lost)
			lost[d.Seat] += d.Loss
		}
		require.NotEmpty(t, lost, c.game)
		for seat, p := range got.Players {
			best := p.Decisions
			if lost[seat] > 0 {
				best--
			}
			require.Equal(t, []any{seat, best, c.spec}, []any{p.Seat, p.Best, p.Player}, c.game)
			require.Equal(t, lost[seat] > 0, p.MeanLoss > 0)
		}
		requirePosition(t, r, blunder, c.spec)
	}
}

// requirePosition checks the analysis of a turn of a game: it lists the best moves in order, with the one that was
// played, and everything about them agrees.
func requirePosition(t *testing.T, r *playback.Timeline, turn int, spec string) {
	p := envtest.Must((&Analyst{Moves: 4}).At(t.Context(), r, turn, spec))
	require.Equal(t, turn, p.Turn)
	r.Seek(turn)
	require.Len(t, p.Seats, r.State().Acting().Len())
	for _, s := range p.Seats {
		legal := r.State().Legal(s.Seat, nil)
		require.Equal(t, len(legal), s.Legal)
		require.LessOrEqual(t, s.Ranked, s.Legal)
		require.Len(t, s.Moves, min(4, s.Ranked))
		require.Equal(t, r.Moves()[s.Seat], s.Played.Action)
		require.Empty(t, s.Note)
		for i, m := range append(slices.Clone(s.Moves), *s.Played) {
			require.True(t, m.Rank == i+1 || i == len(s.Moves))
			require.Contains(t, legal, m.Action)
			require.Equal(t, r.Game.Text(m.Action), m.Text)
			require.InDelta(t, s.Moves[0].Value-m.Value, m.Loss, 1e-9)
			require.Equal(t, m.Rank == 1 || m.Loss == 0, m.Lost == "")
			require.NotEmpty(t, m.Worth)
		}
	}
	over := envtest.Must(new(Analyst).At(t.Context(), r, r.Len()-1, ""))
	if r.State().Acting() == 0 {
		require.Empty(t, over.Seats)
	} else {
		require.Nil(t, over.Seats[0].Played)
		require.Contains(t, over.Seats[0].Note, "the record ends here")
	}
}

func TestValuesForPeople(t *testing.T) {
	two, one := envtest.Must(games.Lookup("blocking")), envtest.Must(games.Lookup("dropblox"))
	points, odds := &bots.Ranker{}, &bots.Ranker{Odds: true}
	for _, c := range []struct {
		d           decision
		v           float32
		worth, lost string
	}{
		{decision{game: two, ranker: points, best: 12.5}, 12.5, "+12.5", ""},
		{decision{game: two, ranker: points, best: 12.5}, -0.25, "-0.250", "-12.8"},
		{decision{game: two, ranker: points, best: 2e6 - 3}, -1234, "-1234", "misses a win"},
		{decision{game: two, ranker: points, best: 2e6 - 1}, 2e6 - 3, "wins in 3 plies", "2 plies"},
		{decision{game: two, ranker: points, best: 5}, -2e6 + 2, "loses in 2 plies", "loses the game"},
		{decision{game: one, ranker: points, best: 5}, -2e6 + 1, "ends the game in 1 ply", "ends the game"},
		{decision{game: two, ranker: odds, best: 0}, -1, "wins 26.9 %", "-23.1 %"},
	} {
		require.Equal(t, []string{c.worth, c.lost}, []string{c.d.worth(c.v), c.d.lost(c.v)})
	}
	d := decision{game: two, ranker: odds}
	require.InDelta(t, 0.2689, d.value(-1), 1e-4)
	require.Equal(t, 1.0, d.value(2e6-1))
}

func TestAnalystRefuses(t *testing.T) {
	r := game(t, "blockbattle", 2, "random", -1)
	a := &Analyst{First: "hand:ply=1"}
	require.Equal(t, []string{"hand:ply=1", "learned", "hand"}, a.Agents("blockbattle"))
	require.Empty(t, a.Agents("chess"))
	require.Empty(t, a.Agents("wintetris:tick"))
	require.ErrorContains(t, envtest.Failed(a.At(t.Context(), r, 3, "random")), "it gives no values to actions")
	for _, text := range []string{"exec:touch x", "hand:weights=x", "human", "x=hand:weights=x"} {
		r.Rec.Agents[1] = text // a name in a record is shown, and never an agent
		require.Equal(t, text, envtest.Must(a.At(t.Context(), r, 3, "")).Seats[1].Player)
		require.ErrorIs(t, envtest.Failed(a.At(t.Context(), r, 3, text)), bots.ErrUntrusted)
		require.ErrorIs(t, envtest.Failed((&Analyst{First: "me=hand:ply=1"}).At(t.Context(), r, 3, text)), bots.ErrUntrusted)
	}
	require.Equal(t, "me", envtest.Must((&Analyst{First: "me=hand:ply=1"}).At(t.Context(), r, 3, "")).Agent)
	_, err := (&Analyst{First: "me=random"}).At(t.Context(), r, 3, "")
	require.ErrorContains(t, err, "it gives no values to actions", "the default is what the user names")
	_, err = new(Analyst).At(t.Context(), game(t, "wintetris:tick", 1, "hand", -1), 3, "")
	require.ErrorContains(t, err, "an action is the keys of one tick")
	got := envtest.Must(a.Game(envtest.Stopped(t), r, "hand", func(int) {}))
	require.True(t, got.Stopped)
	require.Zero(t, got.Turns)
}
