package rows

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/train/games"

	"github.com/stretchr/testify/require"
)

var game = games.BlockBattle

// play records a game between greedy hand-tuned players, as far as limit rounds.
func play(t *testing.T, seed uint64, limit int) *record.Record {
	agent := envtest.Must(search.New(game.Rules, envtest.Must(game.Evaluator(nil)), search.Options{Ply: 1}))
	rec := record.New(game.Rules, seed, []string{"hand:ply=1", "hand:ply=1"})
	s, view := game.Rules.New(2), game.Rules.New(2)
	s.Reset(seed)
	for ; s.Acting() != 0 && limit > 0; limit-- {
		m := env.NoMoves
		for seat := range 2 {
			env.View(view, s, seat, seed)
			m[seat] = envtest.Must(agent.Act(t.Context(), view, seat))
		}
		rec.Add(s.Acting(), m)
		s.Step(m)
	}
	rec.End(s)
	return rec
}

func TestRowsAreTheAfterstatesThatWereChosen(t *testing.T) {
	rec := play(t, 5, 1000)
	require.False(t, rec.Stopped)
	set := New(game, 1000)
	require.NoError(t, set.Add(rec))
	require.InDelta(t, len(rec.Choices), set.Len(), 2, "all but what ended the game")

	s, x := game.Rules.New(2), make([]float32, len(game.Features))
	s.Reset(rec.Seed)
	env.After(s, 1, rec.Choices[1]) // the second row: seat 1's first choice
	reader := game.Reader()
	reader.Shared(s, 1, x[game.Own:])
	reader.Own(s, 1, x[:game.Own])
	require.Equal(t, x, set.Row(1))
	require.Equal(t, (1+rec.Results[0])/2, set.Y[0])
	require.Equal(t, (1+rec.Results[1])/2, set.Y[1])
}

// A set has the memory for its rows from the beginning. One that is full refuses a game as soon as it has too many rows,
// and keeps those of the games before.
func TestMost(t *testing.T) {
	first, rec := play(t, 7, 1000), play(t, 8, 1000)
	set := New(game, len(first.Choices)+10)
	x, y := cap(set.X), cap(set.Y)
	require.Equal(t, (len(first.Choices)+10)*Bytes(game), 4*(x+y))
	require.NoError(t, set.Add(first))
	before := set.Len()
	require.ErrorContains(t, set.Add(rec), fmt.Sprintf("more than %d rows", len(first.Choices)+10))
	require.Equal(t, before, set.Len())
	require.Equal(t, []int{x, y}, []int{cap(set.X), cap(set.Y)})
	set = New(game, len(first.Choices)+len(rec.Choices))
	require.NoError(t, set.Add(first))
	require.NoError(t, set.Add(rec), "a row per choice is enough")
}

func TestAddLeavesNothingOfABadRecord(t *testing.T) {
	set := New(game, 1000)
	require.NoError(t, set.Add(play(t, 6, 10)), "a game broken off gives no rows")
	require.Zero(t, set.Len())
	require.NoError(t, set.Add(play(t, 7, 1000)))
	before := set.Len()
	bad := play(t, 8, 1000)
	bad.Choices[len(bad.Choices)-5] = 1599
	require.ErrorContains(t, set.Add(bad), "seed 8")
	require.Equal(t, before, set.Len())
	require.Len(t, set.X, before*len(game.Features))
}

// keeper notes the batches it is given.
type keeper struct {
	rows  []int
	seen  map[float32]int
	rates []float64
}

func (k *keeper) Fit(x, y []float32, rate float64) (float64, error) {
	for _, v := range y {
		k.seen[v]++
	}
	k.rows, k.rates = append(k.rows, len(y)), append(k.rates, rate)
	return float64(len(y)), nil
}

func TestPassFitsEveryRowOnce(t *testing.T) {
	rows := Rows{Game: game}
	for i := range 10 {
		rows.X = append(rows.X, make([]float32, len(game.Features))...)
		rows.Y = append(rows.Y, float32(i))
	}
	k := &keeper{seen: map[float32]int{}}
	loss := envtest.Must(rows.Pass(k.Fit, rand.New(rand.NewPCG(1, 1)), 4, 0.5))
	require.Equal(t, []int{4, 4, 2}, k.rows)
	require.Equal(t, []float64{.5, .5, .25}, k.rates)
	require.Len(t, k.seen, 10)
	require.InDelta(t, (4*4+4*4+2*2)/10., loss, 1e-9, "the mean over rows")

	rows.Cut(3)
	require.Equal(t, 3, rows.Len())
	require.Len(t, rows.X, 3*len(game.Features))
}

func TestLoss(t *testing.T) {
	n := len(game.Features)
	net := envtest.Must(mlp.New([]mlp.Layer{{In: n, Out: 1, W: make([]float32, n), B: []float32{0}}}))
	rows := Rows{Game: game, X: make([]float32, 2*n), Y: []float32{1, 0}}
	require.InDelta(t, 0.693147, rows.Loss(net), 1e-5, "a coin's")
	net = envtest.Must(mlp.New([]mlp.Layer{{In: n, Out: 1, W: make([]float32, n), B: []float32{200}}}))
	require.InDelta(t, 100, rows.Loss(net), 1e-3, "sure, and wrong every other time")
	rows.Cut(0)
	require.Zero(t, rows.Loss(net))
}
