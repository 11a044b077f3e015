package cage_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/contest"
	"blockyard/agents/contest/cage"
	"blockyard/agents/contest/compile/compiletest"
)

// TestRandomAttacks: a program that makes 10,000 random operations on files and system calls changes nothing outside of
// its room, and leaves no process. The long test does that with a thousand seeds.
func TestRandomAttacks(t *testing.T) {
	compiletest.Everywhere(t, func(t *testing.T) {
		if len(cage.Missing()) > 0 {
			return // what it reaches there is said by TestAttacks
		}
		seeds := 10
		if os.Getenv("BLOCKYARD_LONG") != "" {
			seeds = 1000
		}
		program := compiletest.Once("random", func(path string) { compiletest.C(t, "-o", path, "testdata/random.c") })
		text, err := os.ReadFile(program)
		require.NoError(t, err)
		f := newField(t)
		require.NoError(t, os.WriteFile(filepath.Join(f.own, "random"), text, 0o755))
		before := outside(t, f)
		for seed := range seeds {
			argv := []string{"./random", fmt.Sprint(seed), "10000", f.dir, f.secret, f.own, f.journal, filepath.Dir(program)}
			printed, _, ended, _ := runSpec(t, contest.Spec{Argv: argv, Cage: f.cage, Memory: 512 << 20})
			require.True(t, ended != "" || strings.HasSuffix(printed, "done\n"), printed)
			require.Equal(t, before, outside(t, f), "seed %d", seed)
		}
	})
}

// outside describes what is outside of a room: files, devices, what the kernel has been told, and processes that attack.
func outside(t *testing.T, f *field) string {
	t.Helper()
	all := []string{state(t, f.dir)}
	for _, path := range []string{"/dev/null", "/dev/zero", "/dev", "/dev/shm", "/", "/usr", "/usr/bin", "/usr/bin/true", "/etc", "/etc/passwd"} {
		info, err := os.Lstat(path)
		require.NoError(t, err)
		all = append(all, path, info.Mode().String())
		if info.Mode().IsRegular() {
			all = append(all, info.ModTime().String(), fmt.Sprint(info.Size()))
		}
	}
	pattern, err := os.ReadFile("/proc/sys/kernel/core_pattern")
	require.NoError(t, err)
	all = append(all, string(pattern))
	processes, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	for _, file := range processes {
		if text, err := os.ReadFile(file); err == nil && strings.HasPrefix(string(text), "./random\x00") && strings.Contains(string(text), f.dir) {
			all = append(all, file)
		}
	}
	return strings.Join(all, " ")
}
