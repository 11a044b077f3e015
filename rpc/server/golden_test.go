package server_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vmihailenco/msgpack/v5"

	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/env/envtest/toy"
	"blockyard/rpc/server"
	"blockyard/rpc/wire"
)

// An exchange is a request of the session that PROTOCOL.md shows.
type exchange struct {
	title  string
	method string
	params []any
}

func u16(v ...uint16) []byte  { return little(v) }
func u32(v ...uint32) []byte  { return little(v) }
func f32(v ...float32) []byte { return little(v) }

// little is little-endian numbers; nil if there are none.
func little(v any) []byte {
	return envtest.Must(binary.Append(nil, binary.LittleEndian, v))
}

// exchanges is a session of two games of toy:pick, which restores a state and resumes a checkpoint of another one.
func exchanges(state []byte, c fields) []exchange {
	return []exchange{
		{"ping", "ping", nil},
		{"a request before hello", "games", nil},
		{"hello", "hello", []any{map[string]any{"proto": []int{3, 0}, "client": "example"}}},
		{"games", "games", nil},
		{"describe", "describe", []any{"toy:pick"}},
		{"text", "text", []any{"toy:pick", u16(0, 5)}},
		{"open", "open", []any{"toy:pick", map[string]any{"num_envs": 2, "opponents": map[int]string{1: "first"}}}},
		{"a step before the first reset", "step", []any{1, u16(0, 0)}},
		{"reset", "reset", []any{1, map[string]any{"seed": 7}}},
		{"legal", "legal", []any{1, nil}},
		{"an illegal action", "step", []any{1, u16(9, 9)}},
		{"step", "step", []any{1, u16(65535, 65535)}},
		{"final", "final", []any{1}},
		{"afterstates, of game 1", "afterstates", []any{1, u32(1), map[string]any{"seed": 3}}},
		{"snapshot, of game 0", "snapshot", []any{1, u32(0)}},
		{"restore, into game 1", "restore", []any{1, u32(1), state, map[string]any{"reseed": 4}}},
		{"bytes that are no state", "restore", []any{1, u32(1), make([]byte, len(state))}},
		{"clone, game 0 into game 1", "clone", []any{1, u32(0), u32(1)}},
		{"checkpoint, of game 0", "checkpoint", []any{1, u32(0)}},
		{"resume, into game 1", "resume", []any{1, u32(1), c["head"], c["games"]}},
		{"rollout", "rollout", []any{1, 2, map[string]any{"keep": "last"}}},
		{"set_opponents", "set_opponents", []any{1, map[int]any{1: []any{[]any{"first", 1}, []any{"last", 0.5}}}}},
		{"render", "render", []any{1, 0}},
		{"render, with the colours of a terminal", "render", []any{1, 0, map[string]any{"mode": "ansi"}}},
		{"stats", "stats", nil},
		{"more games than the server allows", "open", []any{"toy:pick", map[string]any{"num_envs": 1 << 20}}},
		{"opponent_stats", "opponent_stats", []any{1}},
		{"send, game 1", "send", []any{1, u32(1), u16(65535)}},
		{"recv", "recv", []any{1, 1, 2, 1000}},
		{"close", "close", []any{1}},
		{"a method that there is not", "fly", nil},
	}
}

// record plays the exchanges and returns the bytes both ways.
func record(t *testing.T, all []exchange) (asked, answered [][]byte) {
	p := start(t, func(c *server.Config) { c.Version, c.Games, c.Workers = "0.1.0", []*env.Game{toy.Pick, toy.Turns}, 2 })
	conn := raw(t, p.unix)
	for i, e := range all {
		b := envtest.Must(wire.AppendRequest(nil, uint32(i+1), e.method, e.params...))
		if e.method == "step" {
			actions := e.params[1].([]byte) // numbers of four bytes, as clients write them that are in a hurry
			b = append([]byte("\x94\x00\xce\x00\x00\x00\x00\xa4step\x92\xce\x00\x00\x00\x01\xc6\x00\x00\x00\x00"), actions...)
			b[6], b[22] = byte(i+1), byte(len(actions))
		}
		write(conn, b)
		asked = append(asked, b)
		answered = append(answered, steady(readMessage(conn)))
	}
	return asked, answered
}

// readMessage reads one response, whatever it says.
func readMessage(r io.Reader) []byte { return envtest.Must(nextMessage(r)) }

func nextMessage(r io.Reader) (b []byte, err error) {
	for one := make([]byte, 1); err == nil && !whole(b); b = append(b, one...) {
		_, err = io.ReadFull(r, one)
	}
	return b, err
}

// whole reports whether b begins with a complete message.
func whole(b []byte) bool { return msgpack.NewDecoder(bytes.NewReader(b)).Skip() == nil }

// steady zeroes the numbers of a message that differ from run to run.
func steady(b []byte) []byte {
	for _, key := range []string{"uptime_s", "cpu_s"} {
		if at := bytes.Index(b, []byte(key+"\xcb")); at >= 0 {
			clear(b[at+len(key)+1:][:8])
		}
	}
	if _, after, ok := bytes.Cut(b, []byte("goroutines")); ok && after[0] < 0x80 {
		after[0] = 0
	}
	return b
}

// dump shows bytes in rows of 24, as hexadecimal and as text.
func dump(mark string, b []byte) string {
	var out strings.Builder
	for at := 0; at < len(b); at += 24 {
		row := b[at:min(at+24, len(b))]
		text := bytes.Clone(row)
		for k, c := range text {
			if c < 32 || c > 126 {
				text[k] = '.'
			}
		}
		fmt.Fprintf(&out, "%s %-71s  %s\n", mark, fmt.Sprintf("% x", row), text)
		mark = " "
	}
	return out.String()
}

// TestGoldenBytes holds the server to the bytes that PROTOCOL.md shows. BLOCKYARD_UPDATE=1 records them again.
func TestGoldenBytes(t *testing.T) {
	g := opened(t, "toy:pick", map[string]any{"num_envs": 2, "opponents": map[int]string{1: "first"}})
	require.NoError(t, g.Reset(map[string]any{"seed": 7}))
	all := exchanges(ask(t, g, "snapshot", u32(0)).bytes("states"), ask(t, g, "checkpoint", u32(0)))
	asked, answered := record(t, all)
	var document strings.Builder
	for i, e := range all {
		fmt.Fprintf(&document, "\n**%s**\n\n```\n%s```\n", e.title, dump(">", asked[i])+dump("<", answered[i]))
	}
	const mark = "<!-- bytes: written by a test -->\n"
	before, after, found := strings.Cut(string(envtest.Must(os.ReadFile("../PROTOCOL.md"))), mark)
	require.True(t, found)
	if envtest.Updating() {
		require.NoError(t, os.WriteFile("../PROTOCOL.md", []byte(before+mark+document.String()), 0o644))
		return
	}
	require.Equal(t, document.String(), after, "PROTOCOL.md shows other bytes; record them with BLOCKYARD_UPDATE=1")
}
