package commands

import (
	"strings"
	"testing"
	"time"

	"blockyard/datasets/program/ops"
	"blockyard/env/envtest"
	"blockyard/train/games"
	"blockyard/train/selfplay"
	"blockyard/train/selfplay/phases"

	"github.com/stretchr/testify/require"
)

// Without a terminal a run tells how it goes in plain lines, not too many, in gates too.
func TestPlainLinesWithoutTerminal(t *testing.T) {
	c := phases.Default(games.BlockBattle)
	c.Games, c.Rounds, c.Iterations, c.Hidden, c.Batch, c.Gates, c.GatePairs, c.GatePly = 2, 8, 100, []int{4}, 32, 1, 30, 1
	run := envtest.Must(selfplay.New(games.BlockBattle, &c, nil, 1))
	defer func() { require.NoError(t, run.Close()) }()
	var out strings.Builder
	p := newProgress(run, &out, new(ops.Flags).Logger(&out), true)
	now := time.Now()
	p.start, p.printed = now, now
	p.now = func() time.Time { now = now.Add(time.Second); return now }
	require.NoError(t, run.Go(t.Context(), func(gated bool) error { p.after(gated); return nil }))
	p.clear()
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.NotContains(t, out.String(), "\r")
	require.Regexp(t, `level=INFO msg=training progress=0\..* score="no gate yet"`, lines[0])
	require.Regexp(t, `msg="gate is played" progress=1 gate=1 gates=1 games=\d+ of_games=60$`, lines[len(lines)-2])
	require.Regexp(t, `msg=gate gate=1 gates=1 .* kept=true .*no best yet  kept"$`, lines[len(lines)-1])
	require.NotRegexp(t, `=\d*\.\d{8}`, out.String(), "four significant digits")
	require.Equal(t, []any{"a", 0.3333, "b", 123500.0, "c", 7}, rounded([]any{"a", 1.0 / 3, "b", 123456.7, "c", 7}))
	require.Greater(t, len(lines), 8)
	require.Less(t, len(lines), 15, "130 seconds, a line every ten")
}
