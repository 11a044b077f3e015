//go:build unix

package library

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/contest"
	"blockyard/agents/contest/compile/compiletest"
	"blockyard/env/wintetris"
)

// TestMain lets the tests' own program be the child process.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == ServeArgument {
		_ = Serve(os.Args[2])
		os.Exit(1)
	}
	compiletest.Run(m)
}

// built compiles a solver.
func built(t testing.TB, source string, flags ...string) string {
	return compiletest.Once(filepath.Base(source)+strings.Join(flags, "")+".so", func(path string) {
		compiletest.C(t, append([]string{"-shared", "-fPIC", "-o", path, source}, flags...)...)
	})
}

func misbehaving(t testing.TB) string { return built(t, "testdata/misbehave.c") }

func player(t *testing.T, options string) *Player {
	c := Config{File: misbehaving(t), Limit: time.Minute, Patience: 2 * time.Minute}
	p := &Player{Options: options, Config: c}
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return p
}

// dropping is what becomes of a game in which every tick drops.
func dropping(seed uint64) *wintetris.Engine {
	e := &wintetris.Engine{}
	for e.Start(seed); e.Over == wintetris.Running; {
		e.Tick(wintetris.Drop)
	}
	return e
}

func TestMisbehaviour(t *testing.T) {
	t.Run("faults", testFaults)
	t.Run("conflicts", testConflicts)
	t.Run("negative", testNegative)
	t.Run("noise", testNoise)
	t.Run("late", testLate)
	t.Run("owed", testOwed)
	t.Run("open", testOpen)
	t.Run("interrupt", testInterrupt)
}

// testFaults plays two games with solvers that end their process in each: both are told of.
func testFaults(t *testing.T) {
	for how, want := range map[string]string{
		"crash":    "SIGSEGV: segmentation violation",
		"abort":    "SIGABRT: abort",
		"exit":     "exit status 7 in wt_update",
		"hang":     "hung in wt_update for 200ms",
		"fork":     "hung in wt_update for 200ms",
		"close":    "process",
		"scribble": "invalid answer from the library's process",
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			p := player(t, how)
			if strings.HasPrefix(want, "hung") {
				p.Each = func(_ context.Context, e *wintetris.Engine, _ wintetris.Bits, _ time.Duration) error {
					if e.Ticks == 8 { // the next call is the one
						p.process.config.Patience = 200 * time.Millisecond
					}
					return nil
				}
			}
			for seed := uint64(1); seed <= 2; seed++ {
				r, err := p.Play(context.Background(), seed)
				require.NoError(t, err)
				require.Equal(t, "fault", r.End, "%+v", r)
				require.Contains(t, r.Fault, want)
				require.EqualValues(t, 9, r.Ticks-uint64(r.Late), "it played 9 ticks")
				require.Equal(t, 9, r.Pieces)
			}
		})
	}
}

func testConflicts(t *testing.T) {
	p := player(t, "conflict")
	r, err := p.Play(context.Background(), 3)
	require.NoError(t, err)
	require.Equal(t, 1, r.Conflicts)
	require.Zero(t, r.Blocked)
	require.Equal(t, "block out", r.End)
	p.Strict = true
	r, err = p.Play(context.Background(), 3)
	require.NoError(t, err)
	require.Equal(t, "conflict", r.End)
	require.EqualValues(t, 3, r.Ticks)
}

// testNegative: negative answers count as no bits, bits beyond the five as nothing.
func testNegative(t *testing.T) {
	for how, want := range map[string]string{
		"negative": "wt_update answered -2 (bad argument): as  [1mhe likes: negative",
		"strange":  "wt_update answered -12345 (unknown failure): as  [1mhe likes: strange",
	} {
		p := player(t, how)
		r, err := p.Play(context.Background(), 5)
		require.NoError(t, err)
		require.Equal(t, want, r.Failure)
		require.Equal(t, int(r.Ticks+1)/2, r.Failures)
		var e wintetris.Engine
		for e.Start(5); e.Over == wintetris.Running; {
			e.Tick([]wintetris.Bits{wintetris.Drop, 0}[(e.Ticks+1)%2])
		}
		require.EqualValues(t, e.Ticks, r.Ticks)
		require.EqualValues(t, e.Pieces, r.Pieces)
	}
}

// testNoise: what a solver prints does not mix with its answers.
func testNoise(t *testing.T) {
	var out bytes.Buffer
	p := player(t, "noise")
	p.Config.Output = &out
	for seed := uint64(1); seed <= 3; seed++ {
		r, err := p.Play(context.Background(), seed)
		require.NoError(t, err)
		require.EqualValues(t, dropping(seed).Ticks, r.Ticks)
		require.Zero(t, r.Late)
	}
	require.NoError(t, p.Close())
	require.Contains(t, out.String(), "noise on standard output\nnoise")
	p = player(t, "write")
	r, err := p.Play(context.Background(), 4)
	require.NoError(t, err)
	require.EqualValues(t, dropping(4).Lines, r.Lines, "what it writes to its copy changes nothing")
}

// testLate: an answer after the limit is none; the game goes on.
func testLate(t *testing.T) {
	p := player(t, "slow")
	p.Config.Limit = 25 * time.Millisecond
	r, err := p.Play(context.Background(), 2)
	require.NoError(t, err)
	require.Equal(t, "block out", r.End)
	require.Positive(t, r.Late)
	require.Less(t, r.Late, int(r.Ticks))
	p.Config.Limit = 0
	require.NoError(t, p.Close())
	p = player(t, "slow")
	p.Config.Limit = 0
	r, err = p.Play(context.Background(), 2)
	require.NoError(t, err)
	require.Zero(t, r.Late)
	require.EqualValues(t, dropping(2).Ticks, r.Ticks)
}

