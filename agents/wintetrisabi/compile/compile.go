// Package compile builds programs and libraries in C and C++ for tests. Warnings are errors,
// and so is a missing compiler: hosts and solvers in those languages are what the tests are
// about. A Dir compiles everything once per run of a package's tests.
package compile

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// A Dir is a folder of build results that the tests of a package share.
type Dir struct {
	path string
	mu   sync.Mutex
	done map[string]*sync.Once
}

// Run runs a package's tests with a Dir, which it removes afterwards, and exits.
func Run(m *testing.M, d *Dir) {
	var err error
	if d.path, err = os.MkdirTemp("", "compile"); err != nil {
		panic(err)
	}
	status := m.Run()
	_ = os.RemoveAll(d.path)
	os.Exit(status)
}

// Once returns the path of the file name in the folder. The first call for a name builds it.
func (d *Dir) Once(name string, build func(path string)) string {
	d.mu.Lock()
	if d.done == nil {
		d.done = map[string]*sync.Once{}
	}
	once := d.done[name]
	if once == nil {
		once = new(sync.Once)
		d.done[name] = once
	}
	d.mu.Unlock()
	path := filepath.Join(d.path, name)
	once.Do(func() { build(path) })
	return path
}

var strict = []string{"-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O2", "-g0"}

// C runs the C compiler ($CC or cc) on args, for C99.
func C(t testing.TB, args ...string) {
	t.Helper()
	out, err := run(t, "CC", "cc", append([]string{"-std=c99", "-D_GNU_SOURCE"}, args...))
	check(t, out, err)
}

// CPP runs the C++ compiler ($CXX or c++) on args, for C++11.
func CPP(t testing.TB, args ...string) {
	t.Helper()
	out, err := run(t, "CXX", "c++", append([]string{"-std=c++11"}, args...))
	check(t, out, err)
}

// Refused runs the C compiler on what must not compile, and returns what it says.
func Refused(t testing.TB, args ...string) string {
	t.Helper()
	out, err := run(t, "CC", "cc", append([]string{"-std=c99"}, args...))
	if err == nil {
		t.Fatalf("compiled, but should not have: %v", args)
	}
	return out
}

// Library builds the Go package in a folder as a C library at path.
func Library(t testing.TB, folder, path string, flags ...string) {
	t.Helper()
	compiler(t, "CC", "cc")
	args := append(append([]string{"build", "-buildmode=c-shared", "-o", path}, flags...), ".")
	cmd := exec.Command("go", args...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
	out, err := cmd.CombinedOutput()
	check(t, string(out), err)
}

func run(t testing.TB, variable, name string, args []string) (string, error) {
	argv := compiler(t, variable, name)
	out, err := exec.Command(argv[0], append(append(argv[1:len(argv):len(argv)], strict...), args...)...).CombinedOutput()
	return string(out), err
}

// compiler is the command of a compiler.
func compiler(t testing.TB, variable, name string) []string {
	t.Helper()
	argv := strings.Fields(os.Getenv(variable))
	if len(argv) == 0 {
		argv = []string{name}
	}
	if _, err := exec.LookPath(argv[0]); err != nil {
		t.Fatalf("a compiler for C and C++ is needed to test plug-ins (apt-get install gcc g++): %v", err)
	}
	return argv
}

func check(t testing.TB, out string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
