package blockbattlebot

import (
	"testing"
	"time"

	"blockyard/agents/bots/entry/toybot"
	"blockyard/agents/contest"
	"blockyard/env/blockbattle"
	"blockyard/env/envtest/rulebook"
)

// TestRulesDialogue hosts the game of each dialogue of RULES.md: the host sends what they show.
func TestRulesDialogue(t *testing.T) {
	drops := toybot.Bot(func([]string, time.Duration) (string, time.Duration, error) { return "drop", 0, nil })
	book := rulebook.Open(t, "../../../env/blockbattle")
	for name, d := range map[string]blockbattle.Dialect{"dialogue": blockbattle.ClassicDialect, "dialogue-port": blockbattle.PortDialect} {
		for _, block := range book.Blocks(t, name) {
			limits := contest.Limits{Bank: 10 * time.Second, PerMove: 500 * time.Millisecond, Timeouts: 2}
			ref := &Referee{Dialect: d, State: blockbattle.Game.New(2).(*blockbattle.State), Limits: limits}
			ref.State.Reset(1)
			toybot.Dialogue(t, contest.Host{Referee: ref, Limits: limits}, block, 0, drops)
		}
	}
}
