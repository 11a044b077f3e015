package server_test

import (
	"context"
	"testing"
	"time"

	"blockyard/rpc/session/limits"

	"github.com/stretchr/testify/require"

	"blockyard/rpc/server"
	"blockyard/rpc/wire"
	"blockyard/rpc/wire/client"
)

// TestTokensHaveLimits holds all connections with one token to its limits; others have the server's.
func TestTokensHaveLimits(t *testing.T) {
	p := start(t, func(c *server.Config) {
		c.Workers, c.Limits.MaxEnvs = 1, 1000
		c.Tokens = []limits.Token{
			{Name: "ann", Secret: "a", MaxSessions: 2, MaxEnvs: 100, MaxMemory: 190_000}, {Name: "bob", Secret: "b"},
		}
	})
	with := func(token string) *client.Client { return dialAs(t, p.tcp, token) }
	refused := func(err error, limit string, value int64) {
		t.Helper()
		refusal := exceeded(t, err, wire.Limit, limit, value)
		require.Equal(t, "ann", refusal.Data["token"])
		require.Contains(t, refusal.Msg, "raise "+limit+" in its line of --token-file")
	}
	a, also, b := with("a"), with("a"), with("b")
	require.NoError(t, open(a, "toy:pick", 60))
	refused(open(also, "toy:pick", 41), "max_envs", 100)
	refused(open(also, "blockbattle", 40), "max_memory", 190_000)
	require.NoError(t, open(b, "blockbattle", 100), "bob has the server's limits")
	require.NoError(t, open(also, "toy:pick", 40))
	_, err := client.Dial(context.Background(), p.tcp, "a", nil)
	refused(err, "max_sessions", 2)

	all := result[stats](t, a, "stats")
	require.Equal(t, 200, all.Envs)
	require.Positive(t, all.Token.Memory)
	require.Equal(t, tokenStats{"ann", 2, 100, all.Token.Memory}, all.Token)

	require.NoError(t, also.Close())
	require.Eventually(t, func() bool { return result[stats](t, a, "stats").Token.Sessions == 1 }, hangs, time.Millisecond)
	now := result[stats](t, a, "stats").Token
	require.Equal(t, 60, now.Envs, "what a session had is free again")
	require.Less(t, now.Memory, all.Token.Memory)
	require.NoError(t, a.Call("close", nil, 1))
	require.Equal(t, tokenStats{"ann", 1, 0, 0}, result[stats](t, a, "stats").Token)
	require.NoError(t, open(with("a"), "toy:pick", 100))
}

// TestHelloNamesTheLimitsOfTheToken also refuses a connection that changes its token.
func TestHelloNamesTheLimitsOfTheToken(t *testing.T) {
	p := start(t, func(c *server.Config) {
		c.Tokens = []limits.Token{{Name: "ann", Secret: "a", MaxEnvs: 100}, {Name: "bob", Secret: "b", MaxEnvs: 1 << 30}}
	})
	for token, want := range map[string]int{"a": 100, "b": limits.DefaultLimits().MaxEnvs} {
		c := client.New(raw(t, p.tcp))
		var greeting struct {
			Limits map[string]int64 `msgpack:"limits"`
		}
		hello := func(token string) error {
			return c.Call("hello", &greeting, map[string]any{"proto": []int{3, 0}, "token": token})
		}
		require.NoError(t, hello(token))
		require.EqualValues(t, want, greeting.Limits["max_envs"])
		require.NoError(t, hello(token), "repeated")
		require.Equal(t, wire.AuthFailed, code(t, hello(map[string]string{"a": "b", "b": "a"}[token])))
	}
}
