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
	with := func(token string) *client.Client {
		c, err := client.Dial(context.Background(), p.tcp, token, nil)
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	open := func(c *client.Client, game string, n int) error {
		_, err := c.Open(game, map[string]any{"num_envs": n})
		return err
	}
	refused := func(err error, limit string, value int64) {
		t.Helper()
		var refusal *wire.Error
		require.ErrorAs(t, err, &refusal)
		require.Equal(t, wire.Limit, refusal.Code)
		require.Equal(t, limit, refusal.Data["limit"])
		require.EqualValues(t, value, refusal.Data["value"])
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

	var stats struct {
		Envs  int `msgpack:"envs"`
		Token struct {
			Name     string `msgpack:"name"`
			Sessions int    `msgpack:"sessions"`
			Envs     int    `msgpack:"envs"`
			Memory   int64  `msgpack:"memory"`
		} `msgpack:"token"`
	}
	require.NoError(t, a.Call("stats", &stats))
	require.Equal(t, 200, stats.Envs)
	require.Equal(t, "ann", stats.Token.Name)
	require.Equal(t, 2, stats.Token.Sessions)
	require.Equal(t, 100, stats.Token.Envs)
	require.Positive(t, stats.Token.Memory)
	used := stats.Token.Memory

	require.NoError(t, also.Close())
	require.Eventually(t, func() bool {
		require.NoError(t, a.Call("stats", &stats))
		return stats.Token.Sessions == 1
	}, hangs, time.Millisecond)
	require.Equal(t, 60, stats.Token.Envs, "what a session had is free again")
	require.Less(t, stats.Token.Memory, used)
	require.NoError(t, a.Call("close", nil, 1))
	require.NoError(t, a.Call("stats", &stats))
	require.Zero(t, stats.Token.Envs)
	require.Zero(t, stats.Token.Memory)
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
