// Package compiletest builds programs and libraries in C and C++ for tests. Warnings are errors,
// and so is a missing compiler: hosts and solvers in those languages are what the tests are
// about. Once compiles everything once per run of a package's tests. Running finds processes.
package compiletest

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"blockyard/env/envtest"
)

var (
	folder string   // of build results; Run sets it
	built  sync.Map // func() that builds, by file name
)

// Built is a variable of the environment that names the folder of the process that runs a test again; see Again.
const Built = "COMPILETEST_BUILT"

// Run runs a package's tests with a folder for Once, which it removes afterwards, and exits. See also Everywhere.
func Run(m *testing.M) {
	envtest.Must(0, become())
	folder = envtest.Must(os.MkdirTemp("", "compile"))
	envtest.Must(0, os.Chmod(folder, 0o755)) // also for who runs a test again
	status := m.Run()
	_ = os.RemoveAll(folder)
	os.Exit(status)
}

// Once returns the path of the file name in the folder. The first call for a name builds it, unless the process that
// runs this test again has built it.
func Once(name string, build func(path string)) string {
	if path := filepath.Join(os.Getenv(Built), name); filepath.IsAbs(path) && envtest.Failed(os.Stat(path)) == nil {
		return path
	}
	path := filepath.Join(folder, name)
	once, _ := built.LoadOrStore(name, sync.OnceFunc(func() { build(path) }))
	once.(func())()
	return path
}

// C runs the C compiler ($CC or cc) on args, for C99.
func C(t testing.TB, args ...string) {
	t.Helper()
	run(t, Compiler(t, "CC", "cc", append([]string{"-std=c99", "-D_GNU_SOURCE"}, args...)...))
}

// CPP runs the C++ compiler ($CXX or c++) on args, for C++11.
func CPP(t testing.TB, args ...string) {
	t.Helper()
	run(t, Compiler(t, "CXX", "c++", append([]string{"-std=c++11"}, args...)...))
}

var strict = []string{"-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O2", "-g0"}

// Compiler returns a run of the compiler that a variable of the environment names, or of the one of a usual name.
func Compiler(t testing.TB, variable, name string, args ...string) *exec.Cmd {
	t.Helper()
	argv := strings.Fields(cmp.Or(strings.TrimSpace(os.Getenv(variable)), name))
	if _, err := exec.LookPath(argv[0]); err != nil {
		t.Fatalf("a compiler for C and C++ is needed to test plug-ins (apt-get install gcc g++): %v", err)
	}
	return exec.Command(argv[0], slices.Concat(argv[1:], strict, args)...)
}

func run(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// Running returns the processes of this machine that run a command, all of whose words are known.
func Running(argv ...string) (pids []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range files { // a dead process has an empty one
		if text, err := os.ReadFile(name); err == nil && string(text) == strings.Join(argv, "\x00")+"\x00" {
			pids = append(pids, filepath.Base(filepath.Dir(name)))
		}
	}
	if len(files) > 0 {
		return pids
	}
	out, _ := exec.Command("ps", "-eo", "pid=,args=").Output()
	for line := range strings.Lines(string(out)) {
		if words := strings.Fields(line); len(words) > 1 && slices.Equal(words[1:], argv) {
			pids = append(pids, words[0])
		}
	}
	return pids
}
