//go:build unix

package plugin

import (
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/contest/compile/compiletest"
	"blockyard/datasets/program"
)

func TestMain(m *testing.M) { compiletest.Run(m) }

const misbehave = "../../contest/library/testdata/misbehave.c"

// asked is what the flags of "agents play" come to for a solver that this file is the source of.
func asked(t *testing.T, file string, flags Flags) *Match {
	flags.Plugin = compiletest.Once(filepath.Base(file)+".so", func(path string) {
		compiletest.C(t, "-shared", "-fPIC", "-o", path, file)
	})
	flags.Games, flags.Patience = 1, 2*time.Minute
	c := &Match{Flags: flags, Game: "wintetris"}
	require.NoError(t, c.check())
	t.Cleanup(func() { require.NoError(t, c.process.Close()) })
	return c
}

// played is the result of a game, which nobody watches.
func (c *Match) played(t *testing.T, seed uint64) Result {
	r, err := c.play(t.Context(), &program.Console{Err: io.Discard}, seed)
	require.NoError(t, err)
	return r
}

// TestExampleSolver plays the example in C through the process and by its statistics.
func TestExampleSolver(t *testing.T) {
	c := asked(t, "../../submit/wintetris/examples/solver.c", Flags{CapLines: 12})
	r := c.played(t, 1)
	require.Equal(t, "capped", r.End)
	require.GreaterOrEqual(t, r.Lines, 12)
	c.CapLines = 0
	r = c.played(t, 1)
	require.Positive(t, r.MeanMS)
	r.MeanMS, r.LongestMS, r.Hung = 0, 0, 0
	require.Equal(t, Result{
		Seed: 1, Lines: 46, Level: 5, Pieces: 146, Ticks: 512, Score: 11880, Blocked: 5, End: "block out",
	}, r)
}

// TestFaultsOfGames: the report names each of two games that a solver ends, and counts what it did not answer.
func TestFaultsOfGames(t *testing.T) {
	c := asked(t, misbehave, Flags{Options: "crash"})
	for seed := uint64(1); seed <= 2; seed++ {
		r := c.played(t, seed)
		require.Equal(t, "fault", r.End)
		require.Contains(t, r.Fault, "SIGSEGV: segmentation violation")
		require.EqualValues(t, 9, r.Ticks)
		require.Equal(t, 9, r.Pieces)
	}
	c.Options = "negative"
	r := c.played(t, 5)
	require.Equal(t, "wt_update answered -2 (bad argument): as  [1mhe likes: negative", r.Failure)
	require.Equal(t, int(r.Ticks+1)/2, r.Failures)
	r = asked(t, misbehave, Flags{Options: "slow", LimitMS: 25}).played(t, 2)
	require.Positive(t, r.Late)
	require.Less(t, r.Late, int(r.Ticks))
}

func TestConflicts(t *testing.T) {
	c := asked(t, misbehave, Flags{Options: "conflict"})
	r := c.played(t, 3)
	require.Equal(t, 1, r.Conflicts)
	require.Zero(t, r.Blocked)
	require.Equal(t, "block out", r.End)
	c.Strict = true
	r = c.played(t, 3)
	require.Equal(t, "conflict", r.End)
	require.EqualValues(t, 3, r.Ticks)
}

// TestHungTicks: a piece hangs where the answer takes longer than a tick of the level, 500 ms at first and 50 at last.
func TestHungTicks(t *testing.T) {
	var r Result
	for _, c := range []struct {
		took  time.Duration
		level int
		hung  int
	}{
		{499 * time.Millisecond, 1, 0}, {501 * time.Millisecond, 1, 1}, {451 * time.Millisecond, 2, 2},
		{449 * time.Millisecond, 2, 2}, {51 * time.Millisecond, 147, 3}, {49 * time.Millisecond, 147, 3},
	} {
		r.clock(c.took, c.level)
		require.Equal(t, c.hung, r.Hung, "%v at level %d", c.took, c.level)
	}
	require.Equal(t, 501.0, r.LongestMS)
}
