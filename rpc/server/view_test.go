package server_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	records "blockyard/datasets/record"
	"blockyard/rpc/server"
	"blockyard/rpc/wire"
)

// aGame returns the lines of a recorded game.
func aGame(t *testing.T) []byte {
	g := opened(t, "blockbattle", map[string]any{"opponents": map[int]string{1: "first"}})
	require.NoError(t, g.Call("record", nil, map[string]any{"every": 1}))
	require.NoError(t, g.CallSlab("reset"))
	for {
		require.NoError(t, g.Call("rollout", nil, 10, map[string]any{"keep": "last"}))
		if out := fetch(t, g, nil); out.Count > 0 {
			line, _, _ := bytes.Cut(out.Lines, []byte("\n"))
			return append(line, '\n')
		}
	}
}

// A recorded game comes back as a page that holds it.
func TestView(t *testing.T) {
	line := aGame(t)
	c := dial(t, start(t, nil).tcp)
	var out struct {
		Game   string   `msgpack:"game"`
		Agents []string `msgpack:"agents"`
		Page   []byte   `msgpack:"page"`
	}
	require.NoError(t, c.Call("view", &out, line, map[string]any{"name": "mine"}))
	require.Equal(t, "blockbattle", out.Game)
	require.Equal(t, []string{"policy", "first"}, out.Agents)
	require.True(t, bytes.HasPrefix(out.Page, []byte("<!doctype html>")))
	require.Contains(t, string(out.Page), `id="own" data-game="mine">`)
}

// Whatever a client sends instead of a game is refused, with the reason.
func TestViewRefused(t *testing.T) {
	line := aGame(t)
	change := func(with func(*records.Record)) []byte {
		rec := &records.Record{}
		require.NoError(t, json.Unmarshal(line, rec))
		with(rec)
		b, err := json.Marshal(rec)
		require.NoError(t, err)
		return b
	}
	var zipped bytes.Buffer
	zip := gzip.NewWriter(&zipped)
	_, _ = zip.Write(line)
	require.NoError(t, zip.Close())
	c := dial(t, start(t, nil).unix)
	for _, bad := range []struct {
		record any
		says   string
	}{
		{[]byte{}, "want the lines of one recorded game"},
		{[]byte("hello"), "want the lines of one recorded game"},
		{[]byte("{}"), "game is empty"},
		{[]byte(`{"game":`), "middle of a line"},
		{zipped.Bytes(), "want the lines of one recorded game"},
		{bytes.Repeat(line, 2), "got more"},
		{line[:len(line)/2], "middle of a line"},
		{change(func(r *records.Record) { r.More = true }), "rest of a long game is missing"},
		{change(func(r *records.Record) { r.Rules = 99 }), "version 99"},
		{change(func(r *records.Record) { r.Game = "chess" }), "chess"},
		{change(func(r *records.Record) { r.Seats, r.Agents = 3, []string{"a", "b", "c"} }), "3 seats"},
		{change(func(r *records.Record) { r.Start = make([]byte, 1000) }), "bytes"},
		{7, "record"},
		{nil, "record"},
	} {
		err := c.Call("view", nil, bad.record)
		require.Equal(t, wire.BadParams, code(t, err), "%s: %v", bad.says, err)
		require.ErrorContains(t, err, bad.says)
	}
	for _, options := range []any{map[string]any{"name": ""}, map[string]any{"name": strings.Repeat("x", 201)},
		map[string]any{"file": "/etc/passwd"}} {
		require.Equal(t, wire.BadParams, code(t, c.Call("view", nil, line, options)))
	}
	small := dial(t, start(t, func(c *server.Config) { c.Limits.MaxReply = 64 << 10 }).unix)
	long, err := os.ReadFile("../../datasets/games/dropblox.jsonl")
	require.NoError(t, err)
	long, _, _ = bytes.Cut(long, []byte("\n"))
	limited(t, small.Call("view", nil, long), wire.Limit, "max_reply", 64<<10)
}
