//go:build linux

package server_test

import (
	"bytes"
	"os"
	"testing"
	"time"

	"blockyard/rpc/session/limits"

	"github.com/stretchr/testify/require"

	"blockyard/rpc/server"
	"blockyard/rpc/wire"
	"blockyard/rpc/wire/client"
)

// unused waits until clients use nothing but these connections and mappings.
func unused(t *testing.T, p *place, sessions, mapped int) {
	t.Helper()
	require.Eventually(t, func() bool {
		mappings, files, goroutines, timers := p.Use()
		return mappings == mapped && files == sessions && goroutines == 2*sessions && timers == 2*sessions
	}, hangs, 10*time.Millisecond)
}

// TestManyMappings asks for as many mappings as the other limits of a server allow: sessions times handles times shares
// are more than the kernel allows a process, and the Go runtime ends the process when it gets none.
func TestManyMappings(t *testing.T) {
	p := start(t, nil)
	most := limits.DefaultLimits()
	other := dial(t, p.unix)
	made := 0
	var err error
	for clients := 0; clients < 16 && err == nil; clients++ {
		c := dial(t, p.unix)
		for handles := 0; handles < most.MaxHandles && err == nil; handles++ {
			g := sharingOf(t, openGames(t, c, "toy:pick", nil), 0)
			for shares := 0; shares < 64 && err == nil; shares++ {
				if err = g.share(1); err == nil {
					made++
				}
				g.unmap()
			}
		}
	}
	limited(t, err, wire.Limit, "max_mappings", most.MaxMappings)
	require.ErrorContains(t, err, "--max-mappings")
	require.Equal(t, most.MaxMappings, made)
	maps, err := os.ReadFile("/proc/self/maps")
	require.NoError(t, err)
	require.Less(t, bytes.Count(maps, []byte("\n")), 65530/2, "far from what the kernel allows by default")
	startGames(t, other, "toy:pick", nil) // others play on
}

func TestMappingsAreGivenBack(t *testing.T) {
	p := start(t, func(c *server.Config) { c.Limits.MaxMappings = 3 })
	c := dial(t, p.unix)
	g := sharingOf(t, openGames(t, c, "toy:pick", map[string]any{"autoreset": "SameStep"}), 1)
	_, _, err := g.shareFinal()
	require.NoError(t, err)
	require.NoError(t, g.share(1))
	limited(t, g.Call("share", nil, 1), wire.Limit, "max_mappings", 3)
	require.NoError(t, g.Call("close", nil))
	unused(t, p, 1, 0)
	sharingOf(t, openGames(t, c, "toy:pick", nil), 1)
	require.NoError(t, c.Close())
	unused(t, p, 0, 0)
}

func TestGoroutinesAndTimersAreLimited(t *testing.T) {
	p := start(t, func(c *server.Config) {
		c.Workers = 4
		c.Limits.MaxGoroutines, c.Limits.MaxTimers = 29, 6
	})
	c, options := dial(t, p.unix), map[string]any{"num_envs": 8}
	send := func(g *client.Games) error { return g.Call("send", nil, u32(), []byte{}) }
	var games []*client.Games
	for range 3 { // 2 for the session, 3 more workers of each handle
		games = append(games, startGames(t, c, "toy:pick", options))
	}
	for _, g := range games {
		require.NoError(t, send(g)) // 4 workers and a timer of each
	}
	_, _, goroutines, timers := p.Use()
	require.Equal(t, []int{2 + 3*(3+4), 2 + 3}, []int{goroutines, timers})
	fourth := startGames(t, c, "toy:pick", options)
	limited(t, send(fourth), wire.Limit, "max_goroutines", 29)
	fifth := openGames(t, c, "toy:pick", options)
	_, err := c.Open("toy:pick", options)
	limited(t, err, wire.Limit, "max_goroutines", 29)
	require.NoError(t, fifth.Call("close", nil))
	require.NoError(t, fourth.Call("close", nil))
	// One game each, stepped by the goroutine that answers.
	require.NoError(t, send(startGames(t, c, "toy:pick", nil)))
	limited(t, send(startGames(t, c, "toy:pick", nil)), wire.Limit, "max_timers", 6)
	require.NoError(t, c.Close())
	unused(t, p, 0, 0)
}

func TestFilesAreLimited(t *testing.T) {
	p := start(t, func(c *server.Config) { c.Limits.MaxFiles = 2 })
	g := sharingOf(t, openGames(t, dial(t, p.unix), "toy:pick", nil), 1) // a mapping takes a file only while it is sent
	unused(t, p, 1, 1)                                                   // until then the client may already have its answer
	b := dial(t, p.tcp)
	limited(t, g.Call("share", nil, 1), wire.Limit, "max_files", 2)
	_, err := client.Dial(t.Context(), p.unix, "", nil)
	limited(t, err, wire.Limit, "max_files", 2)
	require.NoError(t, b.Close())
	require.Eventually(t, func() bool { return g.Call("share", nil, 1) == nil }, hangs, 10*time.Millisecond)
}
