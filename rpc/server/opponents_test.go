package server_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	records "blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/env/envtest/toy"
	"blockyard/rpc/server"
	"blockyard/rpc/wire"
	"blockyard/rpc/wire/client"
)

// mixed is a mixture on the wire: specs with their weights in turn.
func mixed(entries ...any) (list []any) {
	for k := 0; k < len(entries); k += 2 {
		list = append(list, []any{entries[k], entries[k+1]})
	}
	return list
}

// resultsOf returns wins, draws, losses and truncated games against every opponent.
func resultsOf(t *testing.T, g *client.Games, options ...any) [][4]uint64 {
	got := ask(t, g, "opponent_stats", options...)
	all := make([][4]uint64, got["count"].(int))
	for j, name := range []string{"wins", "draws", "losses", "truncated"} {
		for k, n := range numbers[uint64](got.bytes(name)) {
			all[k][j] = n
		}
	}
	return all
}

// seatOne returns what the slab says who plays seat 1 of two.
func seatOne(g *client.Games) (ids []int) {
	for k, id := range numbers[uint16](g.Field("opponent")) {
		if k%2 == 1 {
			ids = append(ids, int(id))
		}
	}
	return ids
}

// The slab, final, opponent_stats and the record say who was drawn for a game, also after the mixture has changed.
func TestMixture(t *testing.T) {
	for _, mode := range []string{"NextStep", "SameStep"} {
		g := opened(t, "toy:pick", map[string]any{"num_envs": 40, "autoreset": mode,
			"opponents": map[int]any{1: mixed("first", 3, "last", 1.5)}})
		require.Equal(t, []string{"first", "last"}, g.Opponents)
		recordOne(t, g, 1)
		before, want := seatOne(g), make([][4]uint64, 3)
		require.Subset(t, before, []int{0, 1})
		var c chooser
		for step := range 120 {
			if step == 60 {
				added := ask(t, g, "set_opponents", map[int]any{1: mixed("again", 1, "last", 2)})
				require.Equal(t, fields{"first": 2, "opponents": []any{"again"}}, added)
				require.Equal(t, before, seatOne(g), "the games in progress go on")
			}
			stepped(t, g, &c)
			end, rewards := ask(t, g, "final"), numbers[float32](g.Field("reward"))
			opponents := numbers[uint16](end.bytes("opponents"))
			for k, i := range numbers[uint32](end.bytes("envs")) {
				id := int(opponents[2*k+1])
				require.Equal(t, before[i], id)
				want[id][1-int(rewards[2*i])]++
			}
			before = seatOne(g)
		}
		require.NotZero(t, want[2])
		require.NotContains(t, before, 0, "who is not in the mixture any more has left")
		require.Equal(t, want, resultsOf(t, g), mode)
		require.Equal(t, want, resultsOf(t, g, map[string]any{"reset": true}))
		require.Equal(t, make([][4]uint64, 3), resultsOf(t, g))
		lines, _ := stopRecording(t, g)
		recorded := map[string]uint64{}
		for _, rec := range recordsIn(t, lines, toy.Pick) {
			recorded[rec.Agents[1]]++
			for s, moves := range records.NewReplay(toy.Pick, rec).All() {
				if legal := s.Legal(1, nil); len(legal) > 0 {
					plays := map[string]env.Action{"first": legal[0], "again": legal[0], "last": legal[len(legal)-1]}
					require.Equal(t, plays[rec.Agents[1]], moves[1])
				}
			}
		}
		for id, spec := range []string{"first", "last", "again"} {
			require.Equal(t, want[id][0]+want[id][1]+want[id][2], recorded[spec])
		}
	}
}

func TestBadMixtures(t *testing.T) {
	c := dial(t, start(t, nil).unix)
	for says, m := range map[string]any{
		"opponents[1] is int8, want a spec or an array of [spec, weight]":         3,
		"opponents[1] is an empty mixture":                                        []any{},
		"opponents[1], entry 2: want [spec, weight]":                              []any{[]any{"first", 1}, "last"},
		`opponents[1], entry 1, "first": the weight is not a number`:              mixed("first", "1"),
		"opponents[1], entry 1: the spec is not a string":                         mixed(7, 1),
		"opponents[1]: entry 2 has weight 0, want a finite number above 0":        mixed("first", 1, "last", 0),
		"opponents[1]: entry 1 has weight -1":                                     mixed("first", -1),
		"opponents[1]: entry 1 has weight NaN":                                    mixed("first", math.NaN()),
		"opponents[1]: entry 1 has weight +Inf":                                   mixed("first", math.Inf(1)),
		`opponents[1], entry 2: unknown agent "nobody"`:                           mixed("first", 1, "nobody", 1),
		"opponents[1], entry 1: reads files or runs commands":                     "net:weights=x",
		"opponents[1], entry 1: " + sumOf("") + ": no such weights were uploaded": "net:weights=" + sumOf(""),
		"opponents[1]: limit opponents of a seat is 256, asked for 257":           slices.Repeat(mixed("first", 1), 257),
	} {
		idle := memory(t, c)
		require.ErrorContains(t, envtest.Failed(c.Open("toy:pick", map[string]any{"opponents": map[int]any{1: m}})), "open: "+says)
		require.Equal(t, idle, memory(t, c))
		g := openGames(c, "toy:pick", map[string]any{"num_envs": 3, "opponents": map[int]any{1: "first"}})
		idle = memory(t, c)
		require.ErrorContains(t, g.Call("set_opponents", nil, map[int]any{1: m}), says)
		require.Equal(t, idle, memory(t, c))
		require.NoError(t, g.Reset(nil))
		require.Equal(t, []int{0, 0, 0}, seatOne(g), "a refused mixture changes nothing")
	}
}

