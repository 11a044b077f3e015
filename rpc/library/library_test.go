package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/contest/compile/compiletest"
	"blockyard/env/envtest"
)

func TestMain(m *testing.M) { compiletest.Run(m) }

// run runs a program that must succeed, and returns what it prints.
func run(t *testing.T, cmd *exec.Cmd) string {
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%v\n%s", cmd, out)
	return string(out)
}

// build builds the library, once of a name.
func build(t *testing.T, name string, flags ...string) string {
	if testing.Short() {
		t.Skip("building the library takes a while")
	}
	return compiletest.Once(name, func(path string) {
		cmd := exec.Command("go", append([]string{"build", "-o", path}, append(flags, ".")...)...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
		run(t, cmd)
	})
}

// program compiles a program in C with the library.
func program(t *testing.T, source string) string {
	library := build(t, "libblockyard.so", "-buildmode=c-shared", "-ldflags=-s -w")
	return compiletest.Once(filepath.Base(source)+".out", func(path string) {
		run(t, compiletest.Compiler(t, "CC", "cc", "-std=c11", "-pthread", "-I.", "-o", path, source, library,
			"-Wl,-rpath,"+filepath.Dir(library)))
	})
}

// TestExample compiles and runs the example of the library.
func TestExample(t *testing.T) {
	require.Regexp(t, `^\d+ games ended, \d+ won\n$`, run(t, exec.Command(program(t, "example/main.c"))))
}

// TestErrors: a call with anything that is wrong fails with a message that says what, also if memory is missing.
func TestErrors(t *testing.T) {
	wrong := program(t, "testdata/errors.c")
	said := run(t, exec.Command(wrong))
	if runtime.GOOS == "linux" {
		require.Contains(t, run(t, exec.Command("sh", "-c", `ulimit -v 4000000; exec "$0"`, wrong)), "limit max_memory is")
	}
	envtest.Has(t, said, `no game "Chess-v0"`, "want a JSON object", `opponents names seat "first"`, `unknown field "1"`,
		"needs a reset", "60000", "nothing is open under this number, 99", "the actions are NULL", "aligned to 8 bytes",
		`no array "planets", but planes, globals`, "-1 bytes at 0x", "1 bytes at 0x0: want memory",
		"want a connection of blockyard_connect", "want an environment of blockyard_open", "invalid memory address",
		"max_envs")
}

// TestAnyCalls calls the functions in any order, with any arguments, from one thread and from eight at once: each call
// returns what the header says, a failure has a message, and games that are opened afterwards play as in a fresh process.
// With 200 seeds, and under the race detector, if BLOCKYARD_LONG is set.
func TestAnyCalls(t *testing.T) {
	programs, seeds := []string{program(t, "testdata/calls.c")}, 4
	if os.Getenv("BLOCKYARD_LONG") != "" {
		seeds = 200
		archive := build(t, "races.a", "-buildmode=c-archive", "-race")
		programs = append(programs, compiletest.Once("races", func(path string) {
			run(t, compiletest.Compiler(t, "CC", "cc", "-std=c11", "-pthread", "-no-pie", "-I.", "-o", path, "testdata/calls.c",
				archive, "-lresolv"))
		}))
	}
	fresh := run(t, exec.Command(programs[0], "0", "1", "0"))
	require.Regexp(t, `^[0-9a-f]{16}\n$`, fresh)
	for seed := range seeds {
		for _, threads := range []string{"1", "8"} {
			for _, program := range programs {
				require.Equal(t, fresh, run(t, exec.Command(program, fmt.Sprint(seed), threads, "3000")))
			}
		}
	}
}
