package human

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/env/games"
	"blockyard/env/wintetris"
)

// pressed lets a person with these keys act in the first position of a game.
func pressed(t *testing.T, game string, keys ...string) (env.Action, string, error) {
	g := envtest.Must(games.Lookup(game))
	s := envtest.Start[env.State](g, g.MinSeats, 1)
	var in []io.Reader // one key a read, as a terminal gives them
	for _, key := range keys {
		in = append(in, strings.NewReader(key))
	}
	var out strings.Builder
	p := &Player{Game: g, Keys: NewKeys(io.MultiReader(in...), true), Out: &out, Raw: true}
	a, err := p.Act(t.Context(), s, s.Acting().First())
	if err == nil {
		require.Contains(t, s.Legal(s.Acting().First(), nil), a)
	}
	return a, out.String(), err
}

// TestKeysReachEveryColumn: in every game of placements, the arrows move the preview to the walls and back, and a place
// that was chosen is played.
func TestKeysReachEveryColumn(t *testing.T) {
	for _, game := range []string{"blockbattle", "tetrisduel", "dropblox", "wintetris", "wintetris:instant"} {
		left, _, err := pressed(t, game, append(slices.Repeat([]string{"\x1b[D"}, 40), " ")...)
		require.NoError(t, err, game)
		right, _, err := pressed(t, game, append(slices.Repeat([]string{"\x1b[C"}, 40), " ")...)
		require.NoError(t, err, game)
		require.NotEqual(t, left, right, game)
	}
	still, _ := envtest.Must2(pressed(t, "blocking", "\r"))
	turned, _ := envtest.Must2(pressed(t, "blocking", "\x1b[A", "\r"))
	require.NotEqual(t, still, turned)
}

func TestKeysTypeAMove(t *testing.T) {
	a, out := envtest.Must2(pressed(t, "blockbattle", ":", "r", "0", "x", "\x7f", " ", "x", "3", " ", "y", "1", "9", "\r"))
	require.Contains(t, out, "move: r0 x3 y1")
	g, _ := games.Lookup("blockbattle")
	require.Equal(t, "r0 x3 y19", g.Text(a))

	_, out, err := pressed(t, "blockbattle", ":", "n", "o", "\r", ":", "q", "\x1b", "?", "q")
	require.ErrorIs(t, err, ErrQuit)
	require.Contains(t, out, `blockbattle: action "no"`)
	require.Contains(t, out, "r0 x8 y19", "? lists the moves")
	for _, keys := range [][]string{{"\x03"}, nil} { // nil: the terminal is gone
		require.ErrorIs(t, envtest.Failed2(pressed(t, "blockbattle", keys...)), ErrQuit)
	}
}

func TestLines(t *testing.T) {
	g, _ := games.Lookup("tetrisduel")
	s := envtest.Start[env.State](g, 2, 1)
	var out strings.Builder
	p := &Player{Game: g, Keys: NewKeys(strings.NewReader("?\nx\n99 99 9\n"+g.Text(s.Legal(0, nil)[3])), false), Out: &out}
	require.Equal(t, s.Legal(0, nil)[3], envtest.Must(p.Act(t.Context(), s, 0)))
	require.Contains(t, out.String(), "seat 1, your move")
	require.NotContains(t, out.String(), "\x1b", "no control sequences without a terminal")
}

// TestTicks: the keys of a tick become its bits; of two that exclude each other the later counts. A tick lasts as long as
// its speed says.
func TestTicks(t *testing.T) { synctest.Test(t, ticks) }

func ticks(t *testing.T) {
	s := wintetris.TickGame.New(1)
	r, w := io.Pipe()
	p := (&Player{Game: wintetris.TickGame, Keys: NewKeys(r, true), Out: io.Discard}).Ticker(5)
	done := make(chan env.Action)
	act := func(keys string) env.Action {
		go func() {
			a, err := p.Act(context.Background(), s, 0)
			if err != nil {
				a = env.None
			}
			done <- a
		}()
		_, _ = io.WriteString(w, keys)
		return <-done
	}
	begun := time.Now()
	require.Equal(t, env.Action(wintetris.Right|wintetris.CW), act("\x1b[D\x1b[C\x1b[A"))
	require.Equal(t, 100*time.Millisecond, time.Since(begun), "the tick lasts 500 ms at a fifth")
	require.Equal(t, env.Action(wintetris.Drop|wintetris.CCW), act("z "))
	require.Equal(t, env.None, act("q"))
	require.NoError(t, w.Close()) // ends the reader of the keys
}
