package server_test

import (
	"encoding/binary"
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env/envtest/toy"
	"blockyard/rpc/server"
	"blockyard/rpc/wire"
	"blockyard/rpc/wire/client"
)

// askedFor is the result of the method of that name.
type askedFor struct {
	All       int    `msgpack:"all"`
	Games     []byte `msgpack:"games"`
	Seats     []byte `msgpack:"seats"`
	Opponents []byte `msgpack:"opponents"`
	Planes    []byte `msgpack:"planes"`
	Mask      []byte `msgpack:"mask"`
	Waiting   []byte `msgpack:"waiting"`
}

// answerFirst answers all seats that are asked in some games, nil for all, with their first legal actions.
func answerFirst(t testing.TB, g *client.Games, games []byte) (seats int, waiting []byte) {
	for {
		var a askedFor
		require.NoError(t, g.Call("asked", &a, games))
		n := len(a.Seats)
		var actions []byte
		for k := range n {
			width := len(a.Mask) / n
			for j, b := range a.Mask[k*width : (k+1)*width] {
				if b != 0 {
					actions = binary.LittleEndian.AppendUint16(actions, uint16(8*j+bits.TrailingZeros8(b)))
					break
				}
			}
		}
		require.NoError(t, g.Call("answer", nil, a.Games, a.Seats, actions))
		if seats += n; n == a.All {
			return seats, a.Waiting
		}
	}
}

// goOn answers until no game waits.
func goOn(t testing.TB, g *client.Games) (seats int) {
	for {
		n, waiting := answerFirst(t, g, nil)
		if seats += n; len(waiting) == 0 {
			return seats
		}
		require.NoError(t, g.Step(make([]byte, 2*g.Rows)))
	}
}

// A client that is an opponent and plays as one of the server's agents has the same games: slabs, last observations,
// results, records and the names in them, also when its seats are asked for in parts, and through a checkpoint.
func TestClientAsOpponent(t *testing.T) {
	for _, small := range []bool{false, true} {
		p := start(t, func(c *server.Config) {
			if small {
				c.Limits.MaxReply = 1 << 12
			}
		})
		for _, game := range []string{"toy:pick", "toy:turns"} {
			for _, mode := range []string{"NextStep", "SameStep"} {
				for _, others := range [][]int{{1}, {0}} {
					mine, theirs := map[int]any{}, map[int]any{}
					for _, seat := range others {
						mine[seat], theirs[seat] = mixed("client:first", 1, "last", 0.5), mixed("first", 1, "last", 0.5)
					}
					options := map[string]any{"num_envs": 9, "autoreset": mode, "opponents": theirs, "fields": []string{"planes", "mask", "seat"}}
					a, err := dial(t, p.unix).Open(game, options)
					require.NoError(t, err)
					options["opponents"] = mine
					b, err := dial(t, p.unix).Open(game, options)
					require.NoError(t, err)
					require.Equal(t, []string{"client:first", "last"}, b.Opponents)
					for _, g := range []*client.Games{a, b} {
						require.NoError(t, g.Call("record", nil, map[string]any{"every": 1}))
						require.NoError(t, g.CallSlab("reset"))
					}
					seats := goOn(t, b)
					var c chooser
					actions := make([]byte, 2*a.Rows)
					for step := range 40 {
						require.Equal(t, a.Slab, b.Slab)
						c.choose(a.Field("mask"), a.Rows, actions)
						require.NoError(t, a.Step(actions))
						require.NoError(t, b.Step(actions))
						seats += goOn(t, b)
						var left, right map[string]any
						require.NoError(t, a.Call("final", &left))
						require.NoError(t, b.Call("final", &right))
						require.Equal(t, left, right)
						if step == 17 && !small {
							for _, g := range []*client.Games{a, b} {
								head, all := parts{g}.checkpoint(t)
								parts{g}.resume(t, head, all)
							}
							goOn(t, b)
						}
					}
					require.Positive(t, seats)
					var left, right tally
					require.NoError(t, a.Call("opponent_stats", &left))
					require.NoError(t, b.Call("opponent_stats", &right))
					require.Equal(t, left, right)
					one, _ := stopRecording(t, a)
					two, _ := stopRecording(t, b)
					require.Equal(t, one, two, "a record has the name alone")
					require.NotEmpty(t, one)
				}
			}
		}
	}
}

// The same in a stream: a game that waits is sent once more.
func TestClientAsOpponentOfAStream(t *testing.T) {
	p := start(t, nil)
	options := map[string]any{"num_envs": 4, "autoreset": "SameStep", "opponents": map[int]any{0: "client:first"}}
	b, err := dial(t, p.unix).Open("toy:turns", options)
	require.NoError(t, err)
	options["opponents"] = map[int]any{0: "first"}
	a, err := dial(t, p.unix).Open("toy:turns", options)
	require.NoError(t, err)
	require.NoError(t, a.CallSlab("reset"))
	require.NoError(t, b.CallSlab("reset"))
	goOn(t, b)
	var c chooser
	actions := make([]byte, 2*a.Rows)
	for range 60 {
		c.choose(a.Field("mask"), a.Rows, actions)
		require.NoError(t, a.Step(actions))
		for i := range uint32(4) {
			each := len(actions) / 4
			for waiting := true; waiting; {
				answerFirst(t, b, u32(i))
				require.NoError(t, b.Call("send", nil, u32(i), actions[int(i)*each:(int(i)+1)*each]))
				var got received
				require.NoError(t, b.Call("recv", &got, 1, 1, 60_000))
				var now askedFor
				require.NoError(t, b.Call("asked", &now, u32(i)))
				waiting = len(now.Waiting) > 0
			}
		}
		require.NoError(t, b.CallSlab("clone", u32(), u32()), "to see the games")
		require.Equal(t, a.Field("planes"), b.Field("planes"))
	}
}

