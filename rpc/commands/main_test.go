package commands

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/agents/bots/blockbattlebot"
	"blockyard/datasets/program"
	"blockyard/datasets/program/ops/opstest"
	"blockyard/datasets/program/web/webtest"
	"blockyard/env/envtest"
	"blockyard/rpc/server"
	"blockyard/rpc/server/listen"
	"blockyard/rpc/session/limits"
	"blockyard/rpc/wire"
	"blockyard/rpc/wire/client"
)

// TestMain lets the test binary be the program, so that tests can start it.
func TestMain(m *testing.M) {
	if v := os.Getenv("BLOCKYARD_RPC_PROGRAM"); v != "" {
		os.Exit(MainOf(v))
	}
	version = strings.TrimSpace(string(envtest.Must(os.ReadFile("../python/blockyard/VERSION"))))
	os.Exit(m.Run())
}

// A process is a server of its own.
type process struct {
	*exec.Cmd
	Ready         []string
	PID           int
	Proto         [2]int
	HTTP, OpenEnv string // of --http and --openenv
	stdin         io.Closer
	ended         chan error
}

func serve(t *testing.T, args ...string) *process { return serveBy(t, nil, args...) }

// serveBy is serve by a command that runs the rest of its arguments.
func serveBy(t *testing.T, by []string, args ...string) *process {
	command := slices.Concat(by, []string{envtest.Must(os.Executable()), "serve"}, args)
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "BLOCKYARD_RPC_PROGRAM="+version)
	return start(t, cmd)
}

// start starts a command that is a server, and waits until it is ready.
func start(t *testing.T, cmd *exec.Cmd) *process {
	p := &process{Cmd: cmd, ended: make(chan error, 1)}
	p.Stderr = os.Stderr
	p.stdin = envtest.Must(p.StdinPipe())
	out := envtest.Must(p.StdoutPipe())
	require.NoError(t, p.Start())
	t.Cleanup(func() { _ = p.Process.Kill() })
	require.NoError(t, json.Unmarshal(envtest.Must(bufio.NewReader(out).ReadBytes('\n')), p))
	require.Equal(t, p.Process.Pid, p.PID)
	require.Equal(t, server.Protocol, p.Proto)
	go func() { p.ended <- p.Wait() }()
	return p
}

// signal sends a signal, where there are signals.
func (p *process) signal(t *testing.T, s os.Signal) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("no SIGTERM")
	}
	require.NoError(t, p.Process.Signal(s))
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
	require.NoError(t, c.Call("stats", &s))
	return s
}

// await waits until the statistics of a server are as a test wants them. The time-out only catches what never comes.
func await(t *testing.T, address string, come func(stats) bool) {
	c, end := dial(t, address), time.Now().Add(2*time.Minute)
	defer c.Close()
	for !come(statsOf(t, c)) {
		require.True(t, time.Now().Before(end))
	}
}

func dial(t *testing.T, address string) *client.Client {
	return envtest.Closing(t, envtest.Must(client.Dial(context.Background(), address, "", nil)))
}

func TestServeUntilSIGTERM(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.sock")
	p := serve(t, "--listen", "unix:"+path, "--listen", "tcp:127.0.0.1:0")
	require.Len(t, p.Ready, 2)
	require.Equal(t, fs.ModeSocket|0o600, envtest.Must(os.Stat(path)).Mode())
	for _, address := range p.Ready {
		options := map[string]any{"num_envs": 32, "opponents": map[int]string{1: "random"}}
		g := envtest.Must(dial(t, address).Open("BlockBattle-v0", options))
		require.NoError(t, g.CallSlab("reset"))
		go func() { _ = g.Call("rollout", nil, 1_000_000, map[string]any{"keep": "last"}) }()
	}
	await(t, p.Ready[0], func(s stats) bool { return s.Steps > 0 }) // in the middle of a request
	p.signal(t, syscall.SIGTERM)
	p.ends(t)
	require.Empty(t, envtest.Must(os.ReadDir(filepath.Dir(path))))
}

func TestStaleSockets(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.sock")
	first := serve(t, "--listen", "unix:"+path)
	exits(t, 1, "serve --listen unix:"+path) // another server answers there
	require.NoError(t, first.Process.Kill())
	<-first.ended
	require.FileExists(t, path, "a killed server leaves its file")
	second := serve(t, "--listen", "unix:"+path)
	require.NoError(t, dial(t, second.Ready[0]).Call("ping", nil))
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.WriteFile(path, []byte("mine"), 0o600))
	second.signal(t, os.Interrupt)
	second.ends(t)
	require.Equal(t, "mine", string(envtest.Must(os.ReadFile(path))), "a file that took the place stays")
	exits(t, 1, "serve --listen unix:"+path)
}

