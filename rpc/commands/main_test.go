package commands

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/datasets/program"
	"blockyard/rpc/server"
	"blockyard/rpc/wire/client"
)

// TestMain lets the test binary be the program, so that tests can start it.
func TestMain(m *testing.M) {
	if v := os.Getenv("BLOCKYARD_RPC_PROGRAM"); v != "" {
		os.Exit(MainOf(v))
	}
	file, err := os.ReadFile("../python/blockyard/VERSION")
	if err != nil {
		panic(err)
	}
	version = strings.TrimSpace(string(file))
	os.Exit(m.Run())
}

// A process is a server of its own.
type process struct {
	*exec.Cmd
	ready   []string
	http    string // of --http
	openenv string // of --openenv
	stdin   io.Closer
	ended   chan error
}

func serve(t *testing.T, args ...string) *process {
	t.Helper()
	return serveBy(t, nil, args...)
}

// serveBy is serve by a command that runs the rest of its arguments.
func serveBy(t *testing.T, by []string, args ...string) *process {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	command := slices.Concat(by, []string{self, "serve"}, args)
	p := &process{Cmd: exec.Command(command[0], command[1:]...), ended: make(chan error, 1)}
	p.Env = append(os.Environ(), "BLOCKYARD_RPC_PROGRAM="+version)
	p.Stderr = os.Stderr
	p.stdin, err = p.StdinPipe()
	require.NoError(t, err)
	out, err := p.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, p.Start())
	t.Cleanup(func() { _ = p.Process.Kill() })
	line, err := bufio.NewReader(out).ReadBytes('\n')
	require.NoError(t, err)
	var ready struct {
		Ready   []string
		PID     int
		Proto   [2]int
		HTTP    string
		OpenEnv string
	}
	require.NoError(t, json.Unmarshal(line, &ready))
	require.Equal(t, p.Process.Pid, ready.PID)
	require.Equal(t, server.Protocol, ready.Proto)
	p.ready, p.http, p.openenv = ready.Ready, ready.HTTP, ready.OpenEnv
	go func() { p.ended <- p.Wait() }()
	return p
}

// ends asserts that the process ends with status 0. The time-out only catches one that never does.
func (p *process) ends(t *testing.T) {
	t.Helper()
	select {
	case err := <-p.ended:
		require.NoError(t, err)
	case <-time.After(2 * time.Minute):
		t.Fatal("the server still runs")
	}
}

// busy waits until the server is in the middle of a request that has taken steps.
func busy(t *testing.T, address string) {
	t.Helper()
	c, stats := dial(t, address), struct {
		Steps int `msgpack:"steps"`
	}{}
	for stats.Steps == 0 {
		require.NoError(t, c.Call("stats", &stats))
	}
}

func dial(t *testing.T, address string) *client.Client {
	t.Helper()
	c, err := client.Dial(context.Background(), address, "", nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestServeUntilSIGTERM(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.sock")
	p := serve(t, "--listen", "unix:"+path, "--listen", "tcp:127.0.0.1:0")
	require.Len(t, p.ready, 2)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, fs.ModeSocket|0o600, info.Mode())
	for _, address := range p.ready {
		options := map[string]any{"num_envs": 32, "opponents": map[int]string{1: "random"}}
		g, err := dial(t, address).Open("BlockBattle-v0", options)
		require.NoError(t, err)
		require.NoError(t, g.CallSlab("reset"))
		go func() { _ = g.Call("rollout", nil, 1_000_000, map[string]any{"keep": "last"}) }()
	}
	busy(t, p.ready[0])
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	p.ends(t)
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestStaleSockets(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.sock")
	first := serve(t, "--listen", "unix:"+path)
	again := []string{"serve", "--listen", "unix:" + path}
	require.Equal(t, 1, run(context.Background(), again), "another server answers there")
	require.NoError(t, first.Process.Kill())
	<-first.ended
	_, err := os.Stat(path)
	require.NoError(t, err, "a killed server leaves its file")
	second := serve(t, "--listen", "unix:"+path)
	require.NoError(t, dial(t, second.ready[0]).Call("ping", nil))
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.WriteFile(path, []byte("mine"), 0o600))
	require.NoError(t, second.Process.Signal(os.Interrupt))
	second.ends(t)
	b, err := os.ReadFile(path)
	require.NoError(t, err, "a file that took the place stays")
	require.Equal(t, "mine", string(b))
	require.Equal(t, 1, run(context.Background(), again))
}

func TestParentDeath(t *testing.T) {
	p := serve(t, "--listen", "tcp:127.0.0.1:0", "--parent-death")
	require.NoError(t, dial(t, p.ready[0]).Call("ping", nil))
	require.NoError(t, p.stdin.Close())
	p.ends(t)
}

func TestIdleExit(t *testing.T) {
	for idle := time.Second; ; idle *= 2 {
		p := serve(t, "--listen", "tcp:127.0.0.1:0", "--idle-exit", idle.String())
		c, err := client.Dial(t.Context(), p.ready[0], "", nil)
		if err == nil {
			time.Sleep(idle + idle/2)
			require.NoError(t, c.Call("ping", nil), "not while somebody is connected")
			require.NoError(t, c.Close())
		} // else it was idle for so long before this busy machine came to connect
		p.ends(t)
		if err == nil {
			return
		}
	}
}

func TestTokenFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	for text, tokens := range map[string][]string{
		"secret\n": {"secret"}, "ann secret\nbob other max_envs=5\n": {"secret", "other"},
	} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		p := serve(t, "--listen", "tcp:127.0.0.1:0", "--token-file", file)
		_, err := client.Dial(context.Background(), p.ready[0], "ann", nil)
		require.ErrorContains(t, err, "auth_failed")
		for _, token := range tokens {
			c, err := client.Dial(context.Background(), p.ready[0], token, nil)
			require.NoError(t, err)
			require.NoError(t, c.Close())
		}
	}
	for _, bad := range []string{"", "secret\nsecond line\n", "ann secret max_envs=no"} {
		require.NoError(t, os.WriteFile(file, []byte(bad), 0o600))
		args := []string{"serve", "--listen", "tcp:127.0.0.1:0", "--token-file", file}
		require.Equal(t, 1, run(context.Background(), args), bad)
	}
}

func TestUsage(t *testing.T) {
	for status, args := range map[int][][]string{
		0: {{"--help"}, {"serve", "--help"}},
		1: {
			{"serve", "--listen", "tcp:0.0.0.0:0"}, {"serve", "--listen", "unix:x", "--max-envs", "0"},
			{"ping", "tcp:127.0.0.1:1"},
		},
		2: {{}, {"serve", "--openenv", "tcp:127.0.0.1:0"}, {"serve", "--listen", "unix:x", "--max-envs", "many"}, {"fly"}},
	} {
		for _, a := range args {
			require.Equal(t, status, run(context.Background(), a), a)
		}
	}
}

func TestClientsMayNotNameFiles(t *testing.T) {
	p := serve(t, "--listen", "tcp:127.0.0.1:0")
	for _, text := range []string{"exec:touch /tmp/x", "hand:weights=/etc/passwd", "hand:ply=1,weights=x"} {
		_, err := dial(t, p.ready[0]).Open("blockbattle", map[string]any{"opponents": map[int]string{1: text}})
		require.ErrorContains(t, err, "--trust-specs")
	}
}

// run runs a command line and returns the exit status.
func run(ctx context.Context, args []string) int {
	return Program().Run(ctx, args, &program.Console{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
}
