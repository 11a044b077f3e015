package server_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/rpc/server"
	"blockyard/rpc/wire"
	"blockyard/rpc/wire/client"
)

// askedFor is the result of the method asked.
type askedFor struct {
	All     int    `msgpack:"all"`
	Games   []byte `msgpack:"games"`
	Seats   []byte `msgpack:"seats"`
	Mask    []byte `msgpack:"mask"`
	Waiting []byte `msgpack:"waiting"`
}

// answerFirst answers all seats that are asked in some games, nil for all, with their first legal actions.
func answerFirst(t testing.TB, g *client.Games, games []byte) (seats int, waiting []byte) {
	for {
		a := result[askedFor](t, g, "asked", games)
		n := len(a.Seats)
		var actions []byte
		for k := range n {
			width := len(a.Mask) / n
			actions = append(actions, u16(legalOf(a.Mask[k*width:(k+1)*width], 0))...)
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

// pair opens the same games with these opponents, and with those.
func pair(t *testing.T, p *place, game string, options map[string]any, these, those map[int]any) (a, b *client.Games) {
	t.Helper()
	options = maps.Clone(options)
	options["opponents"] = these
	a = openGames(t, dial(t, p.unix), game, options)
	options["opponents"] = those
	return a, openGames(t, dial(t, p.unix), game, options)
}

// alike steps both games of a pair and answers what they ask.
func alike(t *testing.T, a, b *client.Games, c *chooser) (seats int) {
	t.Helper()
	require.Equal(t, a.Slab, b.Slab)
	actions := c.of(a)
	for _, g := range []*client.Games{a, b} {
		require.NoError(t, g.Step(actions))
		seats += goOn(t, g)
	}
	return seats
}

// A client that is an opponent and plays as one of the server's agents has the same games: slabs, last observations,
// results, records and the names in them, also when its seats are asked for in parts, and through a checkpoint of one
// that goes on with the other.
func TestClientAsOpponent(t *testing.T) {
	for _, small := range []bool{false, true} {
		p := start(t, func(c *server.Config) {
			if small {
				c.Limits.MaxReply = 1 << 12
			}
		})
		for _, game := range []string{"toy:pick", "toy:turns"} {
			for _, mode := range []string{"NextStep", "SameStep"} {
				for _, seat := range []int{1, 0} {
					options := map[string]any{"num_envs": 9, "autoreset": mode, "fields": []string{"planes", "mask", "seat"}}
					a, b := pair(t, p, game, options,
						map[int]any{seat: mixed("first", 1, "last", 0.5)}, map[int]any{seat: mixed("client:first", 1, "last", 0.5)})
					require.Equal(t, []string{"client:first", "last"}, b.Opponents)
					both := []*client.Games{a, b}
					for _, g := range both {
						recordOne(t, g, 1)
					}
					seats := goOn(t, b)
					var c chooser
					for step := range 40 {
						seats += alike(t, a, b, &c)
						require.Equal(t, result[finals](t, a, "final"), result[finals](t, b, "final"))
						if step == 17 && !small { // each goes on as the other
							one, ones := parts{a}.checkpoint(t)
							two, twos := parts{b}.checkpoint(t)
							parts{b}.resume(t, one, ones)
							parts{a}.resume(t, two, twos)
							goOn(t, a)
						}
					}
					require.Positive(t, seats)
					require.Equal(t, result[tally](t, a, "opponent_stats"), result[tally](t, b, "opponent_stats"))
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
	options := map[string]any{"num_envs": 4, "autoreset": "SameStep"}
	a, b := pair(t, start(t, nil), "toy:turns", options, map[int]any{0: "first"}, map[int]any{0: "client:first"})
	require.NoError(t, a.Reset(nil))
	require.NoError(t, b.Reset(nil))
	goOn(t, b)
	var c chooser
	for range 60 {
		actions := c.of(a)
		require.NoError(t, a.Step(actions))
		games := slices.Collect(slices.Chunk(actions, len(actions)/4))
		for i := range uint32(4) {
			for waiting := true; waiting; {
				answerFirst(t, b, u32(i))
				require.NoError(t, b.Call("send", nil, u32(i), games[i]))
				require.NoError(t, b.Call("recv", nil, 1, 1, 60_000))
				waiting = len(result[askedFor](t, b, "asked", u32(i)).Waiting) > 0
			}
		}
		require.NoError(t, b.CallSlab("clone", nil, nil), "to see the games")
		require.Equal(t, boards(a), boards(b))
	}
}

func TestClientAsOpponentRefused(t *testing.T) {
	g := opened(t, "toy:pick", map[string]any{"num_envs": 2, "opponents": map[int]any{1: "client:me"}})
	require.Zero(t, result[askedFor](t, g, "asked").All, "before the first reset")
	require.NoError(t, g.Reset(nil))
	refused(t, wire.NeedsAnswer, "answer first", g.Step(make([]byte, 2*g.Rows)))
	refused(t, wire.BadParams, "the server cannot ask the client", g.Call("rollout", nil, 3))
	for says, params := range map[string][]any{
		"want 4, 1 and 2 for each answer":      {u32(0), []byte{1}, []byte{0}},
		"seat 0 of environment 0 is not asked": {u32(0), []byte{0}, []byte{0, 0}},
		"environment 7 of 2":                   {u32(7), []byte{1}, []byte{0, 0}},
	} {
		refused(t, wire.BadParams, says, g.Call("answer", nil, params...))
	}
	require.Equal(t, wire.Illegal, code(t, g.Call("answer", nil, u32(1), []byte{1}, []byte{0xF0, 0})))
	for says, name := range map[string]string{"1 to 200 bytes of text": "client:", "its name is": "client:a\nb"} {
		refused(t, wire.BadParams, says, g.Call("set_opponents", nil, map[int]any{1: name}))
	}
	require.NoError(t, g.Call("set_opponents", nil, map[int]any{1: "first"}))
	answerFirst(t, g, nil)
	require.NoError(t, g.Reset(nil))
	require.NoError(t, g.Call("rollout", nil, 3), "nobody is asked any more")
}

// A curriculum is an option of opponents: every game begins against the first, and a checkpoint keeps where it stands.
func TestCurriculum(t *testing.T) {
	rule := map[string]any{"of": 2, "up": 0.6, "down": 0.4}
	ladder := map[int]any{1: mixed("first", 1, "last", 1)}
	options := map[string]any{"num_envs": 30, "autoreset": "SameStep", "opponents": map[int]any{1: "first"}}
	other := opened(t, "toy:pick", options)
	options["opponents"], options["curriculum"] = ladder, rule
	g := started(t, "toy:pick", options)
	require.NotContains(t, seatOne(g), 1)
	future(t, g, 40)
	require.Contains(t, seatOne(g), 1)
	require.Contains(t, seatOne(g), 0)
	head, all := parts{g}.checkpoint(t)
	require.Contains(t, string(head), `"curriculum":{"of":2,"up":0.6,"down":0.4}`)
	want := future(t, g, 30)
	for _, g := range []*client.Games{g, other} {
		parts{g}.resume(t, head, all)
		require.Equal(t, want, future(t, g, 30))
	}
	require.NoError(t, g.Call("set_opponents", nil, map[int]any{1: "first"}))
	require.NoError(t, g.Reset(nil))
	require.NotContains(t, seatOne(g), 1)
	for says, rule := range map[string]map[string]any{
		"curriculum: of is 0, want 1 to 1000": {"of": 0}, "down at most up": {"of": 3, "up": 0.2, "down": 0.4},
	} {
		refused(t, wire.BadParams, says, g.Call("set_opponents", nil, ladder, map[string]any{"curriculum": rule}))
	}
}
