package server_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/env/blockbattle"
	"blockyard/rpc/server"
	"blockyard/rpc/wire"
)

// saveOne returns a checkpoint of n games of Block Battle against random, and the games.
func saveOne(t testing.TB, p *place, n int) (a parts, head []byte, all [][]byte) {
	t.Helper()
	g := startGames(t, dial(t, p.unix), "blockbattle", map[string]any{"num_envs": n, "opponents": map[int]string{1: "random"}})
	require.NoError(t, g.Call("rollout", nil, 9, map[string]any{"policy": "first", "keep": "last"}))
	c := ask(t, g, "checkpoint", nil)
	for rest := c.bytes("games"); len(rest) > 0; {
		n := binary.LittleEndian.Uint32(rest[4:])
		all, rest = append(all, rest[:n]), rest[n:]
	}
	return parts{g}, c.bytes("head"), all
}

func TestCheckpointRefuses(t *testing.T) {
	p := start(t, real(1))
	for spec, says := range map[string]string{
		"hand:time=5ms": `the opponent of seat 1, "hand:time=5ms", cannot be saved: its choices depend on the clock (time=5ms)`,
		"silent":        `the opponent of seat 1, "silent", cannot be saved: it is a program of its own`,
	} {
		a := openParts(t, p, "tetrisduel", 2, map[string]any{"opponents": map[int]string{1: spec}}, 0)
		require.Equal(t, wire.NeedsReset, code(t, a[0].Call("checkpoint", nil, nil)), "before the first reset")
		require.NoError(t, a[0].Reset(nil))
		refused(t, wire.BadParams, says, a[0].Call("checkpoint", nil, nil))
	}
	a := startParts(t, p, "tetrisduel", 2, nil)
	rolled(t, a[0], "hand:ply=1,time=5ms")
	require.ErrorContains(t, a[0].Call("checkpoint", nil, nil), `the rollout policy, "hand:ply=1,time=5ms", cannot be saved`)
	rolled(t, a[0], "first")
	require.NoError(t, a[0].Call("checkpoint", nil, nil))
}

// Whatever byte is damaged, nothing is resumed, and one error says so.
func TestResumeRefusesDamage(t *testing.T) {
	p := start(t, real(1))
	a, head, all := saveOne(t, p, 3)
	seen := bytes.Clone(a[0].Slab)
	_, before := a.checkpoint(t)
	resume := func(last []byte) error {
		return a[0].CallSlab("resume", nil, head, bytes.Join([][]byte{all[0], all[1], last}, nil))
	}
	for at := range all[2] {
		bad := bytes.Clone(all[2])
		bad[at] ^= 0x40
		refused(t, wire.BadState, "game 2 of the checkpoint: ", resume(bad))
		require.Equal(t, wire.BadState, code(t, resume(all[2][:at])), "cut off after %d", at)
	}
	_, after := a.checkpoint(t)
	require.Equal(t, before, after)
	require.Equal(t, seen, a[0].Slab)
}

// resealed gives a record that was changed a right checksum.
func resealed(b []byte) []byte {
	body := len(b) - 4
	return binary.LittleEndian.AppendUint32(b[:body:body], crc32.Checksum(b[:body], crc32.MakeTable(crc32.Castagnoli)))
}

