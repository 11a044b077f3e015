package server_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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
func (t *tally) results() (all [][4]uint64) {
	for k := range t.Count {
		var one [4]uint64
		for j, b := range [][]byte{t.Wins, t.Draws, t.Losses, t.Truncated} {
			one[j] = binary.LittleEndian.Uint64(b[8*k:])
		}
		all = append(all, one)
	}
	return all
}

// opponents returns what the slab says who plays seat 1.
func seatOne(g *client.Games) (ids []int) {
	b := g.Field("opponent")
	for i := range g.NumEnvs {
		ids = append(ids, int(binary.LittleEndian.Uint16(b[4*i+2:])))
	}
	return ids
}

// memory is what the server has accounted for.
func memory(t *testing.T, c *client.Client) int64 {
	var stats struct {
		Memory int64 `msgpack:"memory"`
	}
	require.NoError(t, c.Call("stats", &stats))
	return stats.Memory
}

// A mixture is drawn for every game; the slab, final and opponent_stats say who played, also after the
// mixture has changed and changed back.
func TestMixture(t *testing.T) {
	const n = 40
	for _, mode := range []string{"NextStep", "SameStep"} {
		g := opened(t, "toy:pick", map[string]any{"num_envs": n, "autoreset": mode,
			"opponents": map[int]any{1: mixed("first", 3, "last", 1.5)}})
		require.Equal(t, []string{"first", "last"}, g.Opponents)
		require.NoError(t, g.CallSlab("reset"))
		before, want := seatOne(g), make([][4]uint64, 3)
		require.Contains(t, before, 0)
		require.Contains(t, before, 1)
		var c chooser
		actions := make([]byte, 2*g.Rows)
		changed := 0
		for step := range 120 {
			if step == 60 {
				var out struct {
					First     int      `msgpack:"first"`
					Opponents []string `msgpack:"opponents"`
				}
				require.NoError(t, g.Call("set_opponents", &out, map[int]any{1: mixed("again", 1, "last", 2)}))
				require.Equal(t, 2, out.First)
				require.Equal(t, []string{"again"}, out.Opponents)
				require.Equal(t, before, seatOne(g), "the games in progress go on")
			}
			c.choose(g.Field("mask"), g.Rows, actions)
			require.NoError(t, g.Step(actions))
			var end struct {
				Envs      []byte `msgpack:"envs"`
				Opponents []byte `msgpack:"opponents"`
			}
			require.NoError(t, g.Call("final", &end))
			for k := range len(end.Envs) / 4 {
				i := int(binary.LittleEndian.Uint32(end.Envs[4*k:]))
				id := int(binary.LittleEndian.Uint16(end.Opponents[4*k+2:]))
				require.Equal(t, before[i], id)
				if id == 2 {
					changed++
				}
				reward := math.Float32frombits(binary.LittleEndian.Uint32(g.Field("reward")[8*i:]))
				want[id][1-int(reward)]++
			}
			before = seatOne(g)
		}
		require.Positive(t, changed)
		require.NotContains(t, before, 0, "who is not in the mixture any more has left")
		for range 2 {
			var got tally
			require.NoError(t, g.Call("opponent_stats", &got))
			require.Equal(t, want, got.results(), mode)
		}
		require.NoError(t, g.Call("opponent_stats", nil, map[string]any{"reset": true}))
		var got tally
		require.NoError(t, g.Call("opponent_stats", &got))
		require.Equal(t, make([][4]uint64, 3), got.results())
	}
}

