package commands

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/agents/mlp"
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/dropblox"
	"blockyard/env/envtest"
	"blockyard/env/games"
	"blockyard/rpc/server"
	"blockyard/rpc/wire"
	"blockyard/rpc/wire/client"
)

// frozen returns bytes that blockyard 0.1.0 with protocol 1.1 wrote.
func frozen(t *testing.T, name string) []byte {
	return envtest.Must(os.ReadFile(filepath.Join("testdata", "1.1", name)))
}

// started returns the address of a new server.
func started(t *testing.T) string {
	return serve(t, "--listen", "unix:"+filepath.Join(t.TempDir(), "s")).Ready[0]
}

// greeted connects to a server and says hello. It returns the answer, and its error.
func greeted(t *testing.T, address string, proto ...int) (c *client.Client, hello struct {
	Proto  []int            `msgpack:"proto"`
	Limits map[string]int64 `msgpack:"limits"`
}, err error) {
	network, rest, _ := strings.Cut(address, ":")
	conn := envtest.Closing(t, envtest.Must(net.Dial(network, rest)))
	c = client.New(conn)
	return c, hello, c.Call("hello", &hello, map[string]any{"proto": proto, "client": "of another time"})
}

// A client of another protocol is refused, and told which side is older. The second number of a version does not matter.
func TestOtherProtocolsAreRefused(t *testing.T) {
	address := started(t)
	for older, proto := range map[string][]int{"client": {2, 1}, "server": {server.Protocol[0] + 1, 0}} {
		_, _, err := greeted(t, address, proto...)
		var refused *wire.Error
		require.ErrorAs(t, err, &refused)
		require.Equal(t, wire.Version, refused.Code)
		require.ErrorContains(t, err, fmt.Sprintf("the client speaks protocol %d.%d", proto[0], proto[1]))
		require.ErrorContains(t, err, fmt.Sprintf("the %s is older", older))
	}
	_, hello := envtest.Must2(greeted(t, address, server.Protocol[0], 99))
	require.Equal(t, server.Protocol[:], hello.Proto)
}

// States of protocol 1.1 are restored and go on as they did then, in both forms of rows.
func TestOldStatesGoOn(t *testing.T) {
	c := dial(t, started(t))
	var known map[string]struct {
		Seats int    `json:"seats"`
		After string `json:"after_40_random_steps"`
	}
	require.NoError(t, json.Unmarshal(frozen(t, "states.json"), &known))
	require.Len(t, known, len(games.All)-2, "that version did not have wintetris:paper10 and wintetris:paper20")
	for name, facts := range known {
		state := frozen(t, "state-"+strings.ReplaceAll(name, ":", "-")+".bin")
		for _, rows := range []string{"seat", "acting"} {
			g := envtest.Must(c.Open(name, map[string]any{"seats": facts.Seats, "rows": rows, "autoreset": "NextStep"}))
			require.NoError(t, g.CallSlab("restore", nil, state))
			require.NoError(t, g.Call("rollout", nil, 40, map[string]any{"keep": "last"}))
			var seen map[string]any
			require.NoError(t, g.Call("observe", &seen, nil))
			sum := sha256.Sum256(slices.Concat(seen["planes"].([]byte), seen["globals"].([]byte)))
			require.Equal(t, facts.After, fmt.Sprintf("%x", sum), "%s, rows %s", name, rows)

			for at, says := range map[int]string{3: "another version of the format", 4: "another game, rules version or number"} {
				newer := bytes.Clone(state)
				newer[at] ^= 1
				require.ErrorContains(t, g.CallSlab("restore", nil, newer), says)
			}
		}
	}
}

// Records of that version replay, in every game; those of other rules are refused by name.
func TestOldRecordsReplay(t *testing.T) {
	r := envtest.Must(record.NewReader("games.jsonl", bytes.NewReader(frozen(t, "games.jsonl"))))
	n := 0
	for rec, err := range r.All() {
		require.NoError(t, err)
		g := envtest.Must(games.Lookup(rec.Game))
		require.NoError(t, record.Check(g, rec))
		newer := envtest.Must(json.Marshal(rec))
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
	agent := envtest.Must(bots.New(dropblox.Game, text))
	a := envtest.Must(agent(1))
	s := envtest.Start[env.State](dropblox.Game, 1, 4)
	for _, choice := range []env.Action{31, 725, 229, 64, 559, 98, 1120, 525, 1086, 195, 361, 393, 1382, 1053, 128, 1513} {
		action := envtest.Must(a.Act(t.Context(), s, 0))
		require.Equal(t, choice, action)
		s.Step(env.Alone(0, action))
	}
	_, facts := envtest.Must2(mlp.Parse(file))
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

		"wintetris:tick": {"hand:parts=4"},
	} {
		g := envtest.Must(games.Lookup(game))
		for _, spec := range specs {
			require.NoError(t, envtest.Failed(bots.Parse(g, bots.Own(spec))), "%s: %s", game, spec)
		}
	}
}
