//go:build unix

package library

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/contest"
	"blockyard/agents/contest/compile/compiletest"
	"blockyard/env/envtest"
	"blockyard/env/wintetris"
)

func TestMain(m *testing.M) { compiletest.Run(m) }

// built compiles a solver.
func built(t testing.TB, source string, flags ...string) string {
	return compiletest.Once(filepath.Base(source)+strings.Join(flags, "")+".so", func(path string) {
		compiletest.C(t, append([]string{"-shared", "-fPIC", "-o", path, source}, flags...)...)
	})
}

func misbehaving(t testing.TB) string { return built(t, "testdata/misbehave.c") }

// started starts a solver's process, with a limit and a patience that no answer reaches by chance.
func started(t testing.TB, file, options string, output io.Writer) *Process {
	c := Config{File: file, Limit: time.Minute, Patience: 2 * time.Minute, Output: output}
	p := envtest.Must(Start(t.Context(), c))
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	require.NoError(t, p.Open(t.Context(), options))
	return p
}

// A game is what became of one that a process has played.
type game struct {
	wintetris.Engine
	late, negative int   // answers
	err            error // the last one
}

// play plays a game with a solver that is open, until it is over or cannot go on. before is called before every tick.
func (p *Process) play(ctx context.Context, seed uint64, before func(ticks uint64)) (g game) {
	for g.Start(seed); g.Over == wintetris.Running; {
		before(g.Ticks)
		bits, err := p.Update(ctx, &g.Field, g.Piece, g.Upcoming(), g.New)
		switch {
		case errors.Is(err, contest.ErrLate):
			g.late++
		case errors.As(err, new(*Answer)):
			g.negative++
		case err != nil:
			g.err = err
			return g
		}
		g.err = cmp.Or(err, g.err)
		g.Tick(bits)
	}
	return g
}

func nothing(uint64) {}

// ticking is what becomes of a game whose ticks have these bits in turn.
func ticking(seed uint64, bits ...wintetris.Bits) (e wintetris.Engine) {
	for e.Start(seed); e.Over == wintetris.Running; {
		e.Tick(bits[e.Ticks%uint64(len(bits))])
	}
	return e
}

// TestFaults plays with solvers that end their process in the game.
func TestFaults(t *testing.T) {
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
			p := started(t, misbehaving(t), how, nil)
			g := p.play(t.Context(), 1, func(ticks uint64) {
				if ticks == 9 && strings.HasPrefix(want, "hung") { // this call is the one
					p.config.Patience = 200 * time.Millisecond
				}
			})
			require.ErrorAs(t, g.err, new(*Fault))
			require.ErrorContains(t, g.err, want)
			require.EqualValues(t, 9, g.Ticks-uint64(g.late), "it played 9 ticks")
			require.EqualValues(t, 9, g.Pieces)
			require.Equal(t, g.err, p.Open(t.Context(), how), "it cannot be used any more")
		})
	}
}

// TestNegative: negative answers count as no bits, bits beyond the five as nothing.
func TestNegative(t *testing.T) {
	for how, want := range map[string]string{
		"negative": "wt_update answered -2 (bad argument): as  [1mhe likes: negative",
		"strange":  "wt_update answered -12345 (unknown failure): as  [1mhe likes: strange",
	} {
		g := started(t, misbehaving(t), how, nil).play(t.Context(), 5, nothing)
		require.EqualError(t, g.err, want)
		require.Equal(t, int(g.Ticks+1)/2, g.negative)
		require.Equal(t, ticking(5, 0, wintetris.Drop), g.Engine)
	}
}

// TestNoise: what a solver prints does not mix with its answers.
func TestNoise(t *testing.T) {
	var out bytes.Buffer
	p := started(t, misbehaving(t), "noise", &out)
	for seed := uint64(1); seed <= 3; seed++ {
		require.Equal(t, game{Engine: ticking(seed, wintetris.Drop)}, p.play(t.Context(), seed, nothing))
	}
	require.NoError(t, p.Close())
	require.Contains(t, out.String(), "noise on standard output\nnoise")
	g := started(t, misbehaving(t), "write", nil).play(t.Context(), 4, nothing)
	require.Equal(t, game{Engine: ticking(4, wintetris.Drop)}, g, "what it writes to its copy changes nothing")
}

// TestLate: an answer after the limit is none; the game goes on.
func TestLate(t *testing.T) {
	p := started(t, misbehaving(t), "slow", nil)
	p.config.Limit = 25 * time.Millisecond
	g := p.play(t.Context(), 2, nothing)
	require.Equal(t, wintetris.BlockOut, g.Over)
	require.Positive(t, g.late)
	require.Less(t, g.late, int(g.Ticks))
	p = started(t, misbehaving(t), "slow", nil)
	p.config.Limit = 0
	require.Equal(t, game{Engine: ticking(2, wintetris.Drop)}, p.play(t.Context(), 2, nothing))
}