func sumOf(data string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(data))) }

// netOf is the spec of an opponent with such weights.
func netOf(data string) string { return "net:weights=" + sumOf(data) }

// Uploaded weights are checked, kept for the session, counted, and freed; opponents loaded from them play on.
func TestUpload(t *testing.T) {
	p := start(t, func(c *server.Config) { c.Limits.MaxMemory = 100_000 })
	c, other := dial(t, p.unix), dial(t, p.tcp)
	idle := memory(t, other)
	good := "good" + strings.Repeat("x", 1000)
	upload := func(game, spec, data string) error { return c.Call("upload", nil, game, spec, []byte(data)) }
	require.ErrorContains(t, upload("toy:pick", netOf(good), good+"!"), "the 1005 bytes are "+sumOf(good+"!")+", but the spec")
	require.ErrorContains(t, upload("toy:pick", netOf("bad!"), "bad!"), "bad weights")
	require.ErrorContains(t, upload("chess", netOf(good), good), "no game")
	require.Equal(t, idle, memory(t, other))
	for range 2 {
		require.NoError(t, upload("toy:pick", netOf(good), good))
		require.Equal(t, idle+len(good)+1024, memory(t, other), "once")
	}
	require.NoError(t, upload("toy:pick", "net:ply=1,weights="+sumOf(good), good))
	options := map[string]any{"opponents": map[int]any{1: mixed(netOf(good), 1)}}
	require.ErrorContains(t, envtest.Failed(other.Open("toy:pick", options)), "no such weights were uploaded in this session")
	g := openGames(c, "toy:pick", options)
	require.NoError(t, c.Call("drop_upload", nil, sumOf(good)))
	require.ErrorContains(t, c.Call("drop_upload", nil, sumOf(good)), "no such weights")
	require.ErrorContains(t, envtest.Failed(c.Open("toy:pick", options)), "no such weights")
	require.NoError(t, g.Reset(nil))
	future(t, g, 20)
	require.NoError(t, upload("toy:pick", netOf(good), good))
	require.NoError(t, g.Call("close", nil))
	big := "good" + strings.Repeat("x", 60_000)
	require.NoError(t, upload("toy:pick", netOf(big), big))
	limited(t, upload("toy:pick", netOf(big+"x"), big+"x"), wire.Limit, "max_memory", 100_000)
	options["opponents"] = map[int]any{1: netOf(big)}
	limited(t, envtest.Failed(c.Open("toy:pick", options)), wire.Limit, "max_memory", 100_000)
	require.Equal(t, len(good)+len(big)+2*1024, memory(t, c))
	require.NoError(t, c.Close())
	require.Eventually(t, func() bool { return memory(t, other) == idle }, hangs, 10*time.Millisecond)
}

// Who is in no mixture and no game any more is unloaded: a pool that changes for days does not fill the server.
func TestOpponentsRetire(t *testing.T) {
	p := start(t, nil)
	c := dial(t, p.unix)
	g := startGames(t, c, "toy:pick", map[string]any{"num_envs": 4, "opponents": map[int]any{1: "first"}})
	idle, entry := memory(t, c), 128+len(netOf(""))
	set := func(mixture any) { require.NoError(t, g.Call("set_opponents", nil, map[int]any{1: mixture})) }
	for k := range 30 {
		weights := fmt.Sprint("good", k)
		require.NoError(t, c.Call("upload", nil, "toy:pick", netOf(weights), []byte(weights)))
		set(mixed(netOf(weights), 1, "first", 1))
		require.NoError(t, c.Call("drop_upload", nil, sumOf(weights)))
		require.NoError(t, g.Reset(nil))
		set("first")
	}
	require.NoError(t, g.Reset(nil))
	set("first")
	require.Equal(t, idle+30*entry, memory(t, c), "the specs are kept")
	require.Len(t, resultsOf(t, g), 31, "their numbers remain")
	require.NoError(t, g.Call("close", nil))
	require.Zero(t, memory(t, c))
	require.NotContains(t, p.logged(), "panic")
}

