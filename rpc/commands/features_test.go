package commands

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/agents/bots/blockbattlebot"
	"blockyard/agents/bots/blockingbot"
	"blockyard/agents/bots/dropbloxbot"
	"blockyard/agents/bots/tetrisduelbot"
	"blockyard/agents/bots/wintetrisbot"
	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/dropblox"
	"blockyard/env/games"
	"blockyard/env/wintetris"
)

// TestFeaturesAreWhatPlayersRead holds a net's values over features to the values that
// the game's own player gives the same afterstates with the same net.
func TestFeaturesAreWhatPlayersRead(t *testing.T) {
	players := map[string]func(*mlp.Net) (search.Evaluator, error){
		"blockbattle": func(n *mlp.Net) (search.Evaluator, error) { return blockbattlebot.NewLearned(n) },
		"tetrisduel":  func(n *mlp.Net) (search.Evaluator, error) { return tetrisduelbot.NewLearned(n) },
		"blocking":    func(n *mlp.Net) (search.Evaluator, error) { return blockingbot.NewLearned(n) },
	}
	for _, g := range games.All {
		have := bots.Features(g)
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
					want, got := valuesByPlayer(g, judge, view, seat, legal), valuesByFeatures(g, net, view, seat, legal)
					require.InDeltaSlice(t, want, got, 5e-3) // players may add in fixed point; these weights are large
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
		env.After(after, seat, a)
		return after.Acting() == 0
	})
}

func randomNet(t *testing.T, in int) *mlp.Net {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	numbers := func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(r.NormFloat64())
		}
		return v
	}
	first := mlp.Layer{In: in, Out: 8, W: numbers(8 * in), B: numbers(8)}
	net, err := mlp.New([]mlp.Layer{first, {In: 8, Out: 1, W: numbers(8), B: numbers(1)}})
	require.NoError(t, err)
	return net
}

func valuesByPlayer(g *env.Game, judge search.Evaluator, view env.State, seat int, legal []env.Action) []float32 {
	states, out := make([]env.State, len(legal)), make([]float32, len(legal))
	for i, a := range legal {
		states[i] = g.New(g.MinSeats)
		states[i].CopyFrom(view)
		env.After(states[i], seat, a)
	}
	judge.Evaluate(states, seat, out)
	return out
}

func valuesByFeatures(g *env.Game, net *mlp.Net, view env.State, seat int, legal []env.Action) []float32 {
	have := bots.Features(g)
	n, reader, after := len(have.Names), have.New(), g.New(g.MinSeats)
	rows, out := make([]float32, len(legal)*n), make([]float32, len(legal))
	for i, a := range legal {
		after.CopyFrom(view)
		env.After(after, seat, a)
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

// TestFeaturesOfDropblox holds a net's values over features to those of the game's own rater.
func TestFeaturesOfDropblox(t *testing.T) {
	g := dropblox.Game
	net := randomNet(t, len(bots.Features(g).Names))
	judge, err := dropbloxbot.NewLearned(net)
	require.NoError(t, err)
	alone(t, g, func(s env.State, legal []env.Action) {
		kids, worth := make([]dropbloxbot.Kid, len(legal)), make([]float32, len(legal))
		for i, a := range legal {
			after := *s.(*dropblox.State)
			env.After(&after, 0, a)
			kids[i] = dropbloxbot.Kid{Field: after.Taken, Points: after.Points}
		}
		judge.Value(&dropbloxbot.Board{}, kids, worth)
		require.InDeltaSlice(t, worth, valuesByFeatures(g, net, s, 0, legal), 1e-3)
	})
}

// TestFeaturesOfWinTetris does so too: the game's own rater looks two pieces ahead.
func TestFeaturesOfWinTetris(t *testing.T) {
	g := wintetris.InstantGame // where a placement is what comes of it
	net := randomNet(t, len(bots.Features(g).Names))
	judge, err := wintetrisbot.NewLearned(net)
	require.NoError(t, err)
	checked := 0
	alone(t, g, func(state env.State, legal []env.Action) {
		s := state.(*wintetris.State)
		if !s.Field.Low(wintetris.Height - 8) {
			return // pieces could come to lie below what is there
		}
		moves, byPlayer, byFeatures := []wintetris.Block(nil), make([]float64, len(legal)), make([]float64, len(legal))
		for i, a := range legal {
			after := *s
			env.After(&after, 0, a)
			for _, m := range s.Field.Moves(s.Piece, nil) {
				if m.Action() == a {
					moves = append(moves, m)
				}
			}
			next := after.Legal(0, nil) // also what ends it: nobody looks three pieces ahead
			byFeatures[i] = math.Inf(-1)
			for k, v := range valuesByFeatures(g, net, &after, 0, next) {
				then := after
				env.After(&then, 0, next[k])
				worth := wintetrisbot.Unit*float64(then.Lines-after.Lines) + wintetrisbot.Discount*float64(v)
				byFeatures[i] = max(byFeatures[i], wintetrisbot.Unit*float64(after.Lines-s.Lines)+wintetrisbot.Discount*worth)
			}
		}
		require.Len(t, moves, len(legal))
		judge.Rate(&s.Field, moves, s.Next, byPlayer)
		require.InDeltaSlice(t, byPlayer, byFeatures, 1e-3)
		checked++
	})
	require.Greater(t, checked, 20)
	require.Nil(t, bots.Features(wintetris.TickGame))
}

// alone plays a game of one seat and has check look at its positions and the choices that go on.
func alone(t *testing.T, g *env.Game, check func(s env.State, legal []env.Action)) {
	t.Helper()
	state := g.New(1)
	for step := range uint64(60) {
		if state.Acting() == 0 {
			state.Reset(step)
		}
		legal := goingOn(g, state, 0, state.Legal(0, nil))
		if len(legal) == 0 {
			state.Reset(step)
			continue
		}
		check(state, legal)
		state.Step(env.Alone(0, legal[int(step*7)%len(legal)]))
	}
}
