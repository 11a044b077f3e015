//go:build unix

package blockbattlebot

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/contest"
	"blockyard/env"
	"blockyard/env/blockbattle"
)

// Somebody else's program plays as an agent, in both dialects.
func TestExternalPlays(t *testing.T) {
	script := `while read -r who x; do case "$who" in action) echo left,left,drop;; esac; done`
	for _, d := range []blockbattle.Dialect{blockbattle.ClassicDialect, blockbattle.PortDialect} {
		bot := contest.External(NewCodec(d, nil), contest.Program{Argv: []string{"/bin/sh", "-c", script}, Cage: contest.Trusted})
		s := blockbattle.Game.New(2).(*blockbattle.State)
		s.Reset(5)
		for round := 0; round < 5 && !s.Over; round++ {
			a, err := bot.Act(t.Context(), s, 0)
			require.NoError(t, err)
			want, odd := Judge(d, s, 0, "left,left,drop")
			require.Empty(t, odd)
			require.Equal(t, want, a)
			require.NoError(t, env.Apply(blockbattle.Game, s, env.Moves{a, env.None, env.None, env.None}))
		}
		require.NoError(t, bot.Close())
		_, err := bot.Act(t.Context(), s, 0)
		require.ErrorIs(t, err, contest.ErrGone)
	}
}

func TestExternalThatIsLatePlaysNone(t *testing.T) {
	bot := contest.External(NewCodec(blockbattle.ClassicDialect, nil), contest.Program{Argv: []string{"/bin/sh", "-c", "sleep 60"}, Cage: contest.Trusted})
	defer bot.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	a, err := bot.Act(ctx, blockbattle.Game.New(2), 1)
	require.NoError(t, err)
	require.Equal(t, env.None, a)
}
