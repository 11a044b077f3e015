//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/wintetrisbot"
	"blockyard/agents/contest/compile/compiletest"
	host "blockyard/agents/contest/library"
	"blockyard/env/wintetris"
)

// callerTime is how long TestLibrary throws random calls at the library:
//
//	go test ./agents/submit/wintetris -run Library/caller -timeout 20m -caller 5m
var callerTime = flag.Duration("caller", time.Second, "time for random calls")

func TestMain(m *testing.M) { compiletest.Run(m) }

// A build is the library, built as its users do, and the programs around it.
type build struct{ dir, library string }

// newBuild returns the library built with flags, once of a name for the run of the tests.
func newBuild(t testing.TB, name string, flags ...string) build {
	dir := compiletest.Once(name, func(path string) {
		compiletest.Compiler(t, "CC", "cc") // which cgo needs
		argv := []string{"build", "-buildmode=c-shared", "-ldflags=-s -w", "-o", filepath.Join(path, libraryName)}
		cmd := exec.Command("go", slices.Concat(argv, flags, []string{"."})...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
	})
	return build{dir, filepath.Join(dir, libraryName)}
}

const libraryName = "libwintetris_solver.so"

// program compiles a C program that links the library.
func (b build) program(t testing.TB, source string) string {
	out := filepath.Join(b.dir, filepath.Base(source)+".out")
	compiletest.C(t, "-o", out, source, b.library, "-Wl,-rpath,"+b.dir, "-pthread")
	return out
}

// output runs a program, which must succeed.
func output(t testing.TB, program string, args ...string) string {
	out, err := exec.Command(program, args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

func TestLibrary(t *testing.T) {
	t.Parallel()
	b := newBuild(t, "library")
	t.Run("header", b.header)
	t.Run("C host", b.hostC)
	t.Run("C++ host", b.hostCPP)
	t.Run("our host", b.ours)
	t.Run("side by side", b.sideBySide)
	t.Run("probe", b.probe)
	t.Run("caller", b.caller)
}

// header compiles the hand-written header beside the one that cgo writes from the exported
// functions: a difference in any type is an error of the compiler's, in C and in C++.
func (b build) header(t *testing.T) {
	both := filepath.Join(b.dir, "both.c")
	require.NoError(t, os.WriteFile(both, []byte("#include \"wintetris.h\"\n#include \"libwintetris_solver.h\"\n"+
		"int unused_by_pedants;\n"), 0o600))
	compiletest.C(t, "-c", "-o", os.DevNull, "-I.", "-I"+b.dir, both)
	compiletest.CPP(t, "-x", "c++", "-c", "-o", os.DevNull, "-I.", "-I"+b.dir, both)
	text, err := os.ReadFile("wintetris.h")
	require.NoError(t, err)
	for was, is := range map[string]string{
		"wt_close(int64_t solver)":       "wt_close(int32_t solver)",
		"int64_t wt_open(const char":     "int32_t wt_open(const char",
		"wt_open(const char *options)":   "wt_open(char *options)",
		"const wt_block *next, int32_t":  "wt_block *next, int32_t",
		"int32_t wt_abi_version(void)":   "int32_t wt_abi_version(int)",
		"char *buf, int32_t len)":        "char *buf, uint32_t len)",
		"int64_t solver, const wt_field": "int64_t solver, const void",
	} {
		mutant := strings.Replace(string(text), was, is, 1)
		require.NotEqual(t, string(text), mutant, was)
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "wintetris.h"), []byte(mutant), 0o600))
		out, err := compiletest.Compiler(t, "CC", "cc", "-std=c99", "-c", "-o", os.DevNull, "-I"+dir, "-I"+b.dir, both).
			CombinedOutput()
		require.Error(t, err)
		require.Contains(t, string(out), "conflicting types for")
	}
}

// inProcess is what a host prints of a game that our engine plays with our solver.
func inProcess(seed uint64, r wintetrisbot.Rater, parts int) string {
	s := wintetrisbot.NewSolver(r, parts)
	return played(seed, func(e *wintetris.Engine) wintetris.Bits {
		return s.Update(&e.Field, e.Piece, e.Upcoming(), e.New)
	})
}

// played is what a host prints of a game that our engine plays with these bits.
func played(seed uint64, bits func(*wintetris.Engine) wintetris.Bits) string {
	var e wintetris.Engine
	for e.Start(seed); e.Over == wintetris.Running; {
		e.Tick(bits(&e))
	}
	return fmt.Sprintf("seed %d lines %d level %d pieces %d ticks %d score %d conflicts %d blocked %d",
		seed, e.Lines, e.Level(), e.Pieces, e.Ticks, e.Points, e.Conflicts, e.Blocked)
}

// demoGames are the demo solver's games of the seeds 0 to 20.
var demoGames = sync.OnceValue(func() []string {
	out := make([]string, 21)
	for seed := range out {
		out[seed] = inProcess(uint64(seed), wintetrisbot.NewHand(wintetrisbot.Demo), wintetris.Parts)
	}
	return out
})

