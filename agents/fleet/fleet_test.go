package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"blockyard/agents/fleet/broker"
	"blockyard/env/envtest"
)

var quiet = slog.New(slog.DiscardHandler)

// logTo returns a log in a file, and its text.
func logTo(t *testing.T) (*slog.Logger, func() string) {
	f := envtest.Must(os.Create(filepath.Join(t.TempDir(), "log")))
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	return slog.New(slog.NewTextHandler(f, nil)), func() string { return string(envtest.Must(os.ReadFile(f.Name()))) }
}

// long is how long tests wait for an event that will come.
const long = 2 * time.Minute

func newSite(t *testing.T) *broker.Site {
	f := broker.Flags{Listen: "127.0.0.1:0"}
	site := envtest.Must(f.Open(filepath.Join(t.TempDir(), "site"), "test", quiet))
	t.Cleanup(func() { require.NoError(t, site.Close(true)) })
	return site
}

// squares is a run whose jobs are numbers and whose results are their squares.
func squares(id string, limits Limits) Run {
	return Run{ID: id, Kind: "squares", Game: "numbers", Limits: limits, Facts: map[string]string{"base": "10"}}
}

// kinds play squares. play may replace the player.
func kinds(play Player) map[string]Kind {
	if play == nil {
		play = func(_ context.Context, spec json.RawMessage) (*Result, error) {
			n := 0
			err := json.Unmarshal(spec, &n)
			return &Result{Data: JSON(n * n), Games: 1, Moves: n}, err
		}
	}
	return map[string]Kind{"squares": func(_ context.Context, r *Run, _ Get) (NewPlayer, error) {
		return func() (Player, error) { return play, nil }, r.Agree(map[string]string{"base": "10"})
	}}
}

func serve(t *testing.T, site *broker.Site, run Run, o Options) *Server {
	o.Noun, o.Jobs = "job", 64
	if o.Log == nil {
		o.Log = quiet
	}
	s := envtest.Must(Serve(t.Context(), site, run, o))
	require.NoError(t, s.Open(t.Context()))
	return s
}

// begin serves squares on a site of its own.
func begin(t *testing.T, limits Limits, o Options) (*broker.Site, *Server) {
	site := newSite(t)
	return site, serve(t, site, squares("run", limits), o)
}

// finish ends a run, after which its workers leave.
func finish(t *testing.T, s *Server, left ...<-chan error) {
	require.NoError(t, s.Close(true))
	for _, l := range left {
		require.NoError(t, <-l)
	}
}

func work(t *testing.T, site *broker.Site, name string, play Player) <-chan error {
	left := make(chan error, 1)
	o := WorkerOptions{Name: name, Threads: 1, Kinds: kinds(play), Counts: new(WorkerCounts), Log: quiet}
	go func() { left <- Work(t.Context(), site.Conn, o) }()
	return left
}

// done are the ids of jobs that were done, in the order of results.
type done chan string

// jobs are squares of numbers, which take no other result.
func (d done) jobs(numbers ...int) (all []*Job) {
	for _, n := range numbers {
		all = append(all, &Job{ID: fmt.Sprint(n), Spec: n, Done: func() { d <- fmt.Sprint(n) }, Take: func(r *Result) error {
			if string(r.Data) != string(JSON(n*n)) {
				return fmt.Errorf("%s is not the square of %d", r.Data, n)
			}
			r.Games, r.Moves = 1, n
			return nil
		}})
	}
	return all
}

// wait returns the ids of so many jobs when they are done.
func (d done) wait(jobs int) (all []string) {
	for range jobs {
		all = append(all, <-d)
	}
	slices.Sort(all)
	return all
}

