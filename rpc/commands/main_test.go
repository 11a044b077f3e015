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

	"blockyard/agents/bots"
	"blockyard/agents/bots/blockbattlebot"
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
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "BLOCKYARD_RPC_PROGRAM="+version)
	return start(t, cmd)
}

// start starts a command that is a server, and waits until it is ready.
func start(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{Cmd: cmd, ended: make(chan error, 1)}
	p.Stderr = os.Stderr
	var err error
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

// stats are what a server tells of itself.
type stats struct {
	Steps     int   `msgpack:"steps"`
	SeatSteps int   `msgpack:"seat_steps"`
	Requests  int   `msgpack:"requests"`
	Sessions  int   `msgpack:"sessions"`
	Envs      int   `msgpack:"envs"`
	Memory    int64 `msgpack:"memory"`
}

func statsOf(t *testing.T, c *client.Client) (s stats) {
	t.Helper()
	require.NoError(t, c.Call("stats", &s))
	return s
}

// await waits until the statistics of a server are as a test wants them. The time-out only catches what never comes.
func await(t *testing.T, address string, come func(stats) bool) {
	t.Helper()
	c, end := dial(t, address), time.Now().Add(2*time.Minute)
	defer c.Close()
	for !come(statsOf(t, c)) {
		require.True(t, time.Now().Before(end))
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
	await(t, p.ready[0], func(s stats) bool { return s.Steps > 0 }) // in the middle of a request
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	p.ends(t)
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestStaleSockets(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.sock")
	first := serve(t, "--listen", "unix:"+path)
	exits(t, 1, "serve --listen unix:"+path) // another server answers there
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
	exits(t, 1, "serve --listen unix:"+path)
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
		exits(t, 1, "serve --listen tcp:127.0.0.1:0 --token-file "+file)
	}
}

func TestUsage(t *testing.T) {
	exits(t, 0, "--help", "serve --help")
	exits(t, 1, "serve --listen tcp:0.0.0.0:0", "serve --listen unix:x --max-envs 0", "ping tcp:127.0.0.1:1")
	exits(t, 2, "", "serve --openenv tcp:127.0.0.1:0", "serve --listen unix:x --max-envs many", "fly")
	const here = "serve --listen tcp:127.0.0.1:0 "
	exits(t, 1, here+"--max-memory=-1", here+"--drain=-1s", here+"--http :9090", here+"--hello-timeout=0s",
		here+"--frame-timeout=-1s", here+"--write-timeout=1us", here+"--drain-timeout=-1s")
}

// What a client may not name is decided by what a spec does, not by the letters in it. Weights that it has uploaded it may.
func TestClientsMayNotNameFiles(t *testing.T) {
	tuned := blockbattlebot.Entry.Baseline
	weights := tuned.Format(tuned.Weights)
	file, uploaded := filepath.Join(t.TempDir(), "w.json"), "hand:ply=1,weights="+bots.ContentName(weights)
	require.NoError(t, os.WriteFile(file, weights, 0o600))
	const refused = "serve --trust-specs allows it"
	for flag, names := range map[string]map[string]string{
		"--trust-specs=false": {
			"exec:touch /tmp/x": refused, "hand:weights=" + file: refused, "me=hand:ply=1,weights=x": refused,
			"random": "", "learned:time=5ms": "", uploaded: "",
			"/bin/true": `unknown agent "/bin/true"`, "executive": `unknown agent "executive"`,
			"hand:ply=weights": `option ply: "weights" is not a number`,
			"hand:weights=sha256:" + strings.Repeat("0", 64): "upload",
		},
		"--trust-specs": {"exec:true": "", "hand:weights=" + file: "", "hand:weights=/no/such": "no such file", uploaded: ""},
	} {
		c := dial(t, serve(t, "--listen", "tcp:127.0.0.1:0", flag).ready[0])
		require.NoError(t, c.Call("upload", nil, "blockbattle", uploaded, weights))
		for name, want := range names {
			_, err := c.Open("blockbattle", map[string]any{"opponents": map[int]string{1: name}})
			if want == "" {
				require.NoError(t, err, name)
				continue
			}
			require.ErrorContains(t, err, want, name)
		}
	}
}

// exits runs command lines, each of which ends with a status.
func exits(t *testing.T, status int, lines ...string) {
	t.Helper()
	for _, line := range lines {
		con := &program.Console{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
		require.Equal(t, status, Program().Run(t.Context(), strings.Fields(line), con), line)
	}
}
