package cage

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"blockyard/agents/contest"
)

// TestMissingWalls: a kernel without any one of the walls is told by its name, and require refuses it.
func TestMissingWalls(t *testing.T) {
	all, now := slices.Clone(walls), here
	t.Cleanup(func() { walls, here = all, now })
	for k, lacking := range all {
		for j := range walls {
			walls[j].up = func(*sandbox) error { return nil }
		}
		walls[k].up = func(*sandbox) error { return errLacks }
		missing, err := (&sandbox{}).build()
		require.NoError(t, err)
		require.Equal(t, []string{lacking.name}, missing)
		here = func() support { return support{missing: missing} }
		require.Equal(t, missing, Missing())
		require.EqualError(t, Require.Check(), "--isolate require: missing here: "+lacking.name)
		require.NoError(t, Auto.Check())
		require.NoError(t, Off.Check())
	}
	walls[0].up = func(*sandbox) error { return fmt.Errorf("broken") }
	_, err := (&sandbox{}).build()
	require.EqualError(t, err, all[0].name+": broken", "a wall that fails is no missing one: the program does not start")
}

// TestWithoutBubblewrap: where bubblewrap is not installed, or fails, the walls of rooms are missing, each by its name and
// with the reason, and programs are contained by the others.
func TestWithoutBubblewrap(t *testing.T) {
	empty, failing := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(failing, "bwrap"),
		[]byte("#!/bin/sh\nprintf 'bwrap: no permission\\nmore\\n' >&2\nexit 1\n"), 0o755))
	now := here
	t.Cleanup(func() { here = now })
	for path, why := range map[string]string{
		empty:                      "bubblewrap (bwrap) is not installed",
		failing + ":/usr/bin:/bin": "bubblewrap fails here: bwrap: no permission",
	} {
		t.Setenv("PATH", path)
		support := ask()
		require.Empty(t, support.bwrap)
		require.Equal(t, roomWalls[0]+": "+why, support.missing[0])
		for k, name := range roomWalls {
			require.Contains(t, support.missing[k], name)
		}
		here = ask
		c := &Cage{Limits: Bot}
		cmd, contained, err := c.Enclose(&contest.Spec{Argv: []string{"/bin/pwd"}})
		require.NoError(t, err)
		out, err := cmd.Output()
		require.NoError(t, err)
		contained.Leave()
		require.Regexp(t, regexp.MustCompile(`^`+os.TempDir()+`/cage-\d+/bot\n$`), string(out))
		require.NoFileExists(t, filepath.Dir(string(out)))
	}
}

// TestOldKernels asks each wall whether a kernel has it, with older versions of Landlock.
func TestOldKernels(t *testing.T) {
	real := landlockVersion
	t.Cleanup(func() { landlockVersion = real })
	version := regexp.MustCompile(`\(Landlock (\d+)\)$`)
	for _, w := range walls {
		var want int
		if m := version.FindStringSubmatch(w.name); m != nil {
			_, err := fmt.Sscan(m[1], &want)
			require.NoError(t, err)
			for has := range want + 2 {
				landlockVersion = func() (int, error) { return has, nil }
				require.Equal(t, has < want, w.up(&sandbox{}) != nil, "%s on version %d", w.name, has)
			}
		}
	}
	landlockVersion = func() (int, error) { return 0, unix.ENOSYS }
	require.ErrorIs(t, landlocked(&sandbox{}), errLacks)
	require.ErrorIs(t, hasLandlock(4)(&sandbox{}), errLacks)
}
