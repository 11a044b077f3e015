package submit

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/agents/bots/blockbattlebot"
	"blockyard/agents/bots/blockingbot"
	"blockyard/agents/bots/dropbloxbot"
	"blockyard/agents/bots/entry/toybot"
	"blockyard/agents/bots/tetrisduelbot"
	"blockyard/agents/contest"
	"blockyard/agents/contest/trial"
	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/blocking"
	"blockyard/env/dropblox"
	"blockyard/env/envtest"
)

// ample is more time than any search needs, so that no bot plays the best it has found when time runs out.
const ample = time.Hour

// positions is how many positions a long test compares, 1,000 at least if BLOCKYARD_LONG is set.
func positions(short int) int { return envtest.Many(short, 1000) }

// The compiled bots answer as the same search and evaluator do in this process: in the stored logs of Block Battle and
// in seeded games. Those of Dropblox have no time left, so that they search without the preview.
func TestBotsPlayAsTheirAgents(t *testing.T) {
	logs := func(uint64, int) trial.Script { return blockbattlebot.Replay(ample) }
	seeded := func(_ uint64, n int) trial.Script {
		return func() ([]trial.Game, error) {
			return []trial.Game{func(ctx context.Context, tr *trial.Trial) error { return askSeeded(ctx, tr, n) }}, nil
		}
	}
	games := func(k uint64, _ int) trial.Script { return blockingbot.Replay(20+100*k, ample) }
	duels := func(k uint64, _ int) trial.Script { return tetrisduelbot.Replay(1+2*k, ample) }
	turns := func(k uint64, _ int) trial.Script { return dropbloxbot.Replay(1+2*k, "0") }
	const hand, learned = 0, -1 // in place of hidden units
	for _, c := range []struct {
		game      string
		hidden    int // units of a random network
		ply       int
		positions int
		script    func(k uint64, n int) trial.Script // the k-th, for n positions
	}{
		{"blockbattle", hand, 2, 547, logs},
		{"blockbattle", 32, 2, positions(100), seeded},
		{"blockbattle", learned, 2, positions(150), seeded},
		{"blockbattle", hand, 3, positions(40), seeded},
		{"blockbattle", hand, 4, 20, seeded},
		{"blockbattle", 16, 4, 5, seeded},
		{"blocking", learned, 2, positions(40), games},
		{"blocking", hand, 3, positions(40), games},
		{"tetrisduel", hand, 2, 20, duels},
		{"tetrisduel", learned, 2, positions(300), duels},
		{"tetrisduel", 32, 4, 20, duels},
		{"dropblox", hand, 0, positions(20), turns},
		{"dropblox", learned, 0, positions(20), turns},
	} {
		t.Run(fmt.Sprintf("%s, %d hidden units, %d plies", c.game, c.hidden, c.ply), func(t *testing.T) {
			t.Parallel()
			g, e := envtest.Must2(lookup(c.game))
			var net *mlp.Net
			if c.hidden > 0 {
				net = toybot.RandomNet(t, 1, len(e.Learned.Features.Names), c.hidden, 1)
			} else if c.hidden == learned {
				net = shipped(c.game)
			}
			src, net := source(t, Bot{Game: c.game, Net: net, Ply: c.ply})
			argv := compiled(t, withAmpleTime(t, c.game, src))
			should := twin(t, g, net, c.ply)
			answers := 0
			for k := uint64(0); answers < c.positions; k++ {
				got := envtest.Must(c.script(k, c.positions).Play(t.Context(), argv, func(a trial.Answer) {
					want, got := should(a)
					require.Equal(t, want, got, "answer %d", answers)
					answers++
				}))
				require.Positive(t, got.Answers)
			}
		})
	}
}

// twin returns a function of what a bot should have answered, and what it has answered.
func twin(t *testing.T, g *env.Game, net *mlp.Net, ply int) func(trial.Answer) (want, got string) {
	e := bots.Of(g)
	evaluator := e.Baseline.New(e.Baseline.Weights)
	if net != nil {
		evaluator = e.Learned.New(net)
	}
	if g == dropblox.Game {
		beam := dropbloxbot.NewBeam(evaluator.(dropbloxbot.Rater))
		return func(a trial.Answer) (string, string) {
			s := a.State.(*dropblox.State)
			at, ok := beam.Fit(dropbloxbot.Of(s), search.Until(time.Time{}.Add(1)))
			require.True(t, ok)
			want := envtest.Must(s.Path(at.Action(), nil))
			got, _ := dropblox.ReadOutput(a.Text)
			return fmt.Sprint(want), fmt.Sprint(got)
		}
	}
	o := search.Options{Ply: ply, Outcomes: e.Outcomes}
	if e.Guard != nil {
		o.Guard = e.Guard()
	}
	agent := envtest.Must(search.New(g, evaluator.(search.Evaluator), o))
	view := g.New(g.MinSeats)
	return func(a trial.Answer) (string, string) {
		env.View(view, a.State, a.Seat, 99)
		if s, ok := view.(*blocking.State); ok {
			s.PlayOut = true // as in the bot
		}
		return g.Text(envtest.Must(agent.Act(t.Context(), view, a.Seat))), g.Text(a.Action)
	}
}