func TestResumeRefuses(t *testing.T) {
	p := start(t, real(1))
	a, head, all := saveOne(t, p, 2)
	games := bytes.Join(all, nil)
	changed := func(old, new string) []byte {
		require.Contains(t, string(head), old)
		return []byte(strings.Replace(string(head), old, new, 1))
	}
	// opponent is the first game with other bytes for the length of its opponent, the seat and the number.
	opponent := func(now string) []byte {
		before := []byte("opponent\x0b\x00\x00\x00\x01\x00")
		require.Contains(t, string(all[0]), string(before))
		return resealed(bytes.Replace(all[0], before, []byte("opponent"+now), 1))
	}
	for _, c := range []struct {
		head, games []byte
		code        int
		says        string
	}{
		{nil, games, wire.BadState, "its head is no JSON"},
		{[]byte("{}"), games, wire.BadState, "it has version 0 of the format of checkpoints, of an older server; this one reads version 4"},
		{changed(`"format":4`, `"format":5,"new":1`), games, wire.BadState, "it has version 5 of the format of checkpoints, of a newer"},
		{changed(`"format":4`, `"format":4,"new":1`), games, wire.BadState, `unknown field "new"`},
		{changed(`"game":"blockbattle"`, `"game":"go"`), games, wire.BadState,
			"game is go in the checkpoint and blockbattle in this environment: they must be equal"},
		{changed(`"rules":1`, `"rules":9`), games, wire.BadState, "rules version is 9 in the checkpoint and 1"},
		{changed(`"autoreset":"NextStep"`, `"autoreset":"x"`), games, wire.BadState, "autoreset mode is x"},
		{changed(`"rows":"seat"`, `"rows":"acting"`), games, wire.BadState, "rows is acting in the checkpoint and seat"},
		{changed(`"reward":"result"`, `"reward":"score"`), games, wire.BadState, "reward is score"},
		{changed(`"players":[0]`, `"players":[1]`), games, wire.BadState, "driven seats is [1]"},
		{changed(`"mixtures":[[],[{"number":0,"weight":1}]]`, `"mixtures":[[],[]]`), games, wire.BadState,
			"0 opponents for seat 1, want up to 256, and none for a driven seat"},
		{changed(`"mixtures":[[],`, `"mixtures":[[{"number":0,"weight":1}],`), games, wire.BadState, "1 opponents for seat 0"},
		{changed(`"mixtures":[[],`, `"mixtures":[`), games, wire.BadState, "mixtures for 1 seats, want 2"},
		{changed(`{"number":0,"weight":1}`, `{"number":1,"weight":1}`), games, wire.BadState, "opponent 1 for seat 1, want less than 1"},
		{changed(`{"number":0,"weight":1}`, `{"number":0,"weight":0}`), games, wire.BadState, "weight 0, want a finite number"},
		{changed(`"opponents":["random"]`, `"opponents":["random","random"]`), games, wire.BadState, "twice"},
		{changed(`"opponents":["random"]`, `"opponents":[]`), games, wire.BadState, "opponent 0 for seat 1, want less than 0"},
		{changed(`"opponents":["random"]`, `"opponents":["hnad"]`), games, wire.BadParams, "unknown agent"},
		{changed(`"opponents":["random"]`, `"opponents":["exec:true"]`), games, wire.BadParams, "runs commands"},
		{changed(`"opponents":["random"]`, `"opponents":["learned:weights=`+sumOf("")+`"]`), games, wire.BadParams, "call upload first"},
		{changed(`"opponents":["random"]`, `"opponents":["first"]`), games, wire.BadState, "memory of 8 bytes, want none"},
		{changed(`"policy":"first"`, `"policy":""`), games, wire.BadState, "a rollout policy for seat 0, which is not expected"},
		{changed(`"policy":"first"`, `"policy":"random"`), games, wire.BadState, "memory of 0 bytes, want 8"},
		{head, games[:len(all[0])], wire.BadState, "game 1 of the checkpoint: these bytes are none"},
		{head, append(bytes.Clone(games), 1, 2), wire.BadState, "2 bytes more"},
		{head, bytes.Replace(games, []byte("BYC\x04"), []byte("BYC\x03"), 1), wire.BadState, "version 3 of the format"},
		{head, append(opponent("\x0b\x00\x00\x00\x01\x07"), all[1]...), wire.BadState, "opponent 7 of 1 in seat 1"},
		{head, append(opponent("\x0b\x00\x00\x00\x00\x00"), all[1]...), wire.BadState, "not one opponent for each seat"},
		{head, append(opponent("\x8b\x00\x00\x00\x01\x00"), all[1]...), wire.BadState, "its parts do not fit together"},
	} {
		refused(t, c.code, c.says, a[0].CallSlab("resume", nil, c.head, c.games))
	}
	for _, game := range []string{"tetrisduel", "blockbattle:classic"} {
		b := openParts(t, p, game, 2, map[string]any{"opponents": map[int]string{1: "random"}}, 0)
		require.ErrorContains(t, b[0].CallSlab("resume", nil, head, games), "game is blockbattle in the checkpoint and "+game)
	}
	require.Equal(t, wire.BadParams, code(t, a[0].CallSlab("resume", u32(1, 1), head, games)))
	require.Equal(t, wire.BadParams, code(t, a[0].CallSlab("resume", nil, head, games, map[string]any{"slot": 3})))
	require.NoError(t, a[0].CallSlab("resume", nil, head, games))
}

