//go:build unix

package commands

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"blockyard/agents/fleet"
	"blockyard/env/envtest"

	"github.com/stretchr/testify/require"
)

// TestMain lets this program be the worker processes of TestChaos.
func TestMain(m *testing.M) {
	if os.Getenv(asWorker) != "" {
		os.Exit(Main())
	}
	os.Exit(m.Run())
}

// process is a process of the command line with these arguments.
func process(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), asWorker+"=1")
	return cmd
}

const (
	asWorker = "BLOCKYARD_TEST_AS_WORKER"
	longTest = "BLOCKYARD_CHAOS" // if set, TestChaos takes minutes
)

// Three worker processes that are killed, stopped and cut off at random change no bit of the weights, and the queues
// keep within their bounds.
func TestChaos(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	const games = 24 // two slots per task with three workers
	iterations := 12
	if os.Getenv(longTest) != "" {
		iterations = 300
	}
	shortLimits(t)
	dir := t.TempDir()
	settings := []string{"--backup=0.7", fmt.Sprintf("--games=%d", games), "--rounds=64", "--batch=32", "--hidden=6",
		"--gates=2", "--gate-pairs=2", "--gate-ply=1", fmt.Sprintf("--iterations=%d", iterations)}
	alone, together := filepath.Join(dir, "alone"), filepath.Join(dir, "together")
	require.NoError(t, command(t, runIn(alone, settings)...))
	for harmed(t, games, runIn(together, settings, "--cluster", "--listen", "127.0.0.1:0")) == 0 {
		together += "-again" // the machine has held this test up for a whole run
	}
	require.Equal(t, bestSum(t, alone), bestSum(t, together))
	require.NoDirExists(t, filepath.Join(together, "broker"))
}

// shortLimits let the tasks of a lost worker come back soon, until the test ends.
func shortLimits(t *testing.T) {
	before := fleet.DefaultLimits
	fleet.DefaultLimits = fleet.Limits{AckWait: 2 * time.Second, Deliveries: 100}
	t.Cleanup(func() { fleet.DefaultLimits = before })
}

// harmed plays a run with three workers that are harmed at random, and returns how often they were.
func harmed(t *testing.T, games int, args []string) (faults int) {
	l := beginLearner(t, t.Context(), args...)
	require.Regexp(t, `^run \w+ waits for workers; on each machine$`, l.line)
	nc := l.connect(t)
	var workers []*worker
	for k := range 3 {
		workers = append(workers, startWorker(t, fmt.Sprintf("w%d", k), l.join))
	}
	seed := uint64(time.Now().UnixNano())
	t.Log("seed", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for ; ; faults++ {
		select {
		case err := <-l.ended:
			require.NoError(t, err)
			said := l.rest()
			t.Logf("%d faults\n%s", faults, said)
			require.Contains(t, said, "the best net")
			refuses(t, map[string]string{
				strings.Join(l.join, " ") + " --patience 0s": "no connection to the broker",
				"cluster status " + l.join[1]:                "no connection to the broker",
			})
			return faults
		case <-time.After(time.Duration(200+r.IntN(1000)) * time.Millisecond):
		}
		workers[r.IntN(len(workers))].harm(t, r)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		all, _, _ := fleet.Ask(ctx, nc)
		cancel()
		for _, s := range all {
			require.LessOrEqual(t, s.Queued, uint64(5*games), "tasks in the queue: five per slot")
			require.LessOrEqual(t, s.Unread, uint64(10*games), "results in the queue: ten per slot")
		}
	}
}

// A worker is a worker process, which reaches the broker through a proxy.
type worker struct {
	args  []string
	proxy *proxy
	cmd   *exec.Cmd
}

func startWorker(t *testing.T, name string, join []string) *worker {
	p := newProxy(t, strings.TrimPrefix(join[1], "nats://"))
	w := &worker{proxy: p, args: slices.Concat([]string{"join", "nats://" + p.Addr().String()}, join[2:],
		[]string{"--name", name, "--workers", "1"})}
	w.start(t)
	t.Cleanup(w.kill)
	return w
}

func (w *worker) start(t *testing.T) {
	w.cmd = process(w.args...)
	require.NoError(t, w.cmd.Start())
}

func (w *worker) kill() {
	_ = w.cmd.Process.Kill() // it may have left
	_ = w.cmd.Wait()
}

// harm kills the worker and starts it again, stops it for a while, or cuts it off for a while.
func (w *worker) harm(t *testing.T, r *rand.Rand) {
	length := time.Duration(200+r.IntN(2000)) * time.Millisecond
	switch r.IntN(3) {
	case 0:
		w.kill()
		w.start(t)
	case 1:
		if w.cmd.Process.Signal(syscall.SIGSTOP) == nil {
			p := w.cmd.Process
			time.AfterFunc(length, func() { _ = p.Signal(syscall.SIGCONT) })
		}
	default:
		w.proxy.cut(length)
	}
}

// A proxy passes connections on to the broker, but for the time of a partition.
type proxy struct {
	net.Listener
	mu    sync.Mutex
	open  []net.Conn
	until time.Time
}

func newProxy(t *testing.T, broker string) *proxy {
	l := envtest.Must(net.Listen("tcp", "127.0.0.1:0"))
	p := &proxy{Listener: l}
	t.Cleanup(func() { _ = l.Close(); p.cut(time.Hour) })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			p.mu.Lock()
			away := time.Now().Before(p.until)
			p.mu.Unlock()
			to, err := net.Dial("tcp", broker)
			if away || err != nil {
				_ = c.Close()
				continue
			}
			p.mu.Lock()
			p.open = append(p.open, c, to)
			p.mu.Unlock()
			go func() { _, _ = io.Copy(c, to); _ = c.Close() }()
			go func() { _, _ = io.Copy(to, c); _ = to.Close() }()
		}
	}()
	return p
}

// cut closes all connections and accepts none for a time.
func (p *proxy) cut(length time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.until = time.Now().Add(length)
	for _, c := range p.open {
		_ = c.Close()
	}
	p.open = nil
}
