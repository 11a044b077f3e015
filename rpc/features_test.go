package main

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/blockbattlebot"
	"blockyard/agents/blockingbot"
	"blockyard/agents/search"
	"blockyard/agents/tetrisduelbot"
	"blockyard/agents/valuenet"
	"blockyard/env"
	"blockyard/env/games"
)

// TestFeaturesAreWhatPlayersRead holds a net's values over features to the values that
// the game's own player gives the same afterstates with the same net.
func TestFeaturesAreWhatPlayersRead(t *testing.T) {
	players := map[string]func(*valuenet.Net) (search.Evaluator, error){
		"blockbattle": func(n *valuenet.Net) (search.Evaluator, error) { return blockbattlebot.NewLearned(n) },
		"tetrisduel":  func(n *valuenet.Net) (search.Evaluator, error) { return tetrisduelbot.NewLearned(n) },
		"blocking":    func(n *valuenet.Net) (search.Evaluator, error) { return blockingbot.NewLearned(n) },
	}
	for _, g := range games.All {
		have := features(g)
		if have == nil || players[g.Name] == nil { // a variant, or a game nobody is told of
			continue
		}
		t.Run(g.Name, func(t *testing.T) {
			net := randomNet(t, len(have.Names))
			judge, err := players[g.Name](net)
			require.NoError(t, err)
			state, view, legal := g.New(g.MinSeats), g.New(g.MinSeats), []env.Action(nil)
			for step := range uint64(40) {
				if state.Acting() == 0 {
					state.Reset(step)
				}
				moves := env.NoMoves
				for set := state.Acting(); set != 0; set = set.Rest() {
					seat := set.First()
					env.View(view, state, seat, step)
					legal = goingOn(g, view, seat, state.Legal(seat, legal[:0]))
					moves[seat] = state.Legal(seat, nil)[0]
					if len(legal) == 0 {
						continue
					}
					require.InDeltaSlice(t, valuesByPlayer(g, judge, view, seat, legal), valuesByFeatures(g, net, view, seat, legal), 1e-3)
					moves[seat] = legal[int(step*7)%len(legal)]
				}
				state.Step(moves)
			}
		})
	}
}

// goingOn returns the choices of legal that do not end the game.
func goingOn(g *env.Game, view env.State, seat int, legal []env.Action) []env.Action {
	after := g.New(g.MinSeats)
	return slices.DeleteFunc(legal, func(a env.Action) bool {
		after.CopyFrom(view)
		after.After(seat, a)
		return after.Acting() == 0
	})
}

func randomNet(t *testing.T, in int) *valuenet.Net {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	numbers := func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(r.NormFloat64())
		}
		return v
	}
	net, err := valuenet.New([]valuenet.Layer{{In: in, Out: 8, W: numbers(8 * in), B: numbers(8)}, {In: 8, Out: 1, W: numbers(8), B: numbers(1)}})
	require.NoError(t, err)
	return net
}

func valuesByPlayer(g *env.Game, judge search.Evaluator, view env.State, seat int, legal []env.Action) []float32 {
	states, out := make([]env.State, len(legal)), make([]float32, len(legal))
	for i, a := range legal {
		states[i] = g.New(g.MinSeats)
		states[i].CopyFrom(view)
		states[i].After(seat, a)
	}
	judge.Evaluate(states, seat, out)
	return out
}

func valuesByFeatures(g *env.Game, net *valuenet.Net, view env.State, seat int, legal []env.Action) []float32 {
	have := features(g)
	n, reader, after := len(have.Names), have.Reader(), g.New(g.MinSeats)
	rows, out := make([]float32, len(legal)*n), make([]float32, len(legal))
	for i, a := range legal {
		after.CopyFrom(view)
		after.After(seat, a)
		row := rows[i*n : (i+1)*n]
		if i == 0 {
			reader.Shared(after, seat, row[have.Own:])
		} else {
			copy(row[have.Own:], rows[have.Own:n])
		}
		reader.Own(after, seat, row[:have.Own])
	}
	net.Forward(rows, len(legal), out)
	return out
}