// withAmpleTime gives a bot of Blocking more time for an answer than the contest does, which is a constant of the bot.
func withAmpleTime(t *testing.T, game string, src []byte) []byte {
	if game != "blocking" {
		return src
	}
	out := strings.NewReplacer("FirstTime = time.Second\n", "FirstTime = time.Hour\n",
		"LaterTime = 200 * time.Millisecond\n", "LaterTime = time.Hour\n").Replace(string(src))
	require.Equal(t, 2, strings.Count(out, "= time.Hour\n"))
	return []byte(out)
}

// askSeeded asks a bot of Block Battle in n positions of seeded games. Random moves among the games' moves make boards
// ragged.
func askSeeded(ctx context.Context, tr *trial.Trial, n int) error {
	bot := envtest.Must(tr.Start())
	defer bot.Close()
	greedy := search.NewGreedy(blockbattle.Game, blockbattlebot.NewHand())
	movers := [4]env.Agent{search.NewRandom(7), greedy, greedy, greedy}
	s, view := blockbattle.Game.New(2).(*blockbattle.State), blockbattle.Game.New(2)
	ref := blockbattlebot.Referee{State: s, Limits: contest.Limits{Bank: ample}}
	for seed := uint64(1); tr.Answers < n; seed++ {
		s.Reset(seed)
		for !s.Over && tr.Answers < n {
			line, _, _, err := bot.Ask(ctx, ref.Request(0, ample).Lines, ample)
			if err != nil {
				return err
			}
			a, odd := blockbattlebot.Judge(blockbattle.ClassicDialect, s, 0, line)
			if len(odd) > 0 {
				return fmt.Errorf("round %d: %s", s.Round, odd)
			}
			tr.Answered(s, 0, a)
			moves := env.NoMoves
			for seat := range 2 {
				env.View(view, s, seat, seed)
				moves[seat] = envtest.Must(movers[(int(s.Round)+seat)%4].Act(ctx, view, seat))
			}
			if err := env.Apply(blockbattle.Game, s, moves); err != nil {
				return err
			}
		}
	}
	return bot.Close()
}

// A bot that breaks the protocol of its contest, or writes to standard error, is refused with the place of that.
func TestReplayRefuses(t *testing.T) {
	const moves = `while read -r w x; do case $w in blocks) echo ready;; action|moves) echo %s;; esac; done`
	duel, turn := tetrisduelbot.Replay(1, tetrisduelbot.DefaultTime), dropbloxbot.Replay(1, "1")
	for _, c := range []struct {
		script    trial.Script
		bot, want string
	}{
		{blockbattlebot.Replay(0), fmt.Sprintf(moves, "left,up,drop"), `unknown token "up"`},
		{blockbattlebot.Replay(0), "echo lost >&2; " + fmt.Sprintf(moves, "drop"), "the bot writes to standard error: lost"},
		{blockingbot.Replay(20, ample), "while read -r x; do echo nonsense; done", "seat 0 of 2: eliminated: illegal"},
		{duel, fmt.Sprintf(moves, "0 0 0"), "lost by illegal at half-turn 1"},
		{duel, "exit 0", "lost by missing"},
		{turn, "echo hello", `turn 0: the bot writes "hello"`},
		{turn, "echo up; echo up; exit 3", "turn 0: exit status 3"},
		{turn, "echo left >&2", "turn 0: the bot writes to standard error: left"},
		{turn, "for i in 1 2 3 4 5 6 7 8 9; do echo left; done", `turn 0: the bot writes "left" where it is not legal`},
	} {
		_, err := c.script.Play(t.Context(), []string{"sh", "-c", c.bot}, nil)
		require.ErrorContains(t, err, "replay game 1: ")
		require.ErrorContains(t, err, c.want)
	}
}
