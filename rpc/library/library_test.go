package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// built is a folder with the library and the programs in C of these tests.
var built string

func TestMain(m *testing.M) {
	var err error
	if built, err = os.MkdirTemp("", "library"); err != nil {
		panic(err)
	}
	failed := m.Run()
	_ = os.RemoveAll(built)
	os.Exit(failed)
}

// run runs a program, with the library on its path, and returns what it prints.
func run(name string, arguments ...string) (string, error) {
	cmd := exec.Command(name, arguments...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1", "LD_LIBRARY_PATH="+built, "DYLD_LIBRARY_PATH="+built)
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s %v: %w\n%s", name, arguments, err, out)
	}
	return string(out), err
}

var library = sync.OnceValue(func() error {
	_, err := run("go", "build", "-buildmode=c-shared", "-ldflags", "-s -w", "-o", filepath.Join(built, "libblockyard.so"), ".")
	return err
})

// compile compiles a program in C as its author would, with the library, which it builds once, and returns its path.
func compile(t *testing.T, source string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("building the library takes a while")
	}
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("there is no C compiler")
	}
	require.NoError(t, library())
	program := filepath.Join(t.TempDir(), "program")
	_, err := run("cc", "-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread", "-I", ".", "-o", program, source,
		"-L", built, "-lblockyard")
	require.NoError(t, err)
	return program
}

// TestExample compiles and runs the example of the library.
func TestExample(t *testing.T) {
	said, err := run(compile(t, "example/main.c"))
	require.NoError(t, err)
	require.Regexp(t, `^\d+ games ended, \d+ won\n$`, said)
}

// TestErrors: a call with anything that is wrong fails with a message that says what.
func TestErrors(t *testing.T) {
	said, err := run(compile(t, "testdata/errors.c"))
	require.NoError(t, err)
	for _, want := range []string{
		`no game "Chess-v0"`, "want a JSON object", `opponents names seat "first"`, `unknown field "1"`, "needs a reset", "60000",
		"nothing is open under the number 99", "the actions are NULL", "aligned to 8 bytes", "the memory is NULL, want ",
		`no array "planets", but planes, globals`, "the size is -1", "is an environment", "without games of its own", "max_envs",
	} {
		require.Contains(t, said, want)
	}
}

// TestAnyCalls calls the functions in any order, with any arguments, from one thread and from eight at once: each call
// returns what the header says, a failure has a message, and games that are opened afterwards play as in a fresh process.
// With 200 seeds, and under the race detector, if BLOCKYARD_LONG is set.
func TestAnyCalls(t *testing.T) {
	program, seeds := compile(t, "testdata/calls.c"), 4
	programs := []string{program}
	if os.Getenv("BLOCKYARD_LONG") != "" {
		seeds = 200
		archive, races := filepath.Join(built, "races.a"), filepath.Join(built, "races")
		_, err := run("go", "build", "-race", "-buildmode=c-archive", "-o", archive, ".")
		require.NoError(t, err)
		_, err = run("cc", "-no-pie", "-pthread", "-I", ".", "-o", races, "testdata/calls.c", archive, "-lresolv")
		require.NoError(t, err)
		programs = append(programs, races)
	}
	fresh, err := run(program, "0", "1", "0")
	require.NoError(t, err)
	require.Regexp(t, `^[0-9a-f]{16}\n$`, fresh)
	for seed := range seeds {
		for _, threads := range []string{"1", "8"} {
			for _, program := range programs {
				said, err := run(program, fmt.Sprint(seed), threads, "3000")
				require.NoError(t, err)
				require.Equal(t, fresh, said, "seed %d, threads %s", seed, threads)
			}
		}
	}
}