// testOwed: of a piece whose first tick fell into a late call, the next call is the first.
func testOwed(t *testing.T) {
	c := Config{File: misbehaving(t), Limit: time.Minute}
	p, err := Start(context.Background(), c)
	require.NoError(t, err)
	defer p.Close()
	ctx := context.Background()
	leave := filepath.Join(t.TempDir(), "leave")
	require.NoError(t, p.Open(ctx, "waits for "+leave))
	var e wintetris.Engine
	e.Start(1)
	ask := func(fresh bool) (wintetris.Bits, error) {
		return p.Update(ctx, &e.Field, e.Piece, e.Upcoming(), fresh)
	}
	for range 3 {
		bits, err := ask(true)
		require.NoError(t, err)
		require.Equal(t, wintetris.Drop, bits)
	}
	p.config.Limit = 5 * time.Millisecond
	_, err = ask(true)
	require.ErrorIs(t, err, contest.ErrLate)
	_, err = ask(true)
	require.ErrorIs(t, err, contest.ErrLate)
	require.True(t, p.owed)
	p.config.Limit = time.Minute
	require.NoError(t, os.WriteFile(leave, nil, 0o600))
	_, err = ask(false)
	require.NoError(t, err)
	require.True(t, p.last.Fresh)
	_, err = ask(false)
	require.NoError(t, err)
	require.False(t, p.last.Fresh)
	require.NoError(t, p.Open(ctx, "fresh"), "the next game")
	bits, err := ask(true)
	require.NoError(t, err)
	require.Equal(t, wintetris.Drop, bits)
}

func testOpen(t *testing.T) {
	ctx := context.Background()
	_, err := player(t, "open-null").Play(ctx, 1)
	require.EqualError(t, err, "wt_open: as  [1mhe likes: open-null")
	_, err = player(t, "open-crash").Play(ctx, 1)
	require.ErrorContains(t, err, "crashed (SIGABRT: abort) in wt_open")
	r, err := player(t, "").Play(ctx, 1)
	require.NoError(t, err)
	require.EqualValues(t, dropping(1).Lines, r.Lines)
	require.Equal(t, int(dropping(1).Pieces), r.Pieces)
}

// testInterrupt: a game in a call that never ends is stopped by its context at once.
func testInterrupt(t *testing.T) {
	p := player(t, "hang")
	p.Config.Limit, p.Config.Patience = 0, 0
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p.Each = func(_ context.Context, e *wintetris.Engine, _ wintetris.Bits, _ time.Duration) error {
		if e.Ticks == 8 { // the next call is the one
			time.AfterFunc(100*time.Millisecond, cancel)
		}
		return nil
	}
	r, err := p.Play(ctx, 1)
	require.ErrorIs(t, err, context.Canceled)
	require.EqualValues(t, 9, r.Ticks)
	require.Equal(t, "stopped", r.End)
}

func TestLibrariesThatDoNotLoad(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text.so")
	require.NoError(t, os.WriteFile(text, []byte("not a library"), 0o600))
	old := built(t, "testdata/misbehave.c", "-DABI=2")
	hung := built(t, "testdata/misbehave.c", "-DHANG")
	part := built(t, "testdata/misbehave.c", "-DNO_UPDATE", "-Wno-unused-function")
	for file, want := range map[string]string{
		filepath.Join(dir, "none.so"): "no such file",
		text:                          "load: ",
		dir:                           "load: ",
		old:                           "its interface has version 2, want 1",
		hung:                          "hung in loading for 200ms",
		part:                          "no function wt_update in it",
	} {
		c := Config{File: file, Patience: time.Minute}
		if file == hung {
			c.Patience = 200 * time.Millisecond
		}
		_, err := Start(context.Background(), c)
		require.ErrorContains(t, err, want)
	}
	_, err := Start(context.Background(), Config{File: old, Program: []string{"/bin/false"}})
	require.ErrorContains(t, err, "exit status 1 in loading")
	_, err = Start(context.Background(), Config{File: old, Program: []string{filepath.Join(dir, "nothing")}})
	require.ErrorContains(t, err, "start the library's process")
}

// TestExampleSolver plays the example in C through the process and by its statistics.
func TestExampleSolver(t *testing.T) {
	p := &Player{Config: Config{File: built(t, "../../submit/wintetris/examples/solver.c"), Limit: time.Minute}, Cap: 12}
	defer p.Close()
	r, err := p.Play(context.Background(), 1)
	require.NoError(t, err)
	require.Equal(t, "capped", r.End)
	require.GreaterOrEqual(t, r.Lines, 12)
	p.Cap = 0
	r, err = p.Play(context.Background(), 1)
	require.NoError(t, err)
	require.Positive(t, r.MeanMS)
	r.MeanMS, r.LongestMS, r.Hung = 0, 0, 0
	require.Equal(t, Result{
		Seed: 1, Lines: 46, Level: 5, Pieces: 146, Ticks: 512, Score: 11880, Blocked: 5, End: "block out",
	}, r)
}

// TestOrphans: a process whose parent is gone ends, in a call that never does, too.
func TestOrphans(t *testing.T) {
	p, err := Start(context.Background(), Config{File: misbehaving(t), Limit: 50 * time.Millisecond})
	require.NoError(t, err)
	require.NoError(t, p.Open(context.Background(), "hang"))
	var e wintetris.Engine
	e.Start(1)
	for err == nil {
		_, err = p.Update(context.Background(), &e.Field, e.Piece, e.Upcoming(), true)
	}
	require.ErrorIs(t, err, contest.ErrLate)
	p.child.In.Close()
	require.True(t, p.child.Exit(time.Minute), "the process outlives its parent")
	require.NoError(t, p.child.Kill())
	p.dead = contest.ErrLate
}
