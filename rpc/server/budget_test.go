//go:build linux

package server_test

import (
	"bytes"
	"net"
	"os"
	"testing"
	"time"

	"blockyard/rpc/session/limits"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"blockyard/rpc/server"
	"blockyard/rpc/wire"
	"blockyard/rpc/wire/client"
)

// askShared asks for shared memory and returns the code of the error, 0 for none. It closes the file that it gets.
func askShared(t *testing.T, conn net.Conn, h int) (code int, text string) {
	t.Helper()
	_, err := conn.Write(request(t, "share", h, 1))
	require.NoError(t, err)
	message, fd, err := withFile(conn)
	require.NoError(t, err)
	if fd < 0 {
		return answer(t, &replay{conn, bytes.NewReader(message)}), string(message)
	}
	require.NoError(t, unix.Close(fd))
	return 0, ""
}

// A replay is a connection that reads bytes which have arrived before.
type replay struct {
	net.Conn
	r *bytes.Reader
}

func (c *replay) Read(b []byte) (int, error) { return c.r.Read(b) }

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
	code, text := 0, ""
	for range 16 {
		conn := greeted(t, p.unix)
		for h := 1; h <= most.MaxHandles && code == 0; h++ {
			require.Zero(t, asks(t, conn, request(t, "open", "toy:pick")))
			for range 64 {
				if code, text = askShared(t, conn, h); code != 0 {
					break
				}
				made++
			}
		}
		if code != 0 {
			break
		}
	}
	require.Equal(t, wire.Limit, code)
	require.Contains(t, text, "max_mappings")
	require.Contains(t, text, "--max-mappings")
	require.Equal(t, most.MaxMappings, made)
	maps, err := os.ReadFile("/proc/self/maps")
	require.NoError(t, err)
	require.Less(t, bytes.Count(maps, []byte("\n")), 65530/2, "far from what the kernel allows by default")
	g, err := other.Open("toy:pick", nil)
	require.NoError(t, err, "others play on")
	require.NoError(t, g.CallSlab("reset"))
}

func TestMappingsAreGivenBack(t *testing.T) {
	p := start(t, func(c *server.Config) { c.Limits.MaxMappings = 3 })
	c := dial(t, p.unix)
	g := sharingGames(t, c, "toy:pick", map[string]any{"autoreset": "SameStep"})
	require.NoError(t, g.share(1))
	_, _, err := g.shareFinal()
	require.NoError(t, err)
	require.NoError(t, g.share(1))
	limited(t, g.Call("share", nil, 1), wire.Limit, "max_mappings", 3)
	require.NoError(t, c.Call("close", nil, 1))
	unused(t, p, 1, 0)
	g = sharingGames(t, c, "toy:pick", nil)
	require.NoError(t, g.share(1))
	require.NoError(t, c.Close())
	unused(t, p, 0, 0)
}

func TestGoroutinesAndTimersAreLimited(t *testing.T) {
	p := start(t, func(c *server.Config) {
		c.Workers = 4
		c.Limits.MaxGoroutines, c.Limits.MaxTimers = 29, 6
	})
	c := dial(t, p.unix)
	open := func() (*client.Games, error) { return c.Open("toy:pick", map[string]any{"num_envs": 8}) }
	send := func(g *client.Games) error {
		require.NoError(t, g.CallSlab("reset"))
		return g.Call("send", nil, u32(), []byte{})
	}
	var games []*client.Games
	for range 3 { // 2 for the session, 3 more workers of each handle
		g, err := open()
		require.NoError(t, err)
		games = append(games, g)
	}
	for _, g := range games {
		require.NoError(t, send(g)) // 4 workers and a timer of each
	}
	_, _, goroutines, timers := p.Use()
	require.Equal(t, []int{2 + 3*(3+4), 2 + 3}, []int{goroutines, timers})
	g, err := open()
	require.NoError(t, err)
	limited(t, send(g), wire.Limit, "max_goroutines", 29)
	_, err = open()
	require.NoError(t, err)
	_, err = open()
	limited(t, err, wire.Limit, "max_goroutines", 29)
	require.NoError(t, c.Call("close", nil, 5))
	require.NoError(t, c.Call("close", nil, 4))
	small, err := c.Open("toy:pick", nil) // one game, stepped by the goroutine that answers
	require.NoError(t, err)
	require.NoError(t, send(small))
	last, err := c.Open("toy:pick", nil)
	require.NoError(t, err)
	limited(t, send(last), wire.Limit, "max_timers", 6)
	require.NoError(t, c.Close())
	unused(t, p, 0, 0)
}

func TestFilesAreLimited(t *testing.T) {
	p := start(t, func(c *server.Config) { c.Limits.MaxFiles = 2 })
	a := dial(t, p.unix)
	g := sharingGames(t, a, "toy:pick", nil)
	require.NoError(t, g.share(1), "a mapping takes a file only while it is sent")
	unused(t, p, 1, 1) // until then the client may already have its answer
	b := dial(t, p.tcp)
	limited(t, g.Call("share", nil, 1), wire.Limit, "max_files", 2)
	_, err := client.Dial(t.Context(), p.unix, "", nil)
	limited(t, err, wire.Limit, "max_files", 2)
	require.NoError(t, b.Close())
	require.Eventually(t, func() bool { return g.Call("share", nil, 1) == nil }, hangs, 10*time.Millisecond)
}
