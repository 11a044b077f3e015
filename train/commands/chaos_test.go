//go:build unix

package commands

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/agents/fleet"
	"blockyard/agents/fleet/broker"
	"blockyard/agents/fleet/matches"
	"blockyard/agents/match"
	"blockyard/agents/match/tournament"
	"blockyard/agents/search"
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/train/games"
	"blockyard/train/selfplay"
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
	require.Equal(t, bestSum(alone), bestSum(together))
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
			if to, err := net.Dial("tcp", broker); err != nil || time.Now().Before(p.until) {
				_ = c.Close()
			} else {
				p.open = append(p.open, c, to)
				go func() { _, _ = io.Copy(c, to); _ = c.Close() }()
				go func() { _, _ = io.Copy(to, c); _ = to.Close() }()
			}
			p.mu.Unlock()
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

// A run that is killed with SIGKILL at the second save after every start, and continued, records each game exactly once.
// The first save may be that of the start, which would leave each run where the one before was.
func TestKillsLoseNoGame(t *testing.T) {
	dir := t.TempDir()
	args := func(name string, more ...string) []string {
		return runIn(filepath.Join(dir, name), more, "--record", filepath.Join(dir, name+".jsonl"))
	}
	more := []string{"--backup=0.2", "--games=4", "--rounds=24", "--iterations=32", "--batch=32", "--hidden=6", "--gates=8",
		"--gate-pairs=1", "--gate-ply=1"}
	require.NoError(t, command(t, args("whole", more...)...))
	want := read(filepath.Join(dir, "whole.jsonl"))
	require.Contains(t, want, "blockbattle")

	kills := 0
	for name := "killed"; kills == 0; name += " again" { // the machine may hold this test up for a whole run
		kills = killed(t, filepath.Join(dir, name, selfplay.StateFile), args(name, more...), args(name, "--resume"))
		require.Equal(t, want, read(filepath.Join(dir, name+".jsonl")))
	}
	t.Log(kills, "kills")
}

// killed starts a run, kills it at the second save, and continues it in the same way until it has ended. It returns how
// often it was killed.
func killed(t *testing.T, state string, start, resume []string) (kills int) {
	var saved time.Time
	for argv := start; ; argv = resume {
		p := process(argv...)
		var says bytes.Buffer
		p.Stderr = &says
		require.NoError(t, p.Start())
		ended := make(chan error, 1)
		go func() { ended <- p.Wait() }()
		for saves := 0; len(ended) == 0; time.Sleep(time.Millisecond) {
			if info, err := os.Stat(state); err == nil && info.ModTime().After(saved) {
				saved = info.ModTime()
				if saves++; saves >= 2 {
					_ = p.Process.Kill() // it may have ended
				}
			}
		}
		err := <-ended
		if err == nil {
			return kills
		}
		require.ErrorContains(t, err, "signal: killed", says.String())
		kills++
	}
}

// here plays what workers cannot have, and counts that.
type here struct {
	g     *env.Game
	games atomic.Int64
	names func(number int) string
}

func (h *here) Play(ctx context.Context, p *match.Played) (*record.Record, error) {
	h.games.Add(1)
	seed := envtest.Must(strconv.ParseUint(p.Seed, 10, 64))
	rec, err := match.Play(ctx, match.Game{Rules: h.g, Seed: seed, Names: []string{h.names(p.Seats[0]), h.names(p.Seats[1])},
		Agents: []env.Agent{search.NewRandom(seed), search.NewFirst()}})
	if err == nil {
		p.Note(rec.Scores, rec.Results, len(rec.Choices), rec.Stopped)
		p.UsedMS, p.MostMS = make([]float64, 2), make([]float64, 2)
	}
	return rec, err
}

// TestLeagueOfWorkers: workers play the games between agents of a league, with weights that only this machine has. One is
// killed while it plays, and every game is played once. Those of a program are played here, and it is not sent.
func TestLeagueOfWorkers(t *testing.T) {
	shortLimits(t)
	dir, g := t.TempDir(), games.BlockBattle.Rules
	weights := filepath.Join(dir, "w.json")
	writeWeights(t, weights)
	journal := envtest.Must(tournament.OpenJournal(dir))
	const most = 200
	l := &tournament.League{Dir: dir, Limit: most, Here: 1, Tell: func(string, ...any) {},
		Tournament: &tournament.Tournament{Journal: journal,
			Config: tournament.Config{Format: tournament.Ongoing, Seats: 2, Games: 2, Rules: g, Workers: 20}}}
	local := &here{g: g, names: func(number int) string { return l.Entrants[number].Agent }}
	l.List = func() (list []*bots.Agent, err error) {
		for _, text := range []string{"random", "hand:ply=1", "mine=hand:weights=" + weights + ",ply=1", "program=exec:true"} {
			list = append(list, envtest.Must(bots.Parse(g, bots.Own(text))))
		}
		return list, nil
	}
	l.Ready = func(context.Context, *tournament.Entrant, []*tournament.Entrant) error { return nil }
	shared := &matches.Shared{Here: local, Agent: func(number int) (match.Player, bool) { return l.Entrants[number].Ours() }}
	l.Runner = shared
	l.Away = func(number int) bool { _, ours := l.Entrants[number].Ours(); return ours }
	require.NoError(t, journal.Begin(&l.Config, "", nil))
	f := matches.Flags{Flags: broker.Flags{Listen: "127.0.0.1:0"}, Dir: filepath.Join(dir, "cluster")}
	f.Cluster.On = true
	session := envtest.Must(f.Share(t.Context(), shared, g, 1, io.Discard, slog.New(slog.DiscardHandler)))
	var once sync.Once
	played, killed, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	l.Changed = func(*tournament.Tournament) error {
		if slices.ContainsFunc(session.Workers(), func(w fleet.WorkerRow) bool { return w.Tasks > 0 }) {
			once.Do(func() {
				close(played)
				<-killed // before this worker has played all games
			})
		}
		return nil
	}
	go func() { ended <- errors.Join(l.Play(t.Context()), session.Close(true)) }()
	join := strings.Fields(session.Site.Join)[1:]
	first := startWorker(t, "killed", join)
	<-played
	first.kill()
	close(killed)
	startWorker(t, "second", join)
	require.NoError(t, <-ended)
	require.NoError(t, journal.Close())

	ofProgram, names := 0, map[string]bool{}
	for k, p := range l.Played {
		require.Equal(t, k, p.Number)
		require.Empty(t, p.Void)
		for _, e := range p.Seats {
			if names[l.Entrants[e].Name] = true; l.Entrants[e].Name == "program" {
				ofProgram++
			}
		}
	}
	require.Len(t, l.Played, most)
	require.Len(t, names, 4)
	require.EqualValues(t, ofProgram, local.games.Load())
	again := envtest.Must(tournament.OpenJournal(dir))
	fresh := &tournament.Tournament{Config: l.Config, Entrants: l.Entrants, Journal: again, Over: true}
	require.NoError(t, again.Begin(&fresh.Config, "", fresh.Entrants))
	fresh.Played, fresh.Expected = again.Played, most
	require.Equal(t, l.Report(), fresh.Report())
	require.NoError(t, again.Close())
}
