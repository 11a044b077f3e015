package server_test

import (
	"slices"
	"strings"
	"testing"

	"blockyard/rpc/session/limits"

	"github.com/stretchr/testify/require"

	"blockyard/rpc/wire"
)

// FuzzMixture gives a seat any opponents with any weights: refused, and then nothing has changed, or playing. The memory
// that they count for is returned when they leave.
func FuzzMixture(f *testing.F) {
	p := start(f, real(1))
	c := dial(f, p.unix)
	g, err := c.Open("blockbattle", map[string]any{"num_envs": 2, "opponents": map[int]string{1: "first"}})
	require.NoError(f, err)
	require.NoError(f, g.CallSlab("reset"))
	uploaded := "hand:weights=" + sumOf("{}")
	err = c.Call("upload", nil, "blockbattle", uploaded, []byte("{}"))
	require.Equal(f, wire.BadParams, code(f, err))
	f.Add(uint8(0), "random", "hand:ply=1", 1.0, 2.0)
	f.Add(uint8(1), uploaded, "first", 0.0, -1.0)
	f.Add(uint8(2), "exec:true", "learned:weights=/dev/zero", 1e308, 1e308)
	f.Add(uint8(3), "hand:ply=4,width=999", "hand:time=1h", 5e-324, 1.0)
	f.Add(uint8(4), strings.Repeat("x", 5000), "", 1.0, 1.0)
	base := memoryOf(f, g.Client())
	f.Fuzz(func(t *testing.T, form uint8, a, b string, v, w float64) {
		var mixture any
		switch form % 6 {
		case 0:
			mixture = a
		case 1:
			mixture = []any{[]any{a, v}, []any{b, w}}
		case 2:
			mixture = []any{[]any{a, v}, []any{a, w}, []any{b}}
		case 3:
			mixture = slices.Repeat([]any{[]any{a, v}}, int(form)+2)
		case 4:
			mixture = map[string]any{a: v}
		case 5:
			mixture = []any{a, b, v, w, []any{w, a}}
		}
		err := g.Call("set_opponents", nil, map[int]any{1: mixture})
		if err != nil {
			require.Contains(t, []int{wire.BadParams, wire.Limit}, code(t, err), err)
		}
		require.Less(t, len(errorText(err)), 9000, "an error repeats what it refuses in part only")
		require.NoError(t, g.Call("set_opponents", nil, map[int]any{1: "first"}))
		require.NoError(t, g.CallSlab("reset"))
		require.NoError(t, g.Call("set_opponents", nil, map[int]any{1: "first"}), "now those before are in no game")
		// A spec that a handle has known keeps its number and a little memory.
		require.LessOrEqual(t, memoryOf(t, g.Client())-base, int64(known(t, g)*(128+4096)))
		if known(t, g) > 1000 { // as long as a handle is open
			require.NoError(t, g.Call("close", nil))
			g, err = c.Open("blockbattle", map[string]any{"num_envs": 2, "opponents": map[int]string{1: "first"}})
			require.NoError(t, err)
		}
		require.NotContains(t, p.logged(), "panic")
	})
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// memoryOf is what the server counts for this client.
func memoryOf(t testing.TB, c interface {
	Call(string, any, ...any) error
}) int64 {
	t.Helper()
	var stats struct {
		Memory int64 `msgpack:"memory"`
	}
	require.NoError(t, c.Call("stats", &stats))
	return stats.Memory
}

// known is how many opponents a handle has had.
func known(t testing.TB, g interface {
	Call(string, any, ...any) error
}) int {
	t.Helper()
	var stats struct {
		Count int `msgpack:"count"`
	}
	require.NoError(t, g.Call("opponent_stats", &stats, nil))
	return stats.Count
}

// FuzzParseTokens reads any text as a file of tokens. What it reads is within the limits of the format, and an error
// does not contain a token.
func FuzzParseTokens(f *testing.F) {
	f.Add("a-token-without-a-name")
	f.Add("# names\nalice 0123456789abcdef0123 max_envs=10\nbob fedcba9876543210fedc max_sessions=2 max_memory=9\n")
	f.Add("alice 0123456789abcdef0123 max_envs=x\n\nalice 0123456789abcdef0123")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := limits.ParseTokens(text)
		if err != nil {
			names, secrets := "", []string{}
			for _, line := range strings.Split(text, "\n") {
				words := strings.Fields(line)
				if len(words) > 1 {
					names, words = names+" "+words[0], words[1:]
				}
				for _, word := range words {
					if len(word) > 20 && !strings.Contains(word, "max_") {
						secrets = append(secrets, word)
					}
				}
			}
			for _, secret := range secrets {
				if !strings.Contains(names, secret) {
					require.NotContains(t, err.Error(), secret)
				}
			}
			return
		}
		require.NotEmpty(t, list)
		for k, token := range list {
			require.NotEmpty(t, token.Secret)
			require.True(t, token.Name != "" || len(list) == 1)
			require.True(t, token.MaxEnvs >= 0 && token.MaxSessions >= 0 && token.MaxMemory >= 0)
			for _, other := range list[:k] {
				require.NotEqual(t, token.Name, other.Name)
				require.NotEqual(t, token.Secret, other.Secret)
			}
		}
	})
}