// FuzzResume resumes a game whose bytes were changed, with a right checksum: refused, or a game that can be played on.
func FuzzResume(f *testing.F) {
	a, head, all := saveOne(f, start(f, real(1)), 1)
	g := a[0]
	f.Add([]byte{0, 40, 255}, []byte{})
	f.Add([]byte{1, 200, 1, 1, 220, 3}, []byte{0, 12, '9'})
	f.Fuzz(func(t *testing.T, game, top []byte) {
		if err := g.CallSlab("resume", u32(0), patched(head, top), resealed(patched(all[0], game))); err != nil {
			require.Contains(t, []int{wire.BadState, wire.BadParams, wire.Opponent}, code(t, err), err)
			require.NotContains(t, err.Error(), "a bug in the server")
		}
		if err := g.Call("rollout", nil, 3, map[string]any{"policy": "first", "keep": "last"}); err != nil {
			require.Contains(t, []int{wire.NeedsReset, wire.Opponent}, code(t, err), err)
			require.NoError(t, g.Reset(nil))
		}
	})
}

// Games with other opponents than those of the checkpoint make room for it: those that are not resumed need a reset.
func TestResumeReplacesOpponents(t *testing.T) {
	p := start(t, real(1))
	a := startParts(t, p, "tetrisduel", 3, map[string]any{"opponents": map[int]any{1: mixed("random", 1, "first", 2)}})
	a.play(t, 0, 60, false)
	require.NoError(t, a[0].Call("set_opponents", nil, map[int]any{1: "hand:ply=1"}), "for later episodes")
	head, all := a.checkpoint(t)
	require.Contains(t, string(head), `"opponents":["random","first","hand:ply=1"],"mixtures":[[],[{"number":2,"weight":1}]]`)

	b := startParts(t, p, "tetrisduel", 3, map[string]any{"opponents": map[int]string{1: "first"}})
	b.play(t, 0, 60, false)
	require.NoError(t, b[0].CallSlab("resume", u32(1), head, all[1]))
	require.Equal(t, wire.NeedsReset, code(t, b[0].Step(make([]byte, 2*b[0].Rows))))
	require.NoError(t, b[0].CallSlab("resume", u32(2, 0), head, bytes.Join([][]byte{all[2], all[0]}, nil)))
	same := func(options ...any) [][4]uint64 {
		t.Helper()
		want := resultsOf(t, a[0], options...)
		require.Equal(t, want, resultsOf(t, b[0], options...))
		return want
	}
	require.Len(t, same(map[string]any{"reset": true, "games": u32(1)}), 3, "results are part of it")
	require.NotZero(t, same()[0])
	require.Equal(t, a.play(t, 60, 90, false), b.play(t, 60, 90, false))
	require.NotZero(t, same()[2])
}