func TestParentDeath(t *testing.T) {
	p := serve(t, "--listen", "tcp:127.0.0.1:0", "--parent-death")
	require.NoError(t, dial(t, p.Ready[0]).Call("ping", nil))
	require.NoError(t, p.stdin.Close())
	p.ends(t)
}

func TestIdleExit(t *testing.T) {
	for idle := time.Second; ; idle *= 2 {
		p := serve(t, "--listen", "tcp:127.0.0.1:0", "--idle-exit", idle.String())
		c, err := client.Dial(t.Context(), p.Ready[0], "", nil)
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
		require.ErrorContains(t, envtest.Failed(client.Dial(t.Context(), p.Ready[0], "ann", nil)), "auth_failed")
		for _, token := range tokens {
			envtest.Must(client.Dial(t.Context(), p.Ready[0], token, nil))
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
		c := dial(t, serve(t, "--listen", "tcp:127.0.0.1:0", flag).Ready[0])
		require.NoError(t, c.Call("upload", nil, "blockbattle", uploaded, weights))
		for name, want := range names {
			_, err := c.Open("blockbattle", beside(name))
			require.Equal(t, want == "", err == nil, "%s: %v", name, err)
			require.Contains(t, fmt.Sprint(err), want, name)
		}
	}
}

// runs runs a command, which ends with a status, and returns its output and errors.
func runs(t *testing.T, status int, args ...string) (out, errs string) {
	var o, e bytes.Buffer
	got := Program().Run(t.Context(), args, &program.Console{In: new(bytes.Buffer), Out: &o, Err: &e})
	require.Equal(t, status, got, "%q: %s", args, &e)
	return o.String(), e.String()
}

// exits runs command lines, each of which ends with a status.
func exits(t *testing.T, status int, lines ...string) {
	for _, line := range lines {
		runs(t, status, strings.Fields(line)...)
	}
}

// keys has the certificates of the tests.
const keys = "../python/tests/tls/"

func TestOldTLSIsRefused(t *testing.T) {
	pool := envtest.Must(listen.Authorities(keys + "ca.pem"))
	flags := []string{"--listen", "tls:127.0.0.1:0", "--cert", keys + "server.pem", "--key", keys + "server.key"}
	for oldest, flags := range map[uint16][]string{tls.VersionTLS13: flags, tls.VersionTLS12: append(flags, "--tls12")} {
		p := serve(t, flags...)
		for version := uint16(tls.VersionTLS11); version <= tls.VersionTLS13; version++ {
			config := &tls.Config{RootCAs: pool, MinVersion: version, MaxVersion: version}
			conn, err := client.Dial(context.Background(), p.Ready[0], "", config)
			if version < oldest {
				require.ErrorContains(t, err, "protocol version", tls.VersionName(version))
				continue
			}
			require.NoError(t, err, tls.VersionName(version))
			require.NoError(t, conn.Close())
		}
	}
}

// A server without an address serves this machine.
func TestDefaultAddress(t *testing.T) {
	var here, texts serveCmd
	texts.OpenEnv, texts.Game = "127.0.0.1:0", "blockbattle"
	require.NoError(t, here.Validate())
	require.Equal(t, []string{"tcp:127.0.0.1:7777"}, here.Listen)
	require.NoError(t, texts.Validate())
	require.Empty(t, texts.Listen)
}

// With --max-memory 0 memory has no limit, which clients are told as the largest number.
func TestNoMemoryLimit(t *testing.T) {
	p := serve(t, "--listen", "tcp:127.0.0.1:0", "--max-memory", "0")
	c, hello := envtest.Must2(greeted(t, p.Ready[0], server.Protocol[:]...))
	require.Equal(t, limits.Unlimited, hello.Limits["max_memory"])
	envtest.Must(c.Open("dropblox", map[string]any{"num_envs": 64}))
}

// The flags for time-outs are limits of the server, as --max-memory is in TestNoMemoryLimit.
func TestTimeoutFlags(t *testing.T) {
	longer := defaultLimits()
	longer.HelloTimeout, longer.FrameTimeout = time.Second, 2*time.Second
	longer.WriteTimeout, longer.DrainTimeout = 3*time.Second, 4*time.Second
	for flags, want := range map[string]limits.Limits{
		"": defaultLimits(), " --hello-timeout=1s --frame-timeout=2s --write-timeout=3s --drain-timeout=4s": longer,
	} {
		p := Program()
		envtest.Must(p.Parse(t.Context(), strings.Fields("serve --listen unix:x"+flags)))
		require.Equal(t, want, p.Commands.(*table).Serve.Limits)
	}
}

// Only with a token may games be watched from other machines.
func TestWatchRefuses(t *testing.T) {
	c := serveCmd{}
	require.Empty(t, envtest.Must(c.listen(nil, &ready{}, nil, nil, nil)), "off by default")
	c.Watch = "0.0.0.0:0"
	require.ErrorContains(t, envtest.Failed(c.listen(nil, &ready{}, nil, nil, nil)), "set a token")
	for address, tokens := range map[string][]limits.Token{"0.0.0.0:0": {{Secret: "x"}}, "127.0.0.1:0": nil} {
		c.Watch = address
		all := envtest.Must(c.listen(tokens, &ready{}, nil, nil, nil))
		require.Len(t, all, 1)
		require.NoError(t, closeAll(all))
	}
}

// searching opens games of Dropblox and begins a rollout with a policy whose next step alone would take many minutes.
func searching(t *testing.T, address string) *client.Client {
	c := dial(t, address)
	g := envtest.Must(c.Open("Dropblox-v0", map[string]any{"num_envs": 1000}))
	require.NoError(t, g.CallSlab("reset"))
	before := statsOf(t, c).Memory
	go func() {
		_ = g.Call("rollout", nil, 1000, map[string]any{"policy": "learned:width=10000", "keep": "last"})
	}()
	await(t, address, func(s stats) bool { return s.Memory != before }) // the server has loaded the policy
	return c
}

// TestASignalEndsASearch: a server in the middle of a long search ends with the first signal, after the time of --drain;
// when the client is gone, so are its search and its games.
func TestASignalEndsASearch(t *testing.T) {
	p := serve(t, "--listen", "tcp:127.0.0.1:0", "--drain", "200ms")
	searching(t, p.Ready[0])
	p.signal(t, syscall.SIGTERM)
	p.ends(t)

	p = serve(t, "--listen", "tcp:127.0.0.1:0")
	require.NoError(t, searching(t, p.Ready[0]).Close())
	await(t, p.Ready[0], func(s stats) bool { return s.Envs == 0 }) // its games are closed
}

// TestTheSecondSignalEndsAtOnce: it does not wait for clients that may still go on.
func TestTheSecondSignalEndsAtOnce(t *testing.T) {
	p := serve(t, "--listen", "tcp:127.0.0.1:0", "--drain", "10m", "--drain-timeout", "10m")
	searching(t, p.Ready[0])
	var exit *exec.ExitError
	for {
		_ = p.Process.Signal(syscall.SIGTERM) // the first one asks the server to stop, the next ends it
		select {
		case err := <-p.ended:
			require.ErrorAs(t, err, &exit)
			require.Equal(t, syscall.SIGTERM, exit.Sys().(syscall.WaitStatus).Signal())
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// A client steps games; Prometheus' parser reads what it did. The values are those of stats.
func TestMetrics(t *testing.T) {
	file := envtest.File(t, "tokens", "ann secret\nbob other\n")
	p := serve(t, "--listen", "tcp:127.0.0.1:0", "--http", "127.0.0.1:0", "--token-file", file)
	status, _ := opstest.Get(t, p.HTTP+"/readyz")
	require.Equal(t, http.StatusOK, status)
	webtest.Refuses(t, strings.TrimPrefix(p.HTTP, "http://"), "/metrics", http.StatusOK)
	before := opstest.Scrape(t, p.HTTP)
	require.Zero(t, before.Value(t, "blockyard_server_steps_total"))
	require.Zero(t, before.Value(t, "blockyard_server_errors_total", "301", "bad_params"))

	exits(t, 0, "ping "+p.HTTP)
	exits(t, 1, "ping "+p.HTTP+"/other", "ping http://127.0.0.1:1")

	c := envtest.Closing(t, envtest.Must(client.Dial(t.Context(), p.Ready[0], "secret", nil)))
	g := envtest.Must(c.Open("BlockBattle-v0", map[string]any{"num_envs": 8, "opponents": map[int]string{1: "random"}}))
	require.NoError(t, g.CallSlab("reset"))
	for range 5 {
		require.NoError(t, g.Step(bytes.Repeat([]byte{0xff}, 2*g.Rows)))
	}
	require.Error(t, g.Step(nil), "no actions")
	require.NoError(t, g.Call("rollout", nil, 2, map[string]any{"keep": "last"}))
	stats := statsOf(t, c)
	page := opstest.Scrape(t, p.HTTP)
	value := func(name string, labels ...string) float64 {
		return page.Value(t, "blockyard_server_"+name, labels...)
	}
	for series, want := range map[string]int{
		"steps_total": 7, "seat_steps_total": 7 * 8, "requests_total": stats.Requests, "sessions": 1, "environments": 8,
		"memory_bytes games": int(stats.Memory), "limit_sessions": limits.DefaultLimits().MaxSessions,
		"opponent_decisions_total":    7 * 8, // both seats act in every step
		"errors_total 301 bad_params": 1, "errors_total 900 internal": 0,
		"token_environments ann": 8, "token_sessions ann": 1, "token_sessions bob": 0, "token_memory_bytes ann": int(stats.Memory),
	} {
		words := strings.Fields(series)
		require.EqualValues(t, want, value(words[0], words[1:]...), series)
	}
	require.Equal(t, []int{7, 7 * 8}, []int{stats.Steps, stats.SeatSteps})
	require.Greater(t, value("sent_bytes_total"), 5*float64(len(g.Slab)), "a slab per step")
	require.Greater(t, value("received_bytes_total"), float64(5*2*g.Rows), "actions per step")
	require.EqualValues(t, 1, value("info", fmt.Sprintf("%d.%d", server.Protocol[0], server.Protocol[1]), version))
	h := page["blockyard_server_step_duration_seconds"].Metric[0].Histogram
	require.EqualValues(t, 5, h.GetSampleCount(), "not those of rollouts")
	require.Positive(t, h.GetSampleSum())
	require.NotContains(t, page["blockyard_server_token_sessions"].String(), "secret")

	// The dashboard and the alerts use metrics that the server has.
	dashboard := deployed(t, "../deploy/grafana/blockyard.json")
	require.True(t, json.Valid(dashboard))
	for _, text := range [][]byte{dashboard, deployed(t, "../deploy/prometheus/alerts.yml")} {
		require.Contains(t, string(text), "blockyard_server_")
		require.Empty(t, page.Missing(text, "blockyard_server_"))
		require.Empty(t, page.Missing(text, "process_"))
	}
}

// After SIGTERM /readyz fails first. Clients that are connected go on, new ones are refused, and the server ends
// once the last has left.
func TestDrain(t *testing.T) {
	p := serve(t, "--listen", "tcp:127.0.0.1:0", "--http", "127.0.0.1:0", "--drain", "10m")
	c := dial(t, p.Ready[0])
	g := envtest.Must(c.Open("BlockBattle-v0", nil))
	require.NoError(t, g.CallSlab("reset"))
	p.signal(t, syscall.SIGTERM)
	require.Eventually(t, func() bool {
		status, body := opstest.Get(t, p.HTTP+"/readyz")
		return status == http.StatusServiceUnavailable && strings.Contains(body, "draining")
	}, time.Minute, 5*time.Millisecond)
	status, _ := opstest.Get(t, p.HTTP+"/healthz")
	require.Equal(t, http.StatusOK, status)
	require.Eventually(t, func() bool {
		other, err := client.Dial(t.Context(), p.Ready[0], "", nil)
		if err == nil {
			_ = other.Close()
		}
		return err != nil
	}, time.Minute, 5*time.Millisecond)
	for range 3 {
		require.NoError(t, g.Step(bytes.Repeat([]byte{0xff}, 2*g.Rows)))
	}
	require.NoError(t, c.Close())
	p.ends(t)
}

// answer answers every request on a connection with a text, as an error from the request fails on.
func answer(l net.Listener, text, fails string) {
	conn := envtest.Must(l.Accept())
	defer conn.Close()
	r, failing := wire.NewReader(conn), false
	for f := new(wire.Frame); r.Next(f) == nil; {
		failing = failing || string(f.Method) == fails
		parts := envtest.Must(wire.Result(f.ID, map[string]any{text: text}))
		if failing {
			parts = [][]byte{envtest.Must(wire.Failure(f.ID, wire.Errorf(wire.Internal, "%s", text)))}
		}
		_, _ = conn.Write(bytes.Join(parts, nil)) // the client may be gone
	}
}

// What a server says is harmless to the terminal, as the error of any request and as its statistics.
func TestPingForeignServer(t *testing.T) {
	for name, text := range envtest.Hostile {
		for fails, status := range map[string]int{"hello": program.Failed, "ping": program.Failed, "stats": program.Failed, "": program.Done} {
			l := envtest.Must(net.Listen("tcp", "127.0.0.1:0"))
			go answer(l, text, fails)
			out, errs := runs(t, status, "ping", "tcp:"+l.Addr().String())
			require.NoError(t, l.Close())
			if name != "another line" { // an error may have several lines
				envtest.Harmless(t, out+errs)
			}
		}
	}
}