// panics is the choice of an agent that panics.
func panics(context.Context, []env.Action) (env.Action, error) { panic("a secret of the server") }

// After an opponent has failed, in a step or a stream, the client hears of it until it takes another opponent and resets
// the games. Of a panic it gets the numbers under which the log has the stack.
func TestOpponentsThatFail(t *testing.T) {
	p := start(t, func(c *server.Config) {
		addAgent(c, "panics", playing(panics))
		addAgent(c, "broken", func(uint64) (env.Agent, error) { return nil, errors.New("no such engine") })
		addAgent(c, "fails", playing(func(context.Context, []env.Action) (env.Action, error) {
			return env.None, errors.New("no idea")
		}))
	})
	c, games := dial(t, p.unix), u32(0, 1, 2, 3, 4, 5, 6, 7)
	for spec, want := range map[string]int{"broken": wire.Opponent, "fails": wire.Opponent, "panics": wire.Internal} {
		g := startGames(t, c, "toy:pick", map[string]any{"num_envs": 8, "opponents": map[int]string{1: "first"}})
		set := func(spec string) { require.NoError(t, g.Call("set_opponents", nil, map[int]string{1: spec})) }
		for _, play := range []func() error{
			func() error { return g.Step(none(8)) },
			func() error {
				return errors.Join(g.Call("send", nil, games, none(8)), g.Call("recv", nil, 8, 8, 60_000))
			},
		} {
			set(spec)
			if err := g.Reset(nil); spec == "broken" {
				require.Equal(t, want, code(t, err))
			}
			for range 2 {
				err := play()
				require.Equal(t, want, code(t, err), "%s: %v", spec, err)
				require.NotRegexp(t, `secret|\.go:`, err.Error())
			}
			set("first")
			require.NoError(t, g.Reset(nil))
			require.NoError(t, play())
		}
	}
	require.Regexp(t, `a secret of the server.*server_test\.panics`, p.logged())
}

// answerFirst answers all seats that are asked in some games, nil for all, with their first legal actions.
func answerFirst(t testing.TB, g *client.Games, games []byte) (seats int, waiting []byte) {
	for {
		a := ask(t, g, "asked", games)
		asked := a.bytes("seats")
		n := len(asked)
		actions := chosen(a.bytes("mask"), n, func([]byte) uint64 { return 0 })
		require.NoError(t, g.Call("answer", nil, a["games"], asked, actions))
		if seats += n; n == a["all"] {
			return seats, a.bytes("waiting")
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
					options["opponents"] = map[int]any{seat: mixed("first", 1, "last", 0.5)}
					a := openGames(dial(t, p.unix), game, options)
					options["opponents"] = map[int]any{seat: mixed("client:first", 1, "last", 0.5)}
					b := openGames(dial(t, p.unix), game, options)
					require.Equal(t, []string{"client:first", "last"}, b.Opponents)
					both := []*client.Games{a, b}
					for _, g := range both {
						recordOne(t, g, 1)
					}
					seats := goOn(t, b)
					var c chooser
					for step := range 40 {
						require.Equal(t, a.Slab, b.Slab)
						actions := c.of(a)
						for _, g := range both {
							require.NoError(t, g.Step(actions))
							seats += goOn(t, g)
						}
						require.Equal(t, ask(t, a, "final"), ask(t, b, "final"))
						if step == 17 && !small { // each goes on as the other
							one, ones := parts{a}.checkpoint(t)
							two, twos := parts{b}.checkpoint(t)
							parts{b}.resume(t, one, ones)
							parts{a}.resume(t, two, twos)
							goOn(t, a)
						}
					}
					require.Positive(t, seats)
					require.Equal(t, resultsOf(t, a), resultsOf(t, b))
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
	options := map[string]any{"num_envs": 4, "autoreset": "SameStep", "opponents": map[int]any{0: "first"}}
	a := started(t, "toy:turns", options)
	options["opponents"] = map[int]any{0: "client:first"}
	b := started(t, "toy:turns", options)
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
				waiting = len(ask(t, b, "asked", u32(i)).bytes("waiting")) > 0
			}
		}
		require.NoError(t, b.CallSlab("clone", nil, nil), "to see the games")
		require.Equal(t, boards(a), boards(b))
	}
}

func TestClientAsOpponentRefused(t *testing.T) {
	g := opened(t, "toy:pick", map[string]any{"num_envs": 2, "opponents": map[int]any{1: "client:me"}})
	require.Zero(t, ask(t, g, "asked")["all"], "before the first reset")
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