// Weights that were uploaded are named by their content: another session uploads them before it resumes. What the
// server accounts for is given back, whether requests fail or not.
func TestResumeWithUploads(t *testing.T) {
	p := start(t, real(1))
	weights, err := os.ReadFile(filepath.Join("..", "..", "agents", "bots", "tetrisduelbot", "weights", "tetrisduel.safetensors"))
	require.NoError(t, err)
	name := fmt.Sprintf("sha256:%x", sha256.Sum256(weights))
	spec := "learned:ply=1,weights=" + name
	from, into := dial(t, p.unix), dial(t, p.unix)
	start := memory(t, from)
	require.NoError(t, from.Call("upload", nil, "tetrisduel", spec, weights))
	g := startGames(t, from, "tetrisduel", map[string]any{"num_envs": 3, "opponents": map[int]any{1: mixed(spec, 1, "random", 1)}})
	rolled(t, g, spec)
	require.NoError(t, g.Call("set_opponents", nil, map[int]any{1: "random"}), "for later episodes")
	require.NoError(t, from.Call("drop_upload", nil, name))
	c := ask(t, g, "checkpoint", nil)
	require.Equal(t, 3, c["count"])
	require.Equal(t, []any{name}, c["weights"], "of an opponent that leaves and of the policy")
	require.Equal(t, fields{"weights": weights}, ask(t, g, "weights", name))
	require.ErrorContains(t, g.Call("weights", nil, "sha256:00"), `no agent of handle 1 was loaded from "sha256:00"`)

	other := openGames(t, into, "tetrisduel", map[string]any{"num_envs": 3, "opponents": map[int]any{1: "first"}})
	held := memory(t, into)
	resume := func() error { return other.CallSlab("resume", nil, c["head"], c["games"]) }
	refused(t, wire.BadParams, "no such weights were uploaded in this session", resume())
	require.Equal(t, held, memory(t, into), "nothing is kept of what failed")
	require.NoError(t, into.Call("upload", nil, "tetrisduel", spec, weights))
	for range 3 {
		require.NoError(t, resume())
		require.Greater(t, memory(t, into), held)
		require.Equal(t, g.Field("opponent"), other.Field("opponent"))
	}
	require.Equal(t, rolled(t, g, spec), rolled(t, other, spec))
	require.NoError(t, other.Call("close", nil))
	require.NoError(t, g.Call("close", nil))
	require.NoError(t, into.Call("drop_upload", nil, name))
	require.Equal(t, start, memory(t, into))
}

// TestForgedHead: a checkpoint that names a program or a file, for the games in progress, for later episodes or as the
// policy, starts and reads nothing, although clients of this server are trusted to name both. What the client itself has
// named in the environment, a checkpoint may name too.
func TestForgedHead(t *testing.T) {
	p := start(t, func(c *server.Config) {
		real(1)(c)
		c.Trusted = true
	})
	proof := filepath.Join(t.TempDir(), "proof")
	program := fmt.Sprintf("exec:sh -c 'touch %s; cat'", proof)
	a := startParts(t, p, "blockbattle", 2, map[string]any{"opponents": map[int]any{1: mixed("random", 1, "first", 1)}})
	a.play(t, 0, 4, false)
	head, all := a.checkpoint(t)
	games := bytes.Join(all, nil)
	for _, text := range []string{program, "me=" + program, "hand:weights=" + proof, proof, "human"} {
		quoted := []byte(fmt.Sprintf("%q", text))
		for _, place := range []string{`"random"`, `"first"`, `"policy":""`} {
			forged := bytes.Replace(head, []byte(place), quoted, 1)
			if place == `"policy":""` {
				forged = bytes.Replace(head, []byte(place), append([]byte(`"policy":`), quoted...), 1)
			}
			require.NotEqual(t, head, forged)
			err := a[0].CallSlab("resume", nil, forged, games)
			require.Equal(t, wire.BadParams, code(t, err), "%s: %v", text, err)
			require.NoFileExists(t, proof)
		}
	}
	require.NoError(t, a[0].CallSlab("resume", nil, head, games), "nothing has changed")

	own, tuned := filepath.Join(t.TempDir(), "w.json"), bots.Of(blockbattle.Game).Baseline
	require.NoError(t, os.WriteFile(own, tuned.Format(tuned.Weights), 0o600))
	text := "hand:weights=" + own
	require.NoError(t, a[0].Call("set_opponents", nil, map[int]any{1: mixed("random", 1, text, 1)}))
	named := bytes.Replace(head, []byte(`"first"`), []byte(fmt.Sprintf("%q", text)), 1)
	require.NoError(t, a[0].CallSlab("resume", nil, named, games))
	b := startParts(t, p, "blockbattle", 2, map[string]any{"opponents": map[int]any{1: "random"}})
	require.Equal(t, wire.BadParams, code(t, b[0].CallSlab("resume", nil, named, games)), "of another environment")
}
