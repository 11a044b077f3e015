//go:build unix

package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/wintetrisbot"
	"blockyard/agents/contest/compile/compiletest"
	host "blockyard/agents/contest/library"
	"blockyard/agents/submit/wintetris/handles"
	"blockyard/env/envtest"
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
	t.Run("hosts", b.hosts)
	t.Run("our host", b.ours)
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
}

// played is what a host prints of games of our engine with a solver of ours, one for each seed.
func played(options string, first, last uint64) (out string) {
	var e wintetris.Engine
	for seed := first; seed <= last; seed++ {
		s := envtest.Must(handles.NewSolver(options))
		for e.Start(seed); e.Over == wintetris.Running; {
			e.Tick(s.Update(&e.Field, e.Piece, e.Upcoming(), e.New))
		}
		out += fmt.Sprintf("seed %d lines %d level %d pieces %d ticks %d score %d conflicts %d blocked %d\n",
			seed, e.Lines, e.Level(), e.Pieces, e.Ticks, e.Points, e.Conflicts, e.Blocked)
	}
	return out
}

// hosts plays by the example in C, which loads the library and has an engine of its own, and by the one in C++, which
// links it and calls it by the historical signature. Solvers in C and C++ play by the first, too, and alike.
func (b build) hosts(t *testing.T) {
	c, cpp := filepath.Join(b.dir, "host"), filepath.Join(b.dir, "hostpp")
	inC, inCPP := filepath.Join(b.dir, "c.so"), filepath.Join(b.dir, "cpp.so")
	compiletest.C(t, "-o", c, "examples/host.c", "-ldl")
	compiletest.CPP(t, "-o", cpp, "examples/host.cpp", b.library, "-Wl,-rpath,"+b.dir)
	compiletest.C(t, "-shared", "-fPIC", "-o", inC, "examples/solver.c")
	compiletest.CPP(t, "-shared", "-fPIC", "-fvisibility=hidden", "-o", inCPP, "../starters/wintetris/cpp/solver.cpp")
	file := filepath.Join(b.dir, "weights.json")
	text := wintetrisbot.Entry.Baseline.Format([]float32{0, 0, 100, 300, -100, -50, 0})
	require.NoError(t, os.WriteFile(file, text, 0o600))
	demo := played("", 1, 20)
	envtest.Has(t, demo, "seed 1 lines 378 ", "seed 12 lines 143 ")
	require.Equal(t, demo, output(t, c, b.library, "1", "20"))
	require.Equal(t, demo, output(t, cpp, "1", "20", "evaluator=hand"))
	for _, options := range []string{
		"parts = 1; evaluator=hand", "holes=-400;slots=10;row=150;rows=300;top=-100;bottom=-50;chasms=200",
		"holes=-500;weights=" + file,
	} {
		require.Equal(t, played(options, 3, 6), output(t, c, b.library, "3", "6", options), options)
	}
	require.Contains(t, demo, output(t, cpp, "8", "12"))
	games := output(t, c, inC, "1", "2")
	require.Contains(t, games, "seed 1 lines 46 level 5 pieces 146 ticks 512 score 11880 conflicts 0 blocked 5\n")
	require.Equal(t, games, output(t, c, inCPP, "1", "2"))
	for want, argv := range map[string][]string{
		"wintetris: option parts: \"0\": want 1 to 100\n": {cpp, "1", "1", "parts=0"},
		"there are no options, not even x\n":              {c, inCPP, "1", "1", "x"},
	} {
		out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
		require.Error(t, err)
		require.True(t, strings.HasSuffix(string(out), want), string(out))
	}
}

// ours loads the library into a process of Go's, so that two of its runtimes meet there.
func (b build) ours(t *testing.T) {
	p := envtest.Closing(t, envtest.Must(host.Start(t.Context(), host.Config{File: b.library, Patience: time.Minute})))
	for _, options := range []string{"", "evaluator=learned"} {
		require.NoError(t, p.Open(t.Context(), options))
		s := envtest.Must(handles.NewSolver(options))
		var e wintetris.Engine
		for e.Start(10); e.Over == wintetris.Running && e.Lines < 100; {
			bits := envtest.Must(p.Update(t.Context(), &e.Field, e.Piece, e.Upcoming(), e.New))
			require.Equal(t, s.Update(&e.Field, e.Piece, e.Upcoming(), e.New), bits)
			e.Tick(bits)
		}
		require.Equal(t, options == "", e.Over != wintetris.Running, "the learned one plays on")
	}
	err := p.Open(t.Context(), "evaluator=guess")
	require.EqualError(t, err, `wt_open: option evaluator: "guess": want hand or learned`)
}

// probe calls the library in every wrong way, and holds the answers against a table.
func (b build) probe(t *testing.T) {
	const null, fault = "null pointer", "reading the arguments: runtime error: invalid memory address"
	const wild = "no address of memory"
	want := []string{
		"abi 1", "good 0", "null-field -2 field: " + null, "null-current -2 current: " + null, "null-next -2 next: " + null,
		"null-cells -2 field: cells: " + null, "wild-low -2 field: cells: " + wild, "wild-cells -2 " + fault,
		"wild-high -2 field: cells: " + wild, "wild-field -2 " + fault, "low-field -2 field: " + wild,
		"low-current -2 current: " + wild, "high-next -2 next: " + wild,
		"size-zero -2 field: size 0, want 24", "size-short -2 field: size 23", "size-later 0",
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
	own := envtest.Must(filepath.Abs("solver.go"))
	crashing := envtest.Must(filepath.Abs("testdata/solver_fault.go.txt"))
	overlay := envtest.Must(json.Marshal(map[string]any{"Replace": map[string]string{own: crashing}}))
	b := newBuild(t, "crashing", "-overlay", envtest.File(t, "overlay.json", overlay))
	holds(t, output(t, b.program(t, "testdata/probe.c"), "crash"), []string{
		"abi 1", "crash=nil -3 the solver failed: runtime error: invalid memory address", "after-nil 0 0",
		"crash=index -3 the solver failed: runtime error: index out of range", "after-index 0 0",
		"crash=panic -3 the solver failed: crash", "after-panic 0 0",
		"crash=open 0 making the solver failed: crash in open",
	})
}

// caller throws random calls at the library from several threads.
func (b build) caller(t *testing.T) {
	// With GOGC=2 Go's garbage collector is nearly always at work, and meets what variables hold.
	seconds, seed := strconv.Itoa(int(callerTime.Seconds())), strconv.Itoa(os.Getpid())
	out := output(t, "env", "GOGC=2", b.program(t, "testdata/caller.c"), seconds, seed)
	t.Log(out)
	var calls, answered int
	require.NoError(t, envtest.Failed(fmt.Sscanf(out, "calls %d answered %d", &calls, &answered)), out)
	require.Greater(t, answered, calls/20, "most calls are bad, but not all")
}

// BenchmarkCall is the CPU time of a call of wt_update from C in which the solver has nothing to think.
func BenchmarkCall(b *testing.B) {
	program := newBuild(b, "library").program(b, "testdata/probe.c")
	b.ResetTimer()
	var each float64
	out := output(b, program, "cost", strconv.Itoa(b.N))
	require.NoError(b, envtest.Failed(fmt.Sscanf(out[strings.Index(out, "cost"):], "cost %f", &each)), out)
	b.ReportMetric(each, "cpu-ns/call")
}
