package tetrisduelbot

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/entry/toybot"
	"blockyard/agents/contest"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/env/envtest/rulebook"
	"blockyard/env/tetrisduel"
)

// A partner is a bot in this process: it answers from the host's own state.
type partner struct {
	game   *game
	agent  env.Agent
	answer answerer
	told   []string
	closed bool
}

// An answerer changes a good answer to a half-turn, or to the greeting, which is 0.
type answerer func(turn int, good string) (line string, took time.Duration, err error)

func (c *partner) Ask(ctx context.Context, lines []string, limit time.Duration) (string, bool, time.Duration, error) {
	c.told = append(c.told, lines...)
	turn, good := 0, "ready"
	switch {
	case strings.HasPrefix(lines[0], "end"):
		return "", false, 0, contest.ErrLate
	case strings.HasPrefix(lines[0], "turn"):
		s := *c.game.State
		turn = int(s.Turn)
		good = tetrisduel.Text(envtest.Must(c.agent.Act(ctx, &s, s.Mover())))
	}
	if c.answer == nil {
		return good, false, time.Millisecond, nil
	}
	line, took, err := c.answer(turn, good)
	if took > limit {
		err = contest.ErrLate
	}
	return line, false, took, err
}

func (c *partner) Close() error { c.closed = true; return nil }

// A game is a game of the duel and what its host came to.
type game struct {
	*Referee
	bots    [2]contest.Asker
	tallies []contest.Tally
	turns   int
}

func newGame(seed uint64) *game {
	g := &game{Referee: &Referee{State: &tetrisduel.State{}, Time: 20 * time.Second}}
	g.State.Reset(seed)
	return g
}

func (g *game) play(ctx context.Context) (out contest.Outcome, err error) {
	host := contest.Host{Referee: g, Limits: contest.TotalBudget(g.Time), Start: func(seat int) (contest.Asker, error) {
		if g.bots[seat] == nil {
			return nil, errors.New("no such program")
		}
		return g.bots[seat], nil
	}}
	watch := g.Watch
	g.Watch = func(acting env.Seats, m env.Moves) {
		if g.turns++; watch != nil {
			watch(acting, m)
		}
	}
	g.tallies, err = host.Play(ctx)
	return g.Outcome(), err
}

// play plays a game between bots with these answers; nil answers well.
func play(t *testing.T, change func(g *game), answers ...answerer) (contest.Outcome, *game) {
	g := newGame(11)
	for seat, answer := range answers {
		g.bots[seat] = &partner{game: g, agent: search.NewGreedy(tetrisduel.Game, NewHand()), answer: answer}
	}
	if change != nil {
		change(g)
	}
	out := envtest.Must(g.play(t.Context()))
	for seat, b := range g.bots {
		if c, ok := b.(*partner); ok && c != nil {
			require.True(t, c.closed)
			require.Equal(t, End(g.State, out.Winner, out.Reason), c.told[len(c.told)-1], "seat %d", seat)
		}
	}
	return out, g
}

// at answers well but at one half-turn; 0 is the greeting.
func at(turn int, line string, took time.Duration, err error) answerer {
	return func(now int, good string) (string, time.Duration, error) {
		if now == turn {
			return line, took, err
		}
		return good, time.Millisecond, nil
	}
}

func TestReasons(t *testing.T) {
	for name, c := range map[string]struct {
		first, second answerer
		winner        int
		reason        string
		turns         int
	}{
		"illegal placement": {at(5, "0 0 0", 0, nil), nil, 1, "illegal", 5},
		"no placement":      {nil, at(6, "pass", 0, nil), 0, "illegal", 6},
		"exception":         {nil, at(8, "", 0, contest.ErrGone), 0, Exception, 8},
		"too slow at once":  {at(3, "14 1 0", 21*time.Second, nil), nil, 1, Timeout, 3},
		"never ready":       {at(0, "", time.Hour, nil), nil, 1, Missing, 0},
		"says something":    {nil, at(0, "hello", 0, nil), 0, Missing, 0},
		"gone at the start": {nil, at(0, "", 0, contest.ErrGone), 0, Missing, 0},
		"neither there":     {at(0, "", 0, contest.ErrGone), at(0, "no", 0, nil), contest.Nobody, Missing, 0},
	} {
		out, g := play(t, nil, c.first, c.second)
		require.Equal(t, []any{c.winner, c.reason, c.turns}, []any{out.Winner, out.Reason, g.turns}, name)
	}
	out, g := play(t, nil, nil, nil)
	require.Contains(t, []string{"overflow", "limit"}, out.Reason)
	require.Zero(t, g.State.Acting())
	require.Equal(t, int(g.State.Winner), out.Winner)
	require.Equal(t, "end 2 timeout 0 0", End(&tetrisduel.State{}, 1, "timeout"))
	require.Equal(t, "end 0 limit 0 0", End(&tetrisduel.State{}, -1, "limit"))
}

func TestTheBudgetIsForTheWholeGame(t *testing.T) {
	slow := func(turn int, good string) (string, time.Duration, error) { return good, 3 * time.Second, nil }
	out, g := play(t, nil, slow, nil)
	require.Equal(t, Timeout, out.Reason)
	require.Equal(t, 1, out.Winner)
	require.Equal(t, 13, g.turns, "six answers of three seconds each, and the seventh is late")
	require.Equal(t, 6, g.tallies[0].Answers)
	require.Zero(t, g.tallies[0].Left)
	require.Contains(t, strings.Join(g.bots[0].(*partner).told, "\n"), " 2000\n", "the sixth request shows two seconds")
}