// Every job is counted once, whatever is lost, damaged, late or repeated.
func TestJobs(t *testing.T) {
	site, s := begin(t, Limits{AckWait: 300 * time.Millisecond, Deliveries: 1000}, Options{})
	got := make(done, 6)
	require.NoError(t, s.Submit(t.Context(), got.jobs(0, 1, 2, 3, 4, 5)...))
	var taken []jetstream.Msg
	for len(taken) < 4 { // a worker that takes jobs and is lost, or destroys them
		taken = append(taken, envtest.Must(s.queues.jobs.Next(jetstream.FetchMaxWait(long))))
	}
	require.NoError(t, taken[0].Term())
	result := func(h nats.Header, data string) {
		_, err := s.js.PublishMsg(t.Context(), &nats.Msg{Subject: queueSubject(&s.run, "results"), Header: h, Data: []byte(data)})
		require.NoError(t, err)
	}
	of := func(n int) nats.Header { return (&resultMessage{Job: fmt.Sprint(n), Worker: "lost"}).header() }
	result(of(3), "8")
	require.NoError(t, taken[3].Ack())
	result(nats.Header{}, "hello")
	require.Eventually(t, func() bool { return len(s.roster.reports("3")) == 1 }, long, time.Millisecond)
	left := work(t, site, "heir", nil)
	require.Equal(t, []string{"0", "1", "2", "3", "4", "5"}, got.wait(6))
	result(of(3), "9")
	require.Eventually(t, func() bool { return len(s.Workers()) == 2 && s.Workers()[1].Dropped == 1 }, long, time.Millisecond)
	rows := s.Workers()
	require.Equal(t, "lost", rows[1].Name)
	require.Zero(t, rows[1].Games)
	require.Equal(t, [3]int{6, 6, 15}, [3]int{rows[0].Tasks, rows[0].Games, rows[0].Moves})
	finish(t, s, left)
}

// Two processes never drive one run: the second one is refused while the first one lives. It takes over once the first
// one is silent, and then the first one cannot go on.
func TestOneServer(t *testing.T) {
	site := newSite(t)
	kv := envtest.Must(openRuns(t.Context(), serve(t, site, squares("other", DefaultLimits), Options{}).js, true))
	now := time.Now()
	still := clock{func() time.Time { return now }, time.After}
	begin := func(token string, c clock) (*lease, error) {
		l := &lease{kv: kv, clock: c, run: Run{ID: "run", State: Running, Holder: "process " + token, Token: token}}
		return l, l.take(t.Context(), false)
	}
	first := envtest.Must(begin("1", still))
	require.EqualValues(t, 1, first.run.Epoch)

	// fast is a clock on which a second passes at each look, before which alive is called
	fast := func(alive func()) clock {
		at := now
		return clock{func() time.Time { return at }, func(time.Duration) <-chan time.Time {
			alive()
			at = at.Add(time.Second)
			c := make(chan time.Time, 1)
			c <- at
			return c
		}}
	}
	_, err := begin("2", fast(func() { require.NoError(t, first.write(t.Context(), nil)) }))
	require.ErrorIs(t, err, ErrDriven)
	require.ErrorContains(t, err, "process 1")
	second := envtest.Must(begin("2", fast(func() {})))
	require.EqualValues(t, 2, second.run.Epoch)

	require.NoError(t, first.held(t.Context()), "its lease is fresh by its own clock")
	now = now.Add(leaseFor)
	err = first.held(t.Context())
	require.ErrorIs(t, err, ErrDriven)
	require.ErrorContains(t, err, "process 2 took over. This one has stopped; nothing that it played since counts")
	require.NoError(t, second.write(t.Context(), func(r *Run) { r.Free = true }))
	third, err := begin("3", still)
	require.NoError(t, err, "the lease was given back")
	require.EqualValues(t, 3, third.run.Epoch)
	require.ErrorIs(t, second.write(t.Context(), nil), ErrDriven)
}

