package commands

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/agents/mlp"
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/dropblox"
	"blockyard/env/games"
	"blockyard/rpc/server"
	"blockyard/rpc/wire"
	"blockyard/rpc/wire/client"
)

// frozen returns bytes that blockyard 0.1.0 with protocol 1.1 wrote.
func frozen(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "1.1", name))
	require.NoError(t, err)
	return b
}

// started returns the address of a new server.
func started(t *testing.T) string {
	t.Helper()
	return serve(t, "--listen", "unix:"+filepath.Join(t.TempDir(), "s")).ready[0]
}

// greeted connects to a server and says hello. It returns the answer, and its error.
func greeted(t *testing.T, address string, proto ...int) (c *client.Client, hello greeting, err error) {
	t.Helper()
	network, rest, _ := strings.Cut(address, ":")
	conn, err := net.Dial(network, rest)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	c = client.New(conn)
	return c, hello, c.Call("hello", &hello, map[string]any{"proto": proto, "client": "of another time"})
}

type greeting struct {
	Proto  []int            `msgpack:"proto"`
	Limits map[string]int64 `msgpack:"limits"`
}

// A client of another protocol is refused, and told which side is older.
func TestOtherProtocolsAreRefused(t *testing.T) {
	address := started(t)
	for older, proto := range map[string][]int{"client": {2, 1}, "server": {server.Protocol[0] + 1, 0}} {
		_, _, err := greeted(t, address, proto...)
		var refused *wire.Error
		require.ErrorAs(t, err, &refused)
		require.Equal(t, wire.Version, refused.Code)
		require.ErrorContains(t, err, fmt.Sprintf("the client speaks protocol %d.%d, this server (blockyard", proto[0], proto[1]))
		require.ErrorContains(t, err, fmt.Sprintf("the %s is older, install one of the other's version", older))
	}
}

// The second number of a version does not matter.
func TestNewerMinorVersionsAreServed(t *testing.T) {
	c, hello, err := greeted(t, started(t), server.Protocol[0], 99)
	require.NoError(t, err)
	require.Equal(t, server.Protocol[:], hello.Proto)
	require.ErrorContains(t, c.Call("fly", nil), `no method "fly"`)
}

// States of protocol 1.1 are restored and go on as they did then, in both forms of rows.
func TestOldStatesGoOn(t *testing.T) {
	c := dial(t, started(t))
	var known map[string]struct {
		Seats int    `json:"seats"`
		After string `json:"after_40_random_steps"`
	}
	require.NoError(t, json.Unmarshal(frozen(t, "states.json"), &known))
	var later []string
	for _, g := range games.All {
		if _, ok := known[g.Name]; !ok {
			later = append(later, g.Name)
		}
	}
	require.Equal(t, []string{"wintetris:paper10", "wintetris:paper20"}, later, "games that version did not have")
	for name, facts := range known {
		state := frozen(t, "state-"+strings.ReplaceAll(name, ":", "-")+".bin")
		for _, rows := range []string{"seat", "acting"} {
			g, err := c.Open(name, map[string]any{"seats": facts.Seats, "rows": rows, "autoreset": "NextStep"})
			require.NoError(t, err)
			require.NoError(t, g.CallSlab("restore", nil, state))
			require.NoError(t, g.Call("rollout", nil, 40, map[string]any{"keep": "last"}))
			var seen struct {
				Planes  []byte `msgpack:"planes"`
				Globals []byte `msgpack:"globals"`
			}
			require.NoError(t, g.Call("observe", &seen, nil))
			sum := sha256.Sum256(append(seen.Planes, seen.Globals...))
			require.Equal(t, facts.After, fmt.Sprintf("%x", sum), "%s, rows %s", name, rows)

			newer := bytes.Clone(state)
			newer[3]++
			require.ErrorContains(t, g.CallSlab("restore", nil, newer), "a state of another version of the format")
			newer = bytes.Clone(state)
			newer[4] ^= 1
			require.ErrorContains(t, g.CallSlab("restore", nil, newer), "another game, rules version or number of seats")
		}
	}
}

// Records of that version replay, in every game; those of other rules are refused by name.
func TestOldRecordsReplay(t *testing.T) {
	r, err := record.NewReader("games.jsonl", bytes.NewReader(frozen(t, "games.jsonl")))
	require.NoError(t, err)
	n := 0
	for rec, err := range r.All() {
		require.NoError(t, err)
		g, err := games.Lookup(rec.Game)
		require.NoError(t, err)
		require.NoError(t, record.Check(g, rec))
		newer, err := json.Marshal(rec)
		require.NoError(t, err)
		newer = append(bytes.TrimSuffix(newer, []byte("}")), `,"of tomorrow":{"a":[1]}}`...)
		var again record.Record
		require.NoError(t, json.Unmarshal(newer, &again))
		require.Equal(t, *rec, again)
		rec.Rules++
		require.ErrorContains(t, record.Check(g, rec), "rules")
		n++
	}
	require.Equal(t, 5, n)
}

// A network that was trained then loads and chooses as it did.
func TestOldWeightsPlay(t *testing.T) {
	file := frozen(t, "weights-dropblox.safetensors")
	came := func(string) ([]byte, error) { return file, nil }
	text := bots.Foreign("learned:width=3,depth=1,weights="+bots.ContentName(file), came)
	agent, err := bots.New(dropblox.Game, text)
	require.NoError(t, err)
	a, err := agent(1)
	require.NoError(t, err)
	s := dropblox.Game.New(1)
	s.Reset(4)
	var choices []int
	for range 20 {
		action, err := a.Act(context.Background(), s, 0)
		require.NoError(t, err)
		choices = append(choices, int(action))
		s.Step(env.Alone(0, action))
	}
	require.Equal(t, []int{31, 725, 229, 64, 559, 98, 1120, 525, 1086, 195, 361, 393, 1382, 1053, 128, 1513, 30, 62, 623, 821},
		choices)
	_, facts, err := mlp.Parse(file)
	require.NoError(t, err)
	require.ErrorContains(t, facts.Check("dropblox", 2, facts.Features), "weights are for rules version 1 of dropblox, not 2")
	other := append([]string{"new"}, facts.Features...)
	require.ErrorContains(t, facts.Check("dropblox", 1, other), `weights have feature 0 as "`)
}

// Every spec of an agent that was known then still is.
func TestOldSpecsAreKnown(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("bot.py", nil, 0o600))
	for game, specs := range map[string][]string{
		"blockbattle": {"random", "first", "hand", "learned", "terms6", "hand:ply=1", "learned:ply=3,width=8", "hand:time=50ms"},
		"tetrisduel":  {"random", "first", "hand", "learned", "hand:ply=5,width=4", "exec:cat bot.py"},
		"blocking":    {"random", "first", "hand", "learned", "hand:ply=2"},
		"wintetris":   {"random", "first", "hand", "learned"},
		"dropblox":    {"random", "first", "hand", "learned", "hand:width=60", "hand:depth=3", "hand:time=1s"},
	} {
		g, err := games.Lookup(game)
		require.NoError(t, err)
		for _, spec := range specs {
			_, err := bots.Parse(g, bots.Own(spec))
			require.NoError(t, err, "%s: %s", game, spec)
		}
	}
	tick, err := games.Lookup("wintetris:tick")
	require.NoError(t, err)
	_, err = bots.Parse(tick, bots.Own("hand:parts=4"))
	require.NoError(t, err)
}