// A checkpoint with a client as opponent goes on in games that were opened without one.
func TestClientAsOpponentGoesOnElsewhere(t *testing.T) {
	p := start(t, nil)
	options := map[string]any{"num_envs": 6, "autoreset": "SameStep", "opponents": map[int]any{1: mixed("last", 1, "client:first", 1)}}
	a, err := dial(t, p.unix).Open("toy:pick", options)
	require.NoError(t, err)
	options["opponents"] = map[int]any{1: "first"}
	b, err := dial(t, p.unix).Open("toy:pick", options)
	require.NoError(t, err)
	for _, g := range []*client.Games{a, b} {
		require.NoError(t, g.CallSlab("reset"))
		goOn(t, g)
	}
	head, all := parts{a}.checkpoint(t)
	parts{b}.resume(t, head, all)
	parts{a}.resume(t, head, all)
	var c chooser
	actions := make([]byte, 2*a.Rows)
	for range 30 {
		goOn(t, a)
		goOn(t, b)
		require.Equal(t, a.Slab, b.Slab)
		c.choose(a.Field("mask"), a.Rows, actions)
		require.NoError(t, a.Step(actions))
		require.NoError(t, b.Step(actions))
	}
	var left, right tally
	require.NoError(t, a.Call("opponent_stats", &left))
	require.NoError(t, b.Call("opponent_stats", &right))
	require.Equal(t, 2, right.Count)
	require.Equal(t, left, right)
}

func TestClientAsOpponentRefused(t *testing.T) {
	g := opened(t, "toy:pick", map[string]any{"num_envs": 2, "opponents": map[int]any{1: "client:me"}})
	var none askedFor
	require.NoError(t, g.Call("asked", &none), "before the first reset")
	require.Zero(t, none.All)
	require.NoError(t, g.CallSlab("reset"))
	err := g.Step(make([]byte, 2*g.Rows))
	require.Equal(t, wire.NeedsAnswer, code(t, err))
	require.ErrorContains(t, err, "answer first")
	err = g.Call("rollout", nil, 3)
	require.Equal(t, wire.BadParams, code(t, err))
	require.ErrorContains(t, err, "the server cannot ask the client")
	for says, params := range map[string][]any{
		"want 4, 1 and 2 for each answer":      {u32(0), []byte{1}, []byte{0}},
		"seat 0 of environment 0 is not asked": {u32(0), []byte{0}, []byte{0, 0}},
		"environment 7 of 2":                   {u32(7), []byte{1}, []byte{0, 0}},
	} {
		err := g.Call("answer", nil, params...)
		require.Equal(t, wire.BadParams, code(t, err))
		require.ErrorContains(t, err, says)
	}
	err = g.Call("answer", nil, u32(1), []byte{1}, []byte{0xF0, 0})
	require.Equal(t, wire.Illegal, code(t, err))
	for says, name := range map[string]string{"1 to 200 bytes of text": "client:", "its name is": "client:a\nb"} {
		err := g.Call("set_opponents", nil, map[int]any{1: name})
		require.Equal(t, wire.BadParams, code(t, err))
		require.ErrorContains(t, err, says)
	}
	require.NoError(t, g.Call("set_opponents", nil, map[int]any{1: "first"}))
	answerFirst(t, g, nil)
	require.NoError(t, g.CallSlab("reset"))
	require.NoError(t, g.Call("rollout", nil, 3), "nobody is asked any more")
}

// A curriculum is an option of opponents: every game begins against the first, and a checkpoint keeps where it stands.
func TestCurriculum(t *testing.T) {
	ladder := map[int]any{1: mixed("first", 1, "last", 1)}
	rule := map[string]any{"of": 2, "up": 0.6, "down": 0.4}
	options := map[string]any{"num_envs": 30, "autoreset": "SameStep", "opponents": ladder, "curriculum": rule}
	g := opened(t, toy.Pick.Name, options)
	require.NoError(t, g.CallSlab("reset"))
	require.NotContains(t, seatOne(g), 1)
	play(t, g, 40)
	require.Contains(t, seatOne(g), 1)
	require.Contains(t, seatOne(g), 0)
	head, all := parts{g}.checkpoint(t)
	require.Contains(t, string(head), `"curriculum":{"of":2,"up":0.6,"down":0.4}`)
	want := play(t, g, 30)
	parts{g}.resume(t, head, all)
	require.Equal(t, want, play(t, g, 30))
	other := opened(t, toy.Pick.Name, map[string]any{"num_envs": 30, "autoreset": "SameStep", "opponents": map[int]any{1: "first"}})
	require.NoError(t, other.CallSlab("reset"))
	parts{other}.resume(t, head, all)
	require.Equal(t, want, play(t, other, 30))
	require.NoError(t, g.Call("set_opponents", nil, map[int]any{1: "first"}))
	require.NoError(t, g.CallSlab("reset"))
	require.NotContains(t, seatOne(g), 1)
	for says, rule := range map[string]map[string]any{
		"curriculum: of is 0, want 1 to 1000": {"of": 0}, "down at most up": {"of": 3, "up": 0.2, "down": 0.4},
	} {
		err := g.Call("set_opponents", nil, ladder, map[string]any{"curriculum": rule})
		require.Equal(t, wire.BadParams, code(t, err))
		require.ErrorContains(t, err, says)
	}
}
