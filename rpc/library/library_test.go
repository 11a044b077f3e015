package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestExample builds the library as a C program uses it, and compiles and runs the example of it.
func TestExample(t *testing.T) {
	if testing.Short() {
		t.Skip("building the library takes a while")
	}
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("there is no C compiler")
	}
	folder := t.TempDir()
	run := func(name string, arguments ...string) string {
		cmd := exec.Command(name, arguments...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=1", "LD_LIBRARY_PATH="+folder, "DYLD_LIBRARY_PATH="+folder)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s %v\n%s", name, arguments, out)
		return string(out)
	}
	library, program := filepath.Join(folder, "libblockyard.so"), filepath.Join(folder, "example")
	run("go", "build", "-buildmode=c-shared", "-ldflags", "-s -w", "-o", library, ".")
	run("cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-I", ".", "-o", program, "example/main.c", "-L", folder, "-lblockyard")
	require.Regexp(t, `^\d+ games ended, \d+ won\n$`, run(program))

	const wrong = `#include <stdio.h>
#include <string.h>
#include "blockyard.h"
static void show(int64_t env) { char m[300]; blockyard_error(env, m, sizeof m); puts(m); }
int main(void) {
	uint64_t slab[2000] = {0};
	uint16_t action = 60000;
	if (blockyard_open("Chess-v0", NULL) != 0) return 1;
	show(0);
	if (blockyard_open("WinTetris-v0", "{\"num_envs\": ") != 0) return 2;
	show(0);
	if (blockyard_step(99, &action, slab) != -1 || blockyard_rows(99) != -1) return 3;
	int64_t env = blockyard_open("WinTetris-v0", "{\"illegal\": \"error\", \"num_envs\": 1}");
	if (blockyard_rows(env) != 1 || blockyard_slab_size(env) > (int64_t)sizeof slab) return 4;
	if (blockyard_field(env, "planets", NULL) != -1) return 5;
	if (blockyard_step(env, &action, slab) != -1) return 6;
	show(env);
	if (blockyard_reset(env, 1, slab) != 0 || blockyard_step(env, &action, slab) != -1) return 7;
	show(env);
	blockyard_close(env);
	blockyard_close(env);
	return blockyard_step(env, &action, slab) == -1 ? 0 : 8;
}
`
	source := filepath.Join(folder, "wrong.c")
	require.NoError(t, os.WriteFile(source, []byte(wrong), 0o600))
	run("cc", "-Wall", "-Werror", "-I", ".", "-o", program, source, "-L", folder, "-lblockyard")
	said := run(program)
	for _, want := range []string{`no game "Chess-v0"`, "want a JSON object", "needs a reset", "60000"} {
		require.Contains(t, said, want)
	}
}
