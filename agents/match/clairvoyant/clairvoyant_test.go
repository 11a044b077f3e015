package clairvoyant

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/agents/bots/blockbattlebot"
	"blockyard/agents/match"
	"blockyard/agents/search"
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/envtest"
	"blockyard/env/games"
)

var rules = blockbattle.Game

func evaluator(t *testing.T) search.Evaluator {
	net := envtest.Must(bots.Of(rules).LoadNet(rules, ""))
	return envtest.Must(bots.Of(rules).Evaluator(net))
}

// A watched agent plays as its inner one, and shows what it is told and how it plays.
type watched struct {
	*Agent
	told func(t match.Truth)
	acts func(s env.State, seat int, a env.Action)
}

func (w *watched) Foresee(t match.Truth) {
	w.told(t)
	w.Agent.Foresee(t)
}

func (w *watched) Act(ctx context.Context, s env.State, seat int) (env.Action, error) {
	before := copyOf(s)
	a, err := w.Agent.Act(ctx, s, seat)
	w.acts(before, seat, a)
	return a, err
}

// twin is the value of s for seat after as many own actions as there are pieces, and then the best two, or, if it is
// the last action, the best one: every sequence of actions is played out.
func twin(e search.Evaluator, s env.State, seat int, pieces []uint16, last bool) float32 {
	best := -2 * search.Win
	for _, a := range s.Legal(seat, nil) {
		best = max(best, twinAfter(e, s, seat, a, pieces, last))
	}
	return best
}

func twinAfter(e search.Evaluator, s env.State, seat int, a env.Action, pieces []uint16, last bool) float32 {
	next := copyOf(s)
	next.Force(append(slices.Clip(pieces), 0)[:1])
	env.After(next, seat, a)
	switch {
	case next.Acting() == 0:
		return -search.Win
	case last:
		return evaluate(e, next, seat)
	case len(pieces) == 0:
		return twin(e, next, seat, nil, true)
	}
	return twin(e, next, seat, pieces[1:], false)
}

func copyOf(s env.State) env.State {
	c := rules.New(2)
	c.CopyFrom(s)
	return c
}

func evaluate(e search.Evaluator, s env.State, seat int) float32 {
	out := []float32{0}
	e.Evaluate([]env.State{s}, seat, out)
	return out[0]
}

// With a beam that leaves out nothing, the clairvoyant plays an action that is best for a slow twin, which plays out
// every sequence with the pieces that really come; also with the opponent's action and the holes of its garbage. With a
// beam of one position, it plays the action after which the position is best.
func TestAgainstTwin(t *testing.T) {
	for _, width := range []int{10_000, 10_001, 1} {
		reply := width != 10_000
		seen, fell := 0, 0
		var told match.Truth
		e := evaluator(t)
		w := &watched{Agent: New(rules, e, 1, width, reply, reply), told: func(t match.Truth) { told = t }}
		w.acts = func(s env.State, seat int, a env.Action) {
			if seen++; seen%3 != 0 && width > 1 {
				return
			}
			value := func(a env.Action) float32 {
				piece := []uint16{told.Draws.Last(told.Step)}
				if !reply {
					return twinAfter(e, s, seat, a, piece, false)
				}
				next, m, draws := copyOf(s), told.Moves, match.Draws{Seed: told.Draws.Seed}
				m[seat] = a
				if draws.Step(rules, next, m, told.Step); next.Acting() == 0 {
					return search.Win * next.Result(seat)
				}
				fell += len(next.Draws(nil)) - 1
				if width == 1 {
					return evaluate(e, next, seat)
				}
				return twin(e, next, seat, nil, false)
			}
			best := -2 * search.Win
			for _, b := range s.Legal(seat, nil) {
				best = max(best, value(b))
			}
			require.Equal(t, best, value(a), "step %d", told.Step)
		}
		opponent := search.NewGreedy(rules, blockbattlebot.NewHand())
		for seed := uint64(5); seen < 45 || seen < 200 && width == 1; seed++ {
			envtest.Must(match.Play(t.Context(), match.Game{Rules: rules, Seed: seed, Names: []string{"a", "b"},
				Agents: []env.Agent{w, opponent}, Enough: func(env.State) bool { return seen >= 45 && width > 1 }}))
		}
		require.True(t, !reply || fell > 0, "no garbage fell")
	}
}

// The pieces that the clairvoyant is told are those that come, and a record of its game replays.
func TestPiecesCome(t *testing.T) {
	var told [][3]uint16
	w := &watched{Agent: New(rules, evaluator(t), 1, 2, true, false), acts: func(env.State, int, env.Action) {}}
	w.told = func(t match.Truth) {
		if t.Draws != nil {
			told = append(told, [3]uint16{t.Draws.Last(t.Step), t.Draws.Last(t.Step + 1), t.Draws.Last(t.Step + 2)})
		}
	}
	var came []uint8
	rec := envtest.Must(match.Play(t.Context(), match.Game{Rules: rules, Seed: 7, Names: []string{"a", "b"},
		Agents: []env.Agent{search.NewFirst(), w}, Watch: func(s env.State, _ env.Moves) error {
			came = append(came, s.(*blockbattle.State).Next)
			return nil
		}}))
	require.Greater(t, len(came), 6)
	for i, pieces := range told {
		for k, p := range pieces {
			if i+k+2 < len(came) { // the last round draws no piece
				require.Equal(t, came[i+k+1], uint8(p%blockbattle.Pieces))
			}
		}
	}
	require.NoError(t, record.Check(rules, rec))
}

// Nobody else can make a clairvoyant, and one that is told nothing does not play.
func TestRefused(t *testing.T) {
	for _, text := range []string{"clairvoyant", "clairvoyant:pieces=3", "strong=clairvoyant"} {
		require.ErrorIs(t, envtest.Failed(bots.Parse(rules, bots.Own(text))), bots.ErrClairvoyant, text)
		require.ErrorIs(t, envtest.Failed(bots.Parse(rules, bots.Foreign(text, nil))), bots.ErrClairvoyant, text)
	}
	require.False(t, slices.Contains(bots.Names(rules), bots.Clairvoyant))
	_, err := New(rules, evaluator(t), 3, 12, false, false).Act(t.Context(), rules.New(2), 0)
	require.ErrorIs(t, err, bots.ErrClairvoyant)
	for text, want := range map[string]string{
		"clairvoyant:pieces=0":         "option pieces: \"0\" is not a number from 1 to 20",
		"clairvoyant:holes=1":          "want reply=1 too",
		"clairvoyant:eps=0.5":          "option eps",
		"clairvoyant:weights=no,ply=2": "unknown option \"ply\"; there are eps, holes, pieces, reply, weights, width",
		"clairvoyant:weights=none":     "none",
	} {
		require.ErrorContains(t, envtest.Failed(Player(rules, text)), want)
	}
	for _, name := range []string{"tetrisduel", "blocking", "dropblox"} {
		g := envtest.Must(games.Open(name))
		require.ErrorContains(t, envtest.Failed(Player(g, "clairvoyant")), "want a game in which seats act at once")
	}
}