// sameDemo holds a host's output against the demo solver's games from a first seed on.
func sameDemo(t *testing.T, out string, first, last int) {
	require.Equal(t, strings.Join(demoGames()[first:last+1], "\n")+"\n", out)
}

// same holds a host's output against the engine's games from a first seed on.
func same(t *testing.T, out string, first, last uint64, r wintetrisbot.Rater, parts int) {
	lines := bufio.NewScanner(strings.NewReader(out))
	for seed := first; seed <= last; seed++ {
		require.True(t, lines.Scan(), out)
		require.Equal(t, inProcess(seed, r, parts), lines.Text())
	}
	require.False(t, lines.Scan())
}

// hostC loads the library by dlopen and plays with its own engine: seeds 1 to 20.
func (b build) hostC(t *testing.T) {
	host := filepath.Join(b.dir, "host")
	compiletest.C(t, "-o", host, "examples/host.c", "-ldl")
	out := output(t, host, b.library, "1", "20")
	sameDemo(t, out, 1, 20)
	require.Contains(t, out, "seed 1 lines 378 ")
	require.Contains(t, out, "seed 12 lines 143 ")
	same(t, output(t, host, b.library, "8", "8", "parts = 1; evaluator=hand"),
		8, 8, wintetrisbot.NewHand(wintetrisbot.Demo), 1)
	w := wintetrisbot.Weights{-400, 10, 150, 300, -100, -50, 200}
	same(t, output(t, host, b.library, "3", "6", "holes=-400;slots=10;row=150;rows=300;top=-100;bottom=-50;chasms=200"),
		3, 6, wintetrisbot.NewHand(w), wintetris.Parts)
	file := filepath.Join(b.dir, "weights.json")
	text := wintetrisbot.Entry.Baseline.Format([]float32{0, 0, 100, 300, -100, -50, 0})
	require.NoError(t, os.WriteFile(file, text, 0o600))
	w = wintetrisbot.Weights{-500, 0, 100, 300, -100, -50, 0}
	out = output(t, host, b.library, "3", "6", "holes=-500;weights="+file)
	same(t, out, 3, 6, wintetrisbot.NewHand(w), wintetris.Parts)
}

// hostCPP links the library and calls it by the historical signature.
func (b build) hostCPP(t *testing.T) {
	host := filepath.Join(b.dir, "hostpp")
	compiletest.CPP(t, "-o", host, "examples/host.cpp", b.library, "-Wl,-rpath,"+b.dir)
	sameDemo(t, output(t, host, "1", "20", "evaluator=hand"), 1, 20)
	sameDemo(t, output(t, host, "8", "12"), 8, 12)
	out, err := exec.Command(host, "1", "1", "parts=0").CombinedOutput()
	require.Error(t, err)
	require.Equal(t, "hostpp: wintetris: option parts: \"0\": want 1 to 100\n", string(out))
}

// ours loads the library into a process of Go's, so that two of its runtimes meet there.
func (b build) ours(t *testing.T) {
	ctx := context.Background()
	p, err := host.Start(ctx, host.Config{File: b.library, Patience: time.Minute})
	require.NoError(t, err)
	defer p.Close()
	for _, seed := range []uint64{8, 10, 12} {
		require.NoError(t, p.Open(ctx, ""))
		require.Equal(t, demoGames()[seed], played(seed, func(e *wintetris.Engine) wintetris.Bits {
			bits, err := p.Update(ctx, &e.Field, e.Piece, e.Upcoming(), e.New)
			require.NoError(t, err)
			return bits
		}))
	}
	require.NoError(t, p.Open(ctx, "evaluator=learned"))
	var e wintetris.Engine
	for e.Start(10); e.Lines < 300; {
		bits, err := p.Update(ctx, &e.Field, e.Piece, e.Upcoming(), e.New)
		require.NoError(t, err)
		e.Tick(bits)
		require.Equal(t, wintetris.Running, e.Over)
	}
	require.EqualError(t, p.Open(ctx, "evaluator=guess"), `wt_open: option evaluator: "guess": want hand or learned`)
}

// sideBySide plays two solvers of two libraries in turn, each in a game of its own.
func (b build) sideBySide(t *testing.T) {
	other := filepath.Join(b.dir, "other.so")
	compiletest.C(t, "-shared", "-fPIC", "-o", other, "examples/solver.c")
	ctx := context.Background()
	var games [2]wintetris.Engine
	var processes [2]*host.Process
	for i, file := range []string{b.library, other} {
		p, err := host.Start(ctx, host.Config{File: file, Patience: time.Minute})
		require.NoError(t, err)
		defer p.Close()
		require.NoError(t, p.Open(ctx, ""))
		processes[i] = p
		games[i].Start(10)
	}
	for games[0].Over == wintetris.Running || games[1].Over == wintetris.Running {
		for i := range games {
			e := &games[i]
			if e.Over != wintetris.Running {
				continue
			}
			bits, err := processes[i].Update(ctx, &e.Field, e.Piece, e.Upcoming(), e.New)
			require.NoError(t, err)
			e.Tick(bits)
		}
	}
	require.EqualValues(t, 15, games[0].Lines)
	host := filepath.Join(b.dir, "host")
	require.Contains(t, output(t, host, other, "10", "10"), fmt.Sprintf("lines %d level", games[1].Lines))
}

