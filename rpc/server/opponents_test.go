package server_test

import (
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	records "blockyard/datasets/record"
	"blockyard/env"
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

// tally is the result of opponent_stats.
type tally struct {
	Count     int    `msgpack:"count"`
	Wins      []byte `msgpack:"wins"`
	Draws     []byte `msgpack:"draws"`
	Losses    []byte `msgpack:"losses"`
	Truncated []byte `msgpack:"truncated"`
}

// results returns wins, draws, losses and truncated games against every opponent.
func (t *tally) results() [][4]uint64 {
	all := make([][4]uint64, t.Count)
	for j, counts := range [][]byte{t.Wins, t.Draws, t.Losses, t.Truncated} {
		for k, n := range numbers[uint64](counts) {
			all[k][j] = n
		}
	}
	return all
}

// resultsOf asks for the results against every opponent.
func resultsOf(t *testing.T, g *client.Games, options ...any) [][4]uint64 {
	t.Helper()
	got := result[tally](t, g, "opponent_stats", options...)
	return got.results()
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

// A mixture is drawn for every game; the slab, final, opponent_stats and the record say who played, also after the
// mixture has changed.
func TestMixture(t *testing.T) {
	for _, mode := range []string{"NextStep", "SameStep"} {
		g := opened(t, "toy:pick", map[string]any{"num_envs": 40, "autoreset": mode,
			"opponents": map[int]any{1: mixed("first", 3, "last", 1.5)}})
		require.Equal(t, []string{"first", "last"}, g.Opponents)
		recordOne(t, g, 1)
		before, want := seatOne(g), make([][4]uint64, 3)
		require.Subset(t, before, []int{0, 1})
		var c chooser
		changed := 0
		for step := range 120 {
			if step == 60 {
				type added struct {
					First     int      `msgpack:"first"`
					Opponents []string `msgpack:"opponents"`
				}
				mixture := map[int]any{1: mixed("again", 1, "last", 2)}
				require.Equal(t, added{2, []string{"again"}}, result[added](t, g, "set_opponents", mixture))
				require.Equal(t, before, seatOne(g), "the games in progress go on")
			}
			stepped(t, g, &c)
			end, rewards := result[finals](t, g, "final"), numbers[float32](g.Field("reward"))
			opponents := numbers[uint16](end.Opponents)
			for k, i := range numbers[uint32](end.Envs) {
				id := int(opponents[2*k+1])
				require.Equal(t, before[i], id)
				if id == 2 {
					changed++
				}
				want[id][1-int(rewards[2*i])]++
			}
			before = seatOne(g)
		}
		require.Positive(t, changed)
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
		_, err := c.Open("toy:pick", map[string]any{"opponents": map[int]any{1: m}})
		require.ErrorContains(t, err, "open: "+says)
		require.Equal(t, idle, memory(t, c))
		g := openGames(t, c, "toy:pick", map[string]any{"num_envs": 3, "opponents": map[int]any{1: "first"}})
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
	p := start(t, nil)
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
		require.Equal(t, idle+int64(len(good))+1024, memory(t, other), "once")
	}
	require.NoError(t, upload("toy:pick", "net:ply=1,weights="+sumOf(good), good))
	options := map[string]any{"opponents": map[int]any{1: mixed(netOf(good), 1)}}
	_, err := other.Open("toy:pick", options)
	require.ErrorContains(t, err, "no such weights were uploaded in this session", "each session has its own")
	g := openGames(t, c, "toy:pick", options)
	require.NoError(t, c.Call("drop_upload", nil, sumOf(good)))
	require.ErrorContains(t, c.Call("drop_upload", nil, sumOf(good)), "no such weights")
	_, err = c.Open("toy:pick", options)
	require.ErrorContains(t, err, "no such weights")
	require.NoError(t, g.Reset(nil))
	future(t, g, 20)
	require.NoError(t, upload("toy:pick", netOf(good), good))
	require.NoError(t, c.Close())
	require.Eventually(t, func() bool { return memory(t, other) == idle }, hangs, 10*time.Millisecond)
}

func TestUploadLimits(t *testing.T) {
	p := start(t, func(c *server.Config) { c.Limits.MaxMemory = 100_000 })
	c := dial(t, p.unix)
	big := "good" + strings.Repeat("x", 60_000)
	upload := func(data string) error { return c.Call("upload", nil, "toy:pick", netOf(data), []byte(data)) }
	require.NoError(t, upload(big))
	limited(t, upload(big+"x"), wire.Limit, "max_memory", 100_000)
	_, err := c.Open("toy:pick", map[string]any{"opponents": map[int]any{1: netOf(big)}})
	limited(t, err, wire.Limit, "max_memory", 100_000)
	require.Equal(t, int64(61_028), memory(t, c))
}

// An opponent is unloaded when no mixture has it and no game plays it any more, so that a pool which changes
// for days does not fill the server.
func TestOpponentsRetire(t *testing.T) {
	p := start(t, nil)
	c := dial(t, p.unix)
	g := startGames(t, c, "toy:pick", map[string]any{"num_envs": 4, "opponents": map[int]any{1: "first"}})
	idle, entry := memory(t, c), int64(128+len(netOf("")))
	set := func(mixture any) {
		t.Helper()
		require.NoError(t, g.Call("set_opponents", nil, map[int]any{1: mixture}))
	}
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