// Two handles with a part of the games each play what one would, and a set_opponents that names one seat
// leaves the others as they are.
func TestMixturesOfSplitGames(t *testing.T) {
	options := func(n, first int) map[string]any {
		return map[string]any{"num_envs": n, "first": first, "seed": 5, "opponents": map[int]any{
			0: mixed("first", 1, "last", 2), 2: mixed("last", 1, "first", 1)}}
	}
	run := func(g *client.Games) (rows []string) {
		rows = make([]string, g.NumEnvs)
		require.NoError(t, g.CallSlab("reset"))
		for k := range 8 {
			if k == 4 {
				require.NoError(t, g.Call("set_opponents", nil, map[int]any{0: "again"}))
			}
			require.NoError(t, g.Call("rollout", nil, 7, map[string]any{"keep": "last"}))
			require.NoError(t, g.CallSlab("clone", []byte{}, []byte{}))
			for i := range rows {
				planes := g.Field("planes")
				n := len(planes) / g.NumEnvs
				rows[i] += fmt.Sprint(g.Field("opponent")[6*i:6*i+6], planes[i*n:i*n+n])
			}
		}
		return rows
	}
	whole := run(opened(t, "toy:turns", options(10, 0)))
	require.Equal(t, whole, append(run(opened(t, "toy:turns", options(3, 0))), run(opened(t, "toy:turns", options(7, 3)))...))
	last := strings.Join(whole, "")
	require.Contains(t, last, "[2 0 255 255 1 0]", "again, the client, last")
	require.Contains(t, last, "[2 0 255 255 0 0]", "again, the client, first: numbers are of the handle, not of a seat")
}

func TestBadMixtures(t *testing.T) {
	many := slices.Repeat([]any{[]any{"first", 1}}, 257)
	nan, inf := math.NaN(), math.Inf(1)
	for says, m := range map[string]any{
		"opponents[1] is int8, want a spec or an array of [spec, weight]":         3,
		"opponents[1] is an empty mixture":                                        []any{},
		"opponents[1], entry 2: want [spec, weight]":                              []any{[]any{"first", 1}, "last"},
		`opponents[1], entry 1, "first": the weight is not a number`:              mixed("first", "1"),
		"opponents[1], entry 1: the spec is not a string":                         mixed(7, 1),
		"opponents[1]: entry 2 has weight 0, want a finite number above 0":        mixed("first", 1, "last", 0),
		"opponents[1]: entry 1 has weight -1":                                     mixed("first", -1),
		"opponents[1]: entry 1 has weight NaN":                                    mixed("first", nan),
		"opponents[1]: entry 1 has weight +Inf":                                   mixed("first", inf),
		`opponents[1], entry 2: unknown agent "nobody"`:                           mixed("first", 1, "nobody", 1),
		"opponents[1], entry 1: reads files or runs commands":                     "net:weights=x",
		"opponents[1], entry 1: " + sumOf("") + ": no such weights were uploaded": "net:weights=" + sumOf(""),
		"opponents[1]: limit opponents of a seat is 256, asked for 257":           many,
	} {
		p := start(t, nil)
		c := dial(t, p.unix)
		idle := memory(t, c)
		_, err := c.Open("toy:pick", map[string]any{"opponents": map[int]any{1: m}})
		require.ErrorContains(t, err, "open: "+says)
		require.Equal(t, idle, memory(t, c))
		g, err := c.Open("toy:pick", map[string]any{"num_envs": 3, "opponents": map[int]any{1: "first"}})
		require.NoError(t, err)
		idle = memory(t, c)
		require.ErrorContains(t, g.Call("set_opponents", nil, map[int]any{1: m}), says)
		require.Equal(t, idle, memory(t, c))
		require.NoError(t, g.CallSlab("reset"))
		require.Equal(t, []int{0, 0, 0}, seatOne(g), "a refused mixture changes nothing")
	}
}

func sumOf(data string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(data))) }