// Before the last half-turn, the first has never been asked and so has used less time.
func TestEqualPoints(t *testing.T) {
	for _, c := range []struct {
		points    [2]int32
		tieByTime bool
		winner    int
	}{{[2]int32{4, 4}, false, contest.Nobody}, {[2]int32{4, 4}, true, 0}, {[2]int32{4, 5}, true, 1}} {
		out, _ := play(t, func(g *game) {
			g.State.Turn, g.State.Points, g.TieByTime = tetrisduel.HalfTurns, c.points, c.tieByTime
		}, nil, nil)
		require.Equal(t, []any{c.winner, "limit"}, []any{out.Winner, out.Reason}, c)
	}
}

func TestNoListAndMissingBots(t *testing.T) {
	out, g := play(t, func(g *game) { g.NoList = true }, at(9, "x", 0, nil), nil)
	require.Equal(t, "illegal", out.Reason)
	require.Contains(t, strings.Join(g.bots[0].(*partner).told, "\n"), "moves 0\n")
	out, _ = play(t, func(g *game) { g.bots[1] = nil }, nil)
	require.Equal(t, [2]any{0, Missing}, [2]any{out.Winner, out.Reason})
}

func TestStopping(t *testing.T) {
	g := newGame(1)
	for seat := range g.bots {
		g.bots[seat] = &partner{game: g, agent: search.NewFirst(), answer: at(4, "", 0, context.Canceled)}
	}
	require.ErrorIs(t, envtest.Failed(g.play(t.Context())), context.Canceled)
}

// Original Python bots play unchanged, through the adapter, each against one of ours.
func TestPythonBots(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name+".py")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	bot := func(name, output string) string {
		return file(name, "import time\nclass Player:\n    def __init__(self, isFirst): pass\n"+
			"    def output(self, matchData):\n        a = matchData.getValidAction()[0]\n        "+output+"\n")
	}
	for _, c := range []struct {
		name, bot string
		seat      int
		reason    string
	}{
		{"every method, first", "testdata/everymethod.py", 0, ""},
		{"every method, second", "testdata/everymethod.py", 1, ""},
		{"the board that putBlock returns", "testdata/putblock.py", 0, ""},
		{"list", bot("list", "return list(a)"), 0, "illegal"},
		{"nothing", bot("nothing", "return None"), 1, "illegal"},
		{"fractions", bot("fractions", "return (a[0], a[1] + 0.5, a[2])"), 0, "illegal"},
		{"equal floats are equal", bot("floats",
			"return (float(a[0]), a[1], a[2]) if matchData.getCurrentRound() < 4 else None"), 0, "illegal"},
		{"exception", bot("exception", "return a if matchData.getCurrentRound() < 3 else 1 / 0"), 1, Exception},
		{"sleeper", bot("sleeper", "time.sleep(5)"), 0, Timeout},
		{"no class", file("empty", "x = 1\n"), 1, Missing},
		{"no file", filepath.Join(dir, "none.py"), 0, Missing},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			g := newGame(uint64(3 + c.seat))
			g.Time = 10 * time.Minute // a busy machine is slow
			if c.reason == Timeout {
				g.Time = 300 * time.Millisecond
			}
			adapter := contest.Program{Argv: []string{"python3", "-B", "pybot.py", c.bot}, Cage: contest.Trusted}
			g.bots[c.seat] = envtest.Must(adapter.Start(func(line string) { t.Log(line) }))
			g.bots[1-c.seat] = &partner{game: g, agent: search.NewGreedy(tetrisduel.Game, NewHand())}
			g.Watch = func(env.Seats, env.Moves) {
				if s := g.State; c.reason == "" && s.Turn > 60 { // long enough: the other gives up
					g.bots[1-c.seat].(*partner).answer = at(int(s.Turn)+1+int(s.Turn+1+int16(c.seat))%2, "enough", 0, nil)
				}
			}
			out := envtest.Must(g.play(t.Context()))
			if c.reason == "" {
				require.Equal(t, c.seat, out.Winner, out.Reason)
				require.Greater(t, g.tallies[c.seat].Answers, 20)
				return
			}
			require.Equal(t, c.reason, out.Reason)
			require.Equal(t, 1-c.seat, out.Winner)
			if c.name == "equal floats are equal" {
				require.Equal(t, 3, g.tallies[0].Answers-1)
			}
		})
	}
}

// listed answers the first placement of the list.
func listed(lines []string, _ time.Duration) (string, time.Duration, error) {
	for k, l := range lines {
		if word, _ := contest.Word(l); word == wordMoves && k+1 < len(lines) {
			return lines[k+1], 0, nil
		}
	}
	return wordReady, 0, nil
}

// TestRulesDialogue hosts the game of each dialogue of RULES.md: the host sends what they show, within the times
// that the page has.
func TestRulesDialogue(t *testing.T) {
	book := rulebook.Open(t, "../../../env/tetrisduel")
	require.Contains(t, book.Section("9").Text, "20,000 ms")
	require.Equal(t, 20*time.Second, DefaultTime)
	require.Contains(t, book.Section("9").Text, "no `ready` within 10 s")
	require.Equal(t, 10*time.Second, ReadyTime)
	for seat, name := range []string{"dialogue", "dialogue-2"} {
		ref := &Referee{State: &tetrisduel.State{}, Time: DefaultTime}
		ref.State.Reset(1)
		h := contest.Host{Referee: ref, Limits: contest.TotalBudget(DefaultTime)}
		toybot.Dialogue(t, h, book.Blocks(t, name)[0], seat, toybot.Bot(listed))
	}
}
