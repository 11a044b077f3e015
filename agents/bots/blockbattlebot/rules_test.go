package blockbattlebot

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/contest"
	"blockyard/env/blockbattle"
	"blockyard/env/envtest/rulebook"
)

// A dropper answers drop.
type dropper struct{}

func (dropper) Ask(context.Context, []string, time.Duration) (string, bool, time.Duration, error) {
	return "drop", false, 0, nil
}

func (dropper) Close() error { return nil }

// TestRulesDialogue hosts the game of each dialogue of RULES.md: the host sends what they show.
func TestRulesDialogue(t *testing.T) {
	book := rulebook.Open(t, "../../../env/blockbattle")
	for name, d := range map[string]blockbattle.Dialect{"dialogue": blockbattle.ClassicDialect, "dialogue-port": blockbattle.PortDialect} {
		for _, block := range book.Blocks(t, name) {
			ctx, end := context.WithCancel(t.Context())
			s := &rulebook.Script{T: t, Lines: rulebook.Dialogue(t, block), Late: contest.ErrLate, End: end}
			limits := contest.Limits{Bank: 10 * time.Second, PerMove: 500 * time.Millisecond, Timeouts: 2}
			ref := &Referee{Dialect: d, State: blockbattle.Game.New(2).(*blockbattle.State), Limits: limits}
			ref.State.Reset(1)
			h := contest.Host{Referee: ref, Limits: limits, Start: seated(s, dropper{})}
			_, err := h.Play(ctx)
			require.ErrorIs(t, err, context.Canceled, "the dialogue is longer than the game")
			require.Empty(t, s.Lines)
		}
	}
}
