package wintetrisbot

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/entry"
	"blockyard/agents/bots/entry/toybot"
	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/wintetris"
)

// TestSurvivorAsPlayed: the chances are those of positions that are played out, with each kind of next piece. In a field
// of twenty rows, the net sees ten, and nothing is played out while the others are empty.
func TestSurvivorAsPlayed(t *testing.T) {
	rng, net := rand.New(rand.NewPCG(3, 1)), toybot.RandomNet(t, 1, Len, 32, 1)
	under := 0
	judge := func(f *wintetris.Field) float64 {
		x, v := make([]float32, Len), make([]float32, 1)
		var above wintetris.Field
		copy(above[:], f[under:])
		Features(&above, x)
		net.Forward(x, 1, v)
		return search.Chance(v[0])
	}
	for _, g := range []*env.Game{wintetris.Paper10Game, wintetris.Paper20Game} {
		survivor := NewSurvivor(net)
		survivor.rows = g.New(1).(*wintetris.State).Mode.Rows()
		s := g.New(1).(*wintetris.State)
		s.Reset(1)
		looks := map[bool]int{}
		for range 60 {
			if s.Acting() == 0 || g == wintetris.Paper20Game && s.Field.Top() > 17 {
				s.Reset(rng.Uint64())
				for y := range rng.IntN(survivor.rows - 6) {
					s.Field[y] = full &^ (1 << rng.IntN(wintetris.Width))
				}
			}
			under = max(0, s.Field.Top()-10)
			calm := g == wintetris.Paper20Game && s.Field.Top() < 10
			looks[!calm]++
			worth := map[env.Action]float64{}
			best := func(at *wintetris.State) (most float64) { // after the best choice, and 0 if each ends the game
				for _, a := range at.Legal(0, nil) {
					next := *at
					if next.Step(env.Alone(0, a)); next.Acting() != 0 {
						most = max(most, judge(&next.Field))
					}
				}
				return most
			}
			var moves []wintetris.Block
			for _, m := range s.Field.Drops(s.Piece.Kind, nil) {
				next := *s
				if next.Step(env.Alone(0, m.Action())); next.Acting() == 0 {
					continue
				}
				moves = append(moves, m)
				for kind := range uint8(wintetris.Kinds) {
					next.Piece.Kind = kind
					worth[m.Action()] += best(&next) / wintetris.Kinds
				}
			}
			rate := func(width int) []float64 {
				values := make([]float64, len(moves))
				survivor.width = width
				survivor.Rate(&s.Field, moves, unknown, values)
				return values
			}
			all, flat, some := rate(wintetris.MaxMoves), rate(1), rate(3)
			deep := 0
			for i, m := range moves {
				next := s.Field
				next.Put(m)
				require.InDelta(t, judge(&next)-1, flat[i], 1e-6)
				if calm {
					require.Equal(t, flat[i], all[i])
				} else {
					require.InDelta(t, worth[m.Action()], all[i], 1e-6)
				}
				if some[i] == all[i] {
					deep++
				} else {
					require.Equal(t, flat[i], some[i])
				}
			}
			require.True(t, calm || deep == min(3, len(moves)), "the best three are looked beyond")
			legal := s.Legal(0, nil)
			s.Step(env.Alone(0, legal[rng.IntN(len(legal))]))
		}
		require.Greater(t, looks[true], 10)
		require.Equal(t, g == wintetris.Paper20Game, looks[false] > 10)
	}
}

// TestSurvivorByItsFile: what the file of a network says of its output decides who plays by it, in whatever game.
func TestSurvivorByItsFile(t *testing.T) {
	net := toybot.RandomNet(t, 1, Len, 32, 1)
	facts := mlp.Facts{Notes: map[string]string{"output": Survival}}
	for g, rows := range map[*env.Game]int{wintetris.Paper10Game: 10, wintetris.Paper20Game: 20, wintetris.Game: 20} {
		judge, err := Entry.Learned.Over(net, facts)
		require.NoError(t, err)
		for width, want := range []int{5, 1, 2} { // 0 is the default
			_, err = Entry.Search.New(g, judge, entry.Options{Numbers: map[string]int{"width": width}})
			require.NoError(t, err)
			survivor := judge.(*Survivor)
			require.Equal(t, []int{rows, want}, []int{survivor.rows, survivor.width})
			survivor.width = 5
		}
	}
	judge, err := Entry.Learned.Over(net, mlp.Facts{})
	require.NoError(t, err)
	require.IsType(t, &Learned{}, judge)
	_, err = Entry.Search.New(wintetris.Paper10Game, judge, entry.Options{Numbers: map[string]int{"width": 2}})
	require.ErrorContains(t, err, "option width: only a network that was trained on survival")
}

// tenRows is what choices on ten rows by a network of random weights come to; figures of trained networks depend on it.
const tenRows = "d970a7ded81dedadf26a50185f562bad1cb822f9dcb100d7d91a52c6f731b8c3"

// TestSurvivorOnTenRows: choices are those of before, with and without looking beyond.
func TestSurvivorOnTenRows(t *testing.T) {
	judge := NewSurvivor(toybot.RandomNet(t, 1, Len, 32, 1))
	var made []byte
	for _, width := range []int{0, 1, 2} {
		agent, err := newAgent(wintetris.Paper10Game, judge, entry.Options{Numbers: map[string]int{"width": width}})
		require.NoError(t, err)
		s := wintetris.Paper10Game.New(1).(*wintetris.State)
		for seed := range uint64(3) {
			s.Reset(seed)
			for s.Acting() != 0 && s.Pieces < 100 {
				a, err := agent.Act(t.Context(), s, 0)
				require.NoError(t, err)
				made = append(made, byte(a))
				s.Step(env.Alone(0, a))
			}
		}
		judge.width = 5
	}
	require.Equal(t, tenRows, fmt.Sprintf("%x", sha256.Sum256(made)))
}
