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
	"blockyard/datasets/viewer/analysis"
	"blockyard/env"
	"blockyard/env/games"
)

// game returns a game between agents of one spec. If blunder is not negative, the agents play the legal action with the
// highest id in that turn.
func game(t *testing.T, name string, seats int, spec string, blunder int) *playback.Timeline {
	t.Helper()
	g, err := games.Lookup(name)
	require.NoError(t, err)
	f, err := bots.New(g, bots.Own(spec))
	require.NoError(t, err)
	m := match.Game{Rules: g, Seed: 5}
	turn := -1
	m.Enough = func(env.State) bool { turn++; return turn == 40 }
	for range seats {
		a, err := f(1)
		require.NoError(t, err)
		m.Names = append(m.Names, spec)
		m.Agents = append(m.Agents, blunderer{a, &turn, blunder})
	}
	rec, err := match.Play(t.Context(), m)
	require.NoError(t, err)
	require.NoError(t, record.Check(g, rec))
	r, err := playback.Whole(t.Context(), g, rec)
	require.NoError(t, err)
	return r
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

// An agent that is analysed by itself has played the best move in every turn, and lost nothing.
func TestAnAgentAgreesWithItself(t *testing.T) {
	for _, c := range tables {
		r := game(t, c.game, c.seats, c.spec, -1)
		a := &Analyst{Moves: 3}
		turns := 0
		got, err := a.Game(t.Context(), r, c.spec, func(n int) { turns = n })
		require.NoError(t, err)
		require.Equal(t, r.Len(), turns)
		require.Equal(t, r.Len(), got.Turns)
		require.Equal(t, c.game, got.Game)
		require.Equal(t, c.spec, got.Agent)
		require.NotEmpty(t, got.Unit)
		require.Len(t, got.Decisions, len(r.Rec.Choices), c.game)
		for _, d := range got.Decisions {
			require.Zero(t, d.Loss, "%s, turn %d: played %s, best %s", c.game, d.Turn, d.Played, d.Best)
			require.Empty(t, d.Lost)
		}
		for seat, p := range got.Players {
			require.Equal(t, []int{seat, p.Decisions}, []int{p.Seat, p.Best}, c.game)
			require.Equal(t, c.spec, p.Player)
			require.Zero(t, p.MeanLoss)
		}
	}
}

// The one bad move of a game is where most was lost.
func TestABlunderIsFound(t *testing.T) {
	for _, c := range tables {
		r := game(t, c.game, c.seats, c.spec, 9)
		got, err := new(Analyst).Game(t.Context(), r, c.spec, func(int) {})
		require.NoError(t, err)
		worst := slices.MaxFunc(got.Decisions, func(x, y analysis.Decision) int {
			return map[bool]int{true: -1, false: 1}[x.Loss < y.Loss]
		})
		require.Equal(t, 9, worst.Turn, c.game)
		require.Positive(t, worst.Loss)
		require.Greater(t, worst.Rank, 1)
		require.NotEqual(t, worst.Played, worst.Best)
		require.NotEmpty(t, worst.Lost)
	}
}

// A position lists the best moves in order, with the one that was played, and everything about them agrees.
func TestPositions(t *testing.T) {
	for _, c := range tables {
		r := game(t, c.game, c.seats, c.spec, 9)
		p, err := (&Analyst{Moves: 4}).At(t.Context(), r, 9, c.spec)
		require.NoError(t, err)
		require.Equal(t, 9, p.Turn)
		r.Seek(9)
		require.Len(t, p.Seats, r.State().Acting().Len())
		for _, s := range p.Seats {
			legal := r.State().Legal(s.Seat, nil)
			require.Equal(t, len(legal), s.Legal)
			require.LessOrEqual(t, s.Ranked, s.Legal)
			require.Len(t, s.Moves, min(4, s.Ranked))
			require.Equal(t, r.Moves()[s.Seat], s.Played.Action)
			require.Empty(t, s.Note)
			for i, m := range append(slices.Clone(s.Moves), *s.Played) {
				if i < len(s.Moves) {
					require.Equal(t, i+1, m.Rank)
				}
				require.Contains(t, legal, m.Action)
				require.Equal(t, r.Game.Text(m.Action), m.Text)
				require.InDelta(t, s.Moves[0].Value-m.Value, m.Loss, 1e-9)
				require.Equal(t, m.Rank == 1 || m.Loss == 0, m.Lost == "")
				require.NotEmpty(t, m.Worth)
			}
		}
		over, err := new(Analyst).At(t.Context(), r, r.Len()-1, "")
		require.NoError(t, err)
		if r.State().Acting() == 0 {
			require.Empty(t, over.Seats)
		} else {
			require.Nil(t, over.Seats[0].Played)
			require.Contains(t, over.Seats[0].Note, "the record ends here")
		}
	}
}

func TestValuesForPeople(t *testing.T) {
	two, err := games.Lookup("blocking")
	require.NoError(t, err)
	one, err := games.Lookup("dropblox")
	require.NoError(t, err)
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
	_, err := a.At(t.Context(), r, 3, "random")
	require.ErrorContains(t, err, "it gives no values to actions")
	for _, text := range []string{"exec:touch x", "hand:weights=x", "human", "x=hand:weights=x"} {
		r.Rec.Agents[1] = text // a name in a record is shown, and never an agent
		p, err := a.At(t.Context(), r, 3, "")
		require.NoError(t, err)
		require.Equal(t, text, p.Seats[1].Player)
		_, err = a.At(t.Context(), r, 3, text)
		require.ErrorIs(t, err, bots.ErrUntrusted)
		_, err = (&Analyst{First: "me=hand:ply=1"}).At(t.Context(), r, 3, text)
		require.ErrorIs(t, err, bots.ErrUntrusted)
	}
	p, err := (&Analyst{First: "me=hand:ply=1"}).At(t.Context(), r, 3, "")
	require.NoError(t, err)
	require.Equal(t, "me", p.Agent)
	_, err = (&Analyst{First: "me=random"}).At(t.Context(), r, 3, "")
	require.ErrorContains(t, err, "it gives no values to actions", "the default is what the user names")
	tick := game(t, "wintetris:tick", 1, "hand", -1)
	_, err = new(Analyst).At(t.Context(), tick, 3, "")
	require.ErrorContains(t, err, "an action is the keys of one tick")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got, err := a.Game(ctx, r, "hand", func(int) {})
	require.NoError(t, err)
	require.True(t, got.Stopped)
	require.Zero(t, got.Turns)
}
