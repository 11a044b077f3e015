package server_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/env"
	"blockyard/env/blocking"
	"blockyard/env/games"
	"blockyard/rpc/server"
	"blockyard/rpc/wire"
	"blockyard/rpc/wire/client"
)

// longest is how many steps a game may take from a restored position to its end.
const longest = 20_000

// A subject is a game or variant with positions that it has been in.
type subject struct {
	*client.Games
	game     *env.Game
	states   [][]byte
	policies []string
}

// FuzzStates restores states with bytes changed or missing, of every game and variant and every number of seats:
// refused, or a position that the server shows and counts, that its agents play in, and from which a client comes to
// the end.
func FuzzStates(f *testing.F) {
	other := relettered(f)
	all := append(games.All[:len(games.All):len(games.All)], other)
	p := start(f, func(c *server.Config) {
		real(1)(c)
		c.Games, c.Features = all, bots.Features
	})
	c := dial(f, p.unix)
	var subjects []*subject
	for _, g := range all {
		for seats := g.MinSeats; seats <= g.MaxSeats; seats++ {
			subjects = append(subjects, visited(f, c, g, seats))
		}
	}
	for which := range subjects {
		f.Add(uint8(which), uint8(which), []byte{})
		f.Add(uint8(which), uint8(3), []byte{0, 64, 1, 0, 90, 255})
		f.Add(uint8(which), uint8(9), []byte{0, 80, 127, 1, 20, 2})
	}
	f.Add(uint8(0), uint8(3), []byte{40})
	f.Fuzz(func(t *testing.T, which, position uint8, patch []byte) {
		s := subjects[int(which)%len(subjects)]
		b := patched(s.states[int(position)%len(s.states)], patch)
		if len(patch)%3 == 1 { // and now and then a length
			b = b[:min(len(b), int(patch[len(patch)-1]))]
		}
		if err := s.CallSlab("restore", nil, b); err != nil {
			require.Contains(t, []int{wire.BadState, wire.BadParams}, code(t, err), err)
			require.NoError(t, s.Reset(nil), "the handle works on")
			return
		}
		for _, method := range []string{"legal", "afterstates", "features", "observe", "observe_text", "snapshot"} {
			if method != "features" || bots.Features(s.game) != nil {
				require.NoError(t, s.Call(method, nil), method)
			}
		}
		require.NoError(t, s.Call("render", nil, 0))
		for _, policy := range s.policies {
			if err := s.Call("rollout", nil, 2, map[string]any{"policy": policy, "keep": "last"}); err != nil {
				require.Equal(t, wire.NeedsReset, code(t, err), "%s: %v", policy, err)
			}
			require.NoError(t, s.CallSlab("restore", nil, b))
		}
		toTheEnd(t, s)
		require.NotContains(t, p.logged(), "panic")
	})
}

// relettered is Blocking with the names of two shapes exchanged.
func relettered(t testing.TB) *env.Game {
	shapes := blocking.DefaultTable.Shapes
	const last = blocking.Letters - 1
	shapes[last], shapes[last-1] = shapes[last-1], shapes[last]
	g, err := blocking.With(blocking.NewTable(shapes))
	require.NoError(t, err)
	require.NotEqual(t, blocking.Game.Name, g.Name)
	return g
}

// visited opens a game and notes positions from its begin to its end.
func visited(t testing.TB, c *client.Client, g *env.Game, seats int) *subject {
	t.Helper()
	s := &subject{game: g, Games: startGames(t, c, g.Name,
		map[string]any{"num_envs": 1, "seats": seats, "autoreset": "Disabled", "seed": 5})}
	for _, policy := range []string{"hand", "learned"} {
		if slices.Contains(bots.Names(g), policy) && (policy == "hand" || bots.Features(g) != nil) {
			s.policies = append(s.policies, policy)
		}
	}
	var choose chooser
	for n := 0; s.Field("terminated")[0] == 0 && n < 400; n++ {
		if n%5 == 0 {
			s.states = append(s.states, ask(t, s, "snapshot", nil).bytes("states"))
		}
		stepped(t, s.Games, &choose)
	}
	return s
}

// patched is b with bytes changed: a patch is a list of places, of two bytes each, and what is put there.
func patched(b, patch []byte) []byte {
	b = bytes.Clone(b)
	for ; len(patch) >= 3; patch = patch[3:] {
		b[int(binary.BigEndian.Uint16(patch))%len(b)] = patch[2]
	}
	return b
}

// toTheEnd plays legal actions until the episode ends.
func toTheEnd(t *testing.T, s *subject) {
	var choose chooser
	for range longest {
		if err := s.Step(choose.of(s.Games)); err != nil { // the state of a game that is over
			require.Equal(t, wire.NeedsReset, code(t, err), err)
			return
		}
		if s.Field("terminated")[0]|s.Field("truncated")[0] != 0 {
			return
		}
	}
	t.Fatalf("%s goes on after %d steps", s.game.Name, longest)
}

// FuzzMixture gives a seat any opponents with any weights: refused, and then nothing has changed, or playing. The memory
// that they count for is returned when they leave.
func FuzzMixture(f *testing.F) {
	p := start(f, real(1))
	c := dial(f, p.unix)
	options := map[string]any{"num_envs": 2, "opponents": map[int]string{1: "first"}}
	g := startGames(f, c, "blockbattle", options)
	uploaded := "hand:weights=" + sumOf("{}")
	require.Equal(f, wire.BadParams, code(f, c.Call("upload", nil, "blockbattle", uploaded, []byte("{}"))))
	f.Add(uint8(0), "random", "hand:ply=1", 1.0, 2.0)
	f.Add(uint8(1), uploaded, "first", 0.0, -1.0)
	f.Add(uint8(2), "exec:true", "learned:weights=/dev/zero", 1e308, 1e308)
	f.Add(uint8(3), "hand:ply=4,width=999", "hand:time=1h", 5e-324, 1.0)
	f.Add(uint8(4), strings.Repeat("x", 5000), "", 1.0, 1.0)
	base := memory(f, c)
	f.Fuzz(func(t *testing.T, form uint8, a, b string, v, w float64) {
		var mixture any
		switch form % 6 {
		case 0:
			mixture = a
		case 1:
			mixture = []any{[]any{a, v}, []any{b, w}}
		case 2:
			mixture = []any{[]any{a, v}, []any{a, w}, []any{b}}
		case 3:
			mixture = slices.Repeat([]any{[]any{a, v}}, int(form)+2)
		case 4:
			mixture = map[string]any{a: v}
		case 5:
			mixture = []any{a, b, v, w, []any{w, a}}
		}
		err := g.Call("set_opponents", nil, map[int]any{1: mixture})
		require.Contains(t, []int{0, wire.BadParams, wire.Limit}, code(t, err), err)
		require.Less(t, len(fmt.Sprint(err)), 9000, "an error repeats what it refuses in part only")
		require.NoError(t, g.Call("set_opponents", nil, map[int]any{1: "first"}))
		require.NoError(t, g.Reset(nil))
		require.NoError(t, g.Call("set_opponents", nil, map[int]any{1: "first"}), "now those before are in no game")
		// A spec that a handle has known keeps its number and a little memory.
		known := ask(t, g, "opponent_stats", nil)["count"].(int)
		require.LessOrEqual(t, memory(t, c)-base, known*(128+4096))
		if known > 1000 { // as long as a handle is open
			require.NoError(t, g.Call("close", nil))
			g = openGames(t, c, "blockbattle", options)
		}
		require.NotContains(t, p.logged(), "panic")
	})
}