// Uploaded weights are checked, kept for the session, counted, and freed; opponents loaded from them play on.
func TestUpload(t *testing.T) {
	p := start(t, nil)
	c, other := dial(t, p.unix), dial(t, p.tcp)
	idle := memory(t, other)
	good := "good" + strings.Repeat("x", 1000)
	spec := "net:weights=" + sumOf(good)
	require.ErrorContains(t, c.Call("upload", nil, "toy:pick", spec, []byte(good+"!")), "the 1005 bytes are "+sumOf(good+"!")+", but the spec")
	require.ErrorContains(t, c.Call("upload", nil, "toy:pick", "net:weights="+sumOf("bad!"), []byte("bad!")), "bad weights")
	require.ErrorContains(t, c.Call("upload", nil, "chess", spec, []byte(good)), "no game")
	require.Equal(t, idle, memory(t, other))
	for range 2 {
		require.NoError(t, c.Call("upload", nil, "toy:pick", spec, []byte(good)))
		require.Equal(t, idle+int64(len(good))+1024, memory(t, other), "once")
	}
	require.NoError(t, c.Call("upload", nil, "toy:pick", "net:ply=1,weights="+sumOf(good), []byte(good)))
	options := map[string]any{"opponents": map[int]any{1: mixed(spec, 1)}}
	_, err := other.Open("toy:pick", options)
	require.ErrorContains(t, err, "no such weights were uploaded in this session", "each session has its own")
	g, err := c.Open("toy:pick", options)
	require.NoError(t, err)
	require.NoError(t, c.Call("drop_upload", nil, sumOf(good)))
	require.ErrorContains(t, c.Call("drop_upload", nil, sumOf(good)), "no such weights")
	_, err = c.Open("toy:pick", options)
	require.ErrorContains(t, err, "no such weights")
	require.NoError(t, g.CallSlab("reset"))
	future(t, g, 20)
	require.NoError(t, c.Call("upload", nil, "toy:pick", spec, []byte(good)))
	require.NoError(t, c.Close())
	require.Eventually(t, func() bool { return memory(t, other) == idle }, hangs, 10*time.Millisecond)
}

func TestUploadLimits(t *testing.T) {
	p := start(t, func(c *server.Config) { c.Limits.MaxMemory = 100_000 })
	c := dial(t, p.unix)
	big := "good" + strings.Repeat("x", 60_000)
	require.NoError(t, c.Call("upload", nil, "toy:pick", "net:weights="+sumOf(big), []byte(big)))
	more := big + "x"
	limited(t, c.Call("upload", nil, "toy:pick", "net:weights="+sumOf(more), []byte(more)), wire.Limit, "max_memory", 100_000)
	_, err := c.Open("toy:pick", map[string]any{"opponents": map[int]any{1: "net:weights=" + sumOf(big)}})
	limited(t, err, wire.Limit, "max_memory", 100_000)
	require.Equal(t, int64(61_028), memory(t, c))
}

// An opponent is unloaded when no mixture has it and no game plays it any more, so that a pool which changes
// for days does not fill the server.
func TestOpponentsRetire(t *testing.T) {
	p := start(t, nil)
	c := dial(t, p.unix)
	g, err := c.Open("toy:pick", map[string]any{"num_envs": 4, "opponents": map[int]any{1: "first"}})
	require.NoError(t, err)
	require.NoError(t, g.CallSlab("reset"))
	idle, entry := memory(t, c), int64(128+len("net:weights="+sumOf("")))
	for k := range 30 {
		weights := fmt.Sprint("good", k)
		name := sumOf(weights)
		require.NoError(t, c.Call("upload", nil, "toy:pick", "net:weights="+name, []byte(weights)))
		require.NoError(t, g.Call("set_opponents", nil, map[int]any{1: mixed("net:weights="+name, 1, "first", 1)}))
		require.NoError(t, c.Call("drop_upload", nil, name))
		require.NoError(t, g.CallSlab("reset"))
		require.NoError(t, g.Call("set_opponents", nil, map[int]any{1: "first"}))
	}
	require.NoError(t, g.CallSlab("reset"))
	require.NoError(t, g.Call("set_opponents", nil, map[int]any{1: "first"}))
	require.Equal(t, idle+30*entry, memory(t, c), "the specs are kept")
	var got tally
	require.NoError(t, g.Call("opponent_stats", &got))
	require.Equal(t, 31, got.Count, "their numbers remain")
	require.NoError(t, c.Call("close", nil, 1))
	require.Zero(t, memory(t, c))
	require.False(t, bytes.Contains([]byte(p.logged()), []byte("panic")))
}