// probe calls the library in every wrong way, and holds the answers against a table.
func (b build) probe(t *testing.T) {
	const null, fault = "null pointer", "reading the arguments: runtime error: invalid memory address"
	want := []string{
		"abi 1", "good 0", "null-field -2 field: " + null, "null-current -2 current: " + null, "null-next -2 next: " + null,
		"null-cells -2 field: cells: " + null, "wild-low -2 " + fault, "wild-cells -2 " + fault, "wild-high -2 " + fault,
		"wild-field -2 " + fault, "size-zero -2 field: size 0, want 24", "size-short -2 field: size 23", "size-later 0",
		"size-odd -2 field: size 25", "size-vast -2 field: size 4294967288", "size-current -2 current: size 4, want 20",
		"size-next -2 next: size 16, want 20", "width -2 field: 12 by 20, want 10 by 20", "height -2 field: 10 by -20",
		"kind -2 current: kind 7: want 0 to 6", "kind-next -2 next: kind -1", "rotation -2 current: rotation 4",
		"rotation-next -2 current: rotation -1", "wall -2 current: kind 5, rotation 0, x -1, y 0 reaches through",
		"far -2 current: x 2147483647, y 0: outside", "high -2 current: x 3, y -2147483648: outside",
		"floor -2 current: kind 5, rotation 0, x 3, y 19 reaches through", "full 0", "overlap 0",
	}
	for range 4 {
		want = append(want, "bad-handle -1 -1 -1", "bad-both -1")
	}
	want = append(want, "two 1 0", "close 0", "again -1", "closed -1 -1",
		"open-unknown 0 option colour: unknown; want evaluator",
		"open-file 0 stat /no/such/file", "open-long 0 options: longer than 4096 bytes", "open-wild 0 options: runtime error",
		"text-cut 1 opt 5", "text-bad -2 -2 -2", "threads 0 1")
	holds(t, output(t, b.program(t, "testdata/probe.c")), want)
}

// holds holds lines against their beginnings.
func holds(t *testing.T, out string, want []string) {
	got := strings.Split(strings.TrimSpace(out), "\n")
	require.Len(t, got, len(want), out)
	for i, w := range want {
		require.True(t, strings.HasPrefix(got[i], w), "%q, want %q", got[i], w)
	}
}

// TestCrashes is about solvers that crash: their calls fail, and nothing else does.
func TestCrashes(t *testing.T) {
	t.Parallel()
	own, err := filepath.Abs("solver.go")
	require.NoError(t, err)
	crashing, err := filepath.Abs("testdata/solver_fault.go.txt")
	require.NoError(t, err)
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{own: crashing}})
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "overlay.json")
	require.NoError(t, os.WriteFile(file, overlay, 0o600))
	b := newBuild(t, "crashing", "-overlay", file)
	holds(t, output(t, b.program(t, "testdata/probe.c"), "crash"), []string{
		"abi 1", "crash=nil -3 the solver failed: runtime error: invalid memory address", "after-nil 0 0",
		"crash=index -3 the solver failed: runtime error: index out of range", "after-index 0 0",
		"crash=panic -3 the solver failed: crash", "after-panic 0 0",
		"crash=open 0 making the solver failed: crash in open",
	})
	p, err := host.Start(t.Context(), host.Config{File: b.library, Patience: time.Minute})
	require.NoError(t, err)
	defer p.Close()
	require.NoError(t, p.Open(t.Context(), "crash=nil"))
	var crashes int32
	var e wintetris.Engine
	for e.Start(1); e.Over == wintetris.Running; {
		bits, err := p.Update(t.Context(), &e.Field, e.Piece, e.Upcoming(), e.New)
		if err != nil {
			require.ErrorAs(t, err, new(*host.Answer))
			crashes++
		}
		e.Tick(bits)
	}
	require.Equal(t, wintetris.BlockOut, e.Over)
	require.Equal(t, e.Pieces, crashes, "it crashes once a piece, and the game goes on")
}

// caller throws random calls at the library from several threads.
func (b build) caller(t *testing.T) {
	out := output(t, b.program(t, "testdata/caller.c"), strconv.Itoa(int(callerTime.Seconds())), strconv.Itoa(os.Getpid()))
	t.Log(out)
	var calls, answered int
	_, err := fmt.Sscanf(out, "calls %d answered %d", &calls, &answered)
	require.NoError(t, err, out)
	require.Greater(t, answered, calls/20, "most calls are bad, but not all")
}

// BenchmarkCall is the CPU time of a call of wt_update from C in which the solver has nothing to think.
func BenchmarkCall(b *testing.B) {
	program := newBuild(b, "library").program(b, "testdata/probe.c")
	b.ResetTimer()
	var each float64
	out := output(b, program, "cost", strconv.Itoa(b.N))
	_, err := fmt.Sscanf(out[strings.Index(out, "cost"):], "cost %f", &each)
	require.NoError(b, err, out)
	b.ReportMetric(each, "cpu-ns/call")
}