// A worker that cannot play as the process of the run would is refused with the reason, and that process learns it.
func TestRefusedWorkers(t *testing.T) {
	log, text := logTo(t)
	site, s := begin(t, DefaultLimits, Options{Log: log})
	for says, change := range map[string]func(*Run){
		fmt.Sprint("its process has format version 9, this worker ", Version): func(r *Run) { r.Version = 9 },
		"its process has base 8, this worker 10":                              func(r *Run) { r.Facts = map[string]string{"base": "8"} },
		`of the kind "cubes", which this worker`:                              func(r *Run) { r.Kind = "cubes" },
	} {
		good := s.run
		require.NoError(t, s.lease.write(t.Context(), change))
		err := <-work(t, site, "other", nil)
		require.ErrorIs(t, err, ErrRefused, says)
		require.ErrorContains(t, err, says)
		require.NoError(t, s.lease.write(t.Context(), func(r *Run) {
			r.Version, r.Facts, r.Kind = good.Version, good.Facts, good.Kind
		}))
	}
	got := make(done, 1)
	require.NoError(t, s.Submit(t.Context(), got.jobs(3)...))
	err := <-work(t, site, "odd", func(context.Context, json.RawMessage) (*Result, error) {
		return nil, (&Run{ID: "run"}).AgreeSelfTest("squares", strings.Repeat("a", 64), strings.Repeat("b", 64))
	})
	require.ErrorIs(t, err, ErrRefused)
	require.ErrorContains(t, err, "its self-test of squares gives bbbbbbbbbbbb, that of the run's process aaaaaaaaaaaa")
	require.Eventually(t, func() bool {
		return strings.HasPrefix(Progress(s.Workers()), "nobody plays: all 2 workers were refused; the run waits for others. odd: ")
	}, long, time.Millisecond)
	left := work(t, site, "good", nil)
	got.wait(1)
	require.Contains(t, Progress(s.Workers()), "good 1")
	finish(t, s, left)
	require.Contains(t, text(), "nobody plays: all 1 workers were refused; the run waits for others. other: ")
}

// A worker leaves a run whose process is gone, if no other one can continue it.
func TestProcessThatWasKilled(t *testing.T) {
	site := newSite(t)
	once := squares("run", DefaultLimits)
	once.Once = true
	s := serve(t, site, once, Options{})
	s.fail(errors.New("killed")) // it renews nothing and hears nothing
	s.running.Wait()
	o := WorkerOptions{Run: "run", Name: "only", Threads: 1, Kinds: kinds(nil), Counts: new(WorkerCounts), Log: quiet,
		patience: time.Nanosecond}
	require.ErrorIs(t, Work(t.Context(), site.Conn, o), ErrGone)
}

// A job that fails in every worker is split into parts if it can be. The part that still fails is kept in a file, and
// the run stops and names it.
func TestJobThatFails(t *testing.T) {
	site, folder := newSite(t), t.TempDir()
	s := serve(t, site, squares("run", Limits{AckWait: time.Minute, Deliveries: 3}), Options{Folder: folder})
	got := make(done, 2)
	both := &Job{ID: "3-4", Spec: -1, Split: func() []*Job { return got.jobs(3, 4) }}
	require.NoError(t, s.Submit(t.Context(), both))
	left := work(t, site, "fragile", func(_ context.Context, spec json.RawMessage) (*Result, error) {
		if string(spec) != "3" {
			panic("out of order")
		}
		return &Result{Data: []byte("9")}, nil
	})
	<-s.Failed()
	require.Equal(t, []string{"3"}, got.wait(1))
	require.ErrorContains(t, s.Check(t.Context()),
		"job 4 was given to workers 3 times and has no result: worker fragile says: panic: out of order")
	text := envtest.Must(os.ReadFile(filepath.Join(folder, "failed-job-4.json")))
	var kept struct {
		Job     int
		Reports []Trouble
	}
	require.NoError(t, json.Unmarshal(text, &kept))
	require.Equal(t, 4, kept.Job)
	require.Len(t, kept.Reports, 3)
	finish(t, s, left)
}

// A job that kills every worker before it can say anything ends the run too.
func TestJobThatCrashes(t *testing.T) {
	site, s := begin(t, Limits{AckWait: 200 * time.Millisecond, Deliveries: 3}, Options{Folder: t.TempDir()})
	require.NoError(t, s.Submit(t.Context(), make(done, 1).jobs(1)...))
	for range 3 { // workers that take the job and are never heard of again
		envtest.Must(s.queues.jobs.Next(jetstream.FetchMaxWait(long)))
	}
	left := work(t, site, "heir", nil)
	<-s.Failed()
	require.ErrorContains(t, s.Err(), "was given to workers 3 times and has no result: no worker said why: it may crash them")
	require.FileExists(t, filepath.Join(s.options.Folder, "failed-job-1.json"))
	finish(t, s, left)
}

