package cage

import (
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestMissingWalls: a kernel without any one of the walls is told by its name, and require refuses it.
func TestMissingWalls(t *testing.T) {
	all, now := slices.Clone(walls), here
	t.Cleanup(func() { walls, here = all, now })
	for k, lacking := range all {
		for j := range walls {
			walls[j].up = func(*order) error { return nil }
		}
		walls[k].up = func(*order) error { return errLacks }
		missing, err := (&order{}).build()
		require.NoError(t, err)
		require.Equal(t, []string{lacking.name}, missing)
		here = func() ground { return ground{possible: true, missing: missing} }
		require.True(t, Possible(), "the others stand")
		require.Equal(t, missing, Missing())
		require.EqualError(t, Require.Check(), "--isolate require: missing here: "+lacking.name)
		require.NoError(t, Auto.Check())
		require.NoError(t, Off.Check())
	}
	walls[0].up = func(*order) error { return fmt.Errorf("broken") }
	_, err := (&order{}).build()
	require.EqualError(t, err, all[0].name+": broken", "a wall that fails is no missing one: the program does not start")
	here = func() ground { return ground{missing: []string{"no process can contain itself here"}} }
	require.False(t, Possible())
	require.ErrorContains(t, Require.Check(), "no process can contain itself here")
}

// TestOldKernels asks each wall whether a kernel has it, with fewer namespaces and older versions of Landlock.
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
				require.Equal(t, has < want, w.up(&order{}) != nil, "%s on version %d", w.name, has)
			}
		}
	}
	landlockVersion = func() (int, error) { return 0, unix.ENOSYS }
	require.ErrorIs(t, landlocked(&order{}), errLacks)
	require.ErrorIs(t, hasLandlock(4)(&order{}), errLacks)
	for _, w := range walls[:5] {
		require.ErrorIs(t, w.up(&order{}), errLacks, "%s without namespaces", w.name)
	}
}
