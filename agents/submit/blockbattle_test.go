package submit

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/blockbattlebot"
	"blockyard/agents/bots/entry/toybot"
	"blockyard/agents/contest"
	"blockyard/agents/contest/trial"
	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/blockbattle"
)

// The compiled bot answers as the same search and evaluator do in this process: in the stored logs and in
// positions of seeded games, fewer at greater depths, 1,000 at up to three plies if BLOCKYARD_LONG is set.
func TestBlockBattleBotPlaysAsItsAgent(t *testing.T) {
	for _, c := range []struct {
		name      string
		hidden    int // 0 for the baseline, -1 for the shipped network
		ply       int
		logs      bool
		positions int
	}{
		{"baseline", 0, 2, true, 547},
		{"net", 32, 2, false, positions(100)},
		{"shipped net", -1, 2, false, positions(150)},
		{"third ply", 0, 3, false, positions(40)},
		{"fourth ply", 0, 4, false, 20},
		{"fourth ply with a net", 16, 4, false, 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var net *mlp.Net
			if c.hidden > 0 {
				net = toybot.RandomNet(t, 1, blockbattlebot.Len, c.hidden, 1)
			} else if c.hidden < 0 {
				var err error
				net, err = blockbattlebot.Entry.LoadNet(blockbattle.Game, "")
				require.NoError(t, err)
			}
			src, net := source(t, Bot{Game: "blockbattle", Net: net, Ply: c.ply})
			argv := compiled(t, src)
			agent := blockBattleAgent(t, net, c.ply)
			view := blockbattle.Game.New(2)
			positions := 0
			same := func(a trial.Answer) {
				env.View(view, a.State, a.Seat, 99)
				want, err := agent.Act(t.Context(), view, a.Seat)
				require.NoError(t, err)
				round := a.State.(*blockbattle.State).Round
				require.Equal(t, blockbattle.Text(want), blockbattle.Text(a.Action), "round %d", round)
				positions++
			}
			if c.logs {
				got, err := blockbattlebot.Replay(ample).Play(t.Context(), argv, same)
				require.NoError(t, err)
				require.Equal(t, 9, got.Logs)
				require.Equal(t, 547, got.Answers)
			}
			seeded := func(ctx context.Context, tr *trial.Trial) error { return askSeeded(t, tr, c.positions-positions) }
			script := func() ([]trial.Game, error) { return []trial.Game{seeded}, nil }
			_, err := trial.Script(script).Play(t.Context(), argv, same)
			require.NoError(t, err)
			require.GreaterOrEqual(t, positions, c.positions)
		})
	}
}

// blockBattleAgent is the agent that a bot should be equal to.
func blockBattleAgent(t *testing.T, net *mlp.Net, ply int) env.Agent {
	t.Helper()
	var e search.Evaluator = blockbattlebot.NewHand()
	if net != nil {
		learned := blockbattlebot.NewLearned(net)
		e = learned
	}
	o := search.Options{Ply: ply, Outcomes: blockbattle.Pieces, Guard: blockbattlebot.NewGuard()}
	agent, err := search.New(blockbattle.Game, e, o)
	require.NoError(t, err)
	return agent
}

// askSeeded asks the bot in n positions of seeded games. Random moves among the games' moves make boards ragged.
func askSeeded(t *testing.T, tr *trial.Trial, n int) error {
	t.Helper()
	bot, err := tr.Start()
	require.NoError(t, err)
	defer bot.Close()
	greedy := search.NewGreedy(blockbattle.Game, blockbattlebot.NewHand())
	wild := search.NewRandom(7)
	view := blockbattle.Game.New(2)
	ref := blockbattlebot.Referee{
		State:  blockbattle.Game.New(2).(*blockbattle.State),
		Limits: contest.Limits{Bank: ample, PerMove: 500 * time.Millisecond},
	}
	for seed := uint64(1); tr.Answers < n; seed++ {
		ref.State.Reset(seed)
		for !ref.State.Over && tr.Answers < n {
			lines := ref.Request(0, ample).Lines
			line, _, _, err := bot.Ask(t.Context(), lines, ample)
			require.NoError(t, err)
			a, odd := blockbattlebot.Judge(blockbattle.ClassicDialect, ref.State, 0, line)
			require.Empty(t, odd)
			require.Contains(t, ref.State.Legal(0, nil), a)
			tr.Answered(ref.State, 0, a)
			moves := env.NoMoves
			for seat := 0; seat < 2; seat++ {
				env.View(view, ref.State, seat, seed)
				var agent env.Agent = greedy
				if (ref.State.Round+int32(seat))%4 == 0 {
					agent = wild
				}
				moves[seat], err = agent.Act(t.Context(), view, seat)
				require.NoError(t, err)
			}
			require.NoError(t, env.Apply(blockbattle.Game, ref.State, moves))
		}
	}
	return bot.Close()
}

func TestCheckRefusesABotThatWritesNonsense(t *testing.T) {
	_, err := check(t.Context(), "blockbattle", []byte(`package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

func main() {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		if strings.HasPrefix(in.Text(), "action") {
			fmt.Println("left,up,drop")
		}
	}
}
`), nil)
	require.ErrorContains(t, err, `unknown token "up"`)
}

func TestReplayRefusesABotThatWritesToStandardError(t *testing.T) {
	_, err := blockbattlebot.Replay(0).Play(t.Context(), []string{"sh", "-c",
		"echo lost >&2; while read -r w x; do case $w in action) echo drop;; esac; done"}, nil)
	require.ErrorContains(t, err, "replay game 1: the bot writes to standard error: lost")
}