// The status names the run, its queues and its workers.
func TestStatus(t *testing.T) {
	site := newSite(t)
	all, silent, err := Ask(t.Context(), site.Conn)
	require.NoError(t, err)
	require.Empty(t, all)
	require.Empty(t, silent)
	s := serve(t, site, squares("run", DefaultLimits), Options{})
	got := make(done, 2)
	require.NoError(t, s.Submit(t.Context(), got.jobs(1, 2)...))
	all, _ = envtest.Must2(Ask(t.Context(), site.Conn))
	require.Equal(t, []Status{{Run: "run", Kind: "squares", Game: "numbers", Epoch: 1, Open: 2, Queued: 2}}, all)
	left := work(t, site, "only", nil)
	got.wait(2)
	require.Eventually(t, func() bool { // what the worker says of itself may come after its results, or a while ago
		all, silent, err = Ask(t.Context(), site.Conn)
		return err == nil && len(all) == 1 && len(all[0].Workers) == 1 && all[0].Workers[0].Threads == 1 &&
			all[0].Workers[0].State == Playing
	}, long, time.Millisecond)
	require.Empty(t, silent)
	require.Equal(t, 2, all[0].Iteration)
	require.Equal(t, 2, all[0].Workers[0].Tasks)
	require.Regexp(t, `(?m)^ +only +1 +2 +2 +3 +0 .* playing$`, Table(all[0].Workers))
	finish(t, s, left)
	_, silent = envtest.Must2(Ask(t.Context(), site.Conn))
	require.Equal(t, map[string]string{"run": "numbers, done"}, silent)
}

func TestOtherHeadersAreRefused(t *testing.T) {
	for header, says := range map[string]string{
		``:                                    "not a result",
		`hello`:                               "not a result",
		`{"worker":"a"}`:                      `the job ""`,
		`{"job":"3.2","worker":"a"}`:          `the job "3.2"`,
		`{"job":"3-2 ","worker":"a"}`:         `the job "3-2 "`,
		`{"job":"1","worker":""}`:             "1 to 64 letters",
		`{"job":"1","worker":"a b"}`:          "1 to 64 letters",
		`{"job":"1","worker":"a","busy":-1}`:  "-1 microseconds",
		`{"job":"1","worker":"a","busy":"x"}`: "not a result",
		`{"job":"` + strings.Repeat("1", 65) + `","worker":"a"}`: "the job",
		`{"job":"1","worker":"` + strings.Repeat("a", 65) + `"}`: "1 to 64 letters",
	} {
		require.ErrorContains(t, envtest.Failed(parseResult(nats.Header{resultHeader: {header}})), says, header)
	}
}

func TestJobMessages(t *testing.T) {
	require.Equal(t, "3-2-2", (&jobMessage{ID: "3-2", Try: 2}).messageID())
	for _, bad := range []string{"hello", `{}`, `{"id":"a b"}`, `[]`} {
		require.ErrorContains(t, envtest.Failed(parseJob([]byte(bad))), "not a job", bad)
	}
}

// What parseJob accepts is written to the same message.
func FuzzJob(f *testing.F) {
	f.Add([]byte(`{"id":"3-2","try":1,"spec":{"a":[1]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := parseJob(data)
		if err != nil || len(m.Spec) == 0 {
			return
		}
		again := envtest.Must(parseJob(JSON(m)))
		require.Equal(t, m.ID, again.ID)
		require.Equal(t, m.Try, again.Try)
		require.JSONEq(t, string(m.Spec), string(again.Spec))
	})
}

// What parseResult accepts has the header that it was read from.
func FuzzResult(f *testing.F) {
	f.Add(`{"job":"3-2-4","worker":"worker","busy":12}`)
	f.Add(`{"job":"0","worker":"a-b_C9","object":"ff","state":"exceeded"}`)
	f.Fuzz(func(t *testing.T, text string) {
		if r, err := parseResult(nats.Header{resultHeader: {text}}); err == nil {
			require.Equal(t, r, envtest.Must(parseResult(r.header())))
		}
	})
}