// TestOwed: of a piece whose first tick fell into a late call, the next call is the first.
func TestOwed(t *testing.T) {
	leave := filepath.Join(t.TempDir(), "leave")
	p := started(t, misbehaving(t), "waits for "+leave, nil)
	var e wintetris.Engine
	e.Start(1)
	ask := func(fresh bool, bits wintetris.Bits, late error) {
		got, err := p.Update(t.Context(), &e.Field, e.Piece, e.Upcoming(), fresh)
		require.ErrorIs(t, err, late)
		require.Equal(t, bits, got)
	}
	for range 3 {
		ask(true, wintetris.Drop, nil)
	}
	p.config.Limit = 5 * time.Millisecond
	ask(true, 0, contest.ErrLate)
	ask(true, 0, contest.ErrLate)
	require.True(t, p.owed)
	p.config.Limit = time.Minute
	require.NoError(t, os.WriteFile(leave, nil, 0o600))
	for _, fresh := range []bool{true, false} {
		ask(false, wintetris.Drop, nil)
		require.Equal(t, fresh, p.last.Fresh)
	}
	require.NoError(t, p.Open(t.Context(), "fresh"), "the next game")
	ask(true, wintetris.Drop, nil)
}

func TestOpen(t *testing.T) {
	p := started(t, misbehaving(t), "", nil)
	require.EqualError(t, p.Open(t.Context(), "open-null"), "wt_open: as  [1mhe likes: open-null")
	require.NoError(t, p.Open(t.Context(), ""), "it can be used again")
	require.Equal(t, game{Engine: ticking(1, wintetris.Drop)}, p.play(t.Context(), 1, nothing))
	require.ErrorContains(t, p.Open(t.Context(), "open-crash"), "crashed (SIGABRT: abort) in wt_open")
}

// TestInterrupt: a game in a call that never ends is stopped by its context at once.
func TestInterrupt(t *testing.T) {
	p := started(t, misbehaving(t), "hang", nil)
	p.config.Limit, p.config.Patience = 0, 0
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	g := p.play(ctx, 1, func(ticks uint64) {
		if ticks == 9 { // this call is the one
			time.AfterFunc(100*time.Millisecond, cancel)
		}
	})
	require.ErrorIs(t, g.err, context.Canceled)
	require.EqualValues(t, 9, g.Ticks)
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
		require.ErrorContains(t, envtest.Failed(Start(t.Context(), c)), want)
	}
	_, err := Start(t.Context(), Config{File: old, Program: []string{"/bin/false"}})
	require.ErrorContains(t, err, "exit status 1 in loading")
	_, err = Start(t.Context(), Config{File: old, Program: []string{filepath.Join(dir, "nothing")}})
	require.ErrorContains(t, err, "start the library's process")
}

// TestOrphans: a process whose parent is gone ends, in a call that never does, too.
func TestOrphans(t *testing.T) {
	p := started(t, misbehaving(t), "hang", nil)
	p.config.Limit = 50 * time.Millisecond
	var e wintetris.Engine
	e.Start(1)
	err := error(nil)
	for err == nil {
		_, err = p.Update(t.Context(), &e.Field, e.Piece, e.Upcoming(), true)
	}
	require.ErrorIs(t, err, contest.ErrLate)
	p.child.In.Close()
	require.True(t, p.child.Exit(time.Minute), "the process outlives its parent")
	require.NoError(t, p.child.Kill())
	p.dead = contest.ErrLate
}

// A bench is a game with the example in C, which has little to compute after a piece's first tick.
func bench(b *testing.B) (solver string, e wintetris.Engine) {
	e.Start(1)
	b.ReportAllocs()
	return built(b, "../../submit/wintetris/examples/solver.c"), e
}

// BenchmarkProcess is a tick asked of a library in its own process.
func BenchmarkProcess(b *testing.B) {
	solver, e := bench(b)
	p := started(b, solver, "", nil)
	for b.Loop() {
		if _, err := p.Update(b.Context(), &e.Field, e.Piece, e.Upcoming(), false); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLibrary is the same call without a process between.
func BenchmarkLibrary(b *testing.B) {
	solver, e := bench(b)
	l := envtest.Must(load(solver))
	require.Zero(b, l.answer(&request{Function: "wt_open"}))
	for b.Loop() {
		a := l.answer(&request{Function: "wt_update", Field: e.Field, Now: e.Piece, Next: e.Upcoming()})
		if a.Code < 0 {
			b.Fatal(a.Text)
		}
	}
}
