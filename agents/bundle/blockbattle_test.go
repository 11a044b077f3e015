package bundle

import (
	"context"
	"math/rand"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/blockbattlebot"
	"blockyard/agents/contest"
	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/blockbattle"
)

// randomNet is a net of the sizes that are trained, or of others.
func randomNet(t *testing.T, hidden ...int) *mlp.Net {
	t.Helper()
	r := rand.New(rand.NewSource(1))
	sizes := append(append([]int{blockbattlebot.Len}, hidden...), 1)
	var layers []mlp.Layer
	for i := 0; i+1 < len(sizes); i++ {
		l := mlp.Layer{In: sizes[i], Out: sizes[i+1]}
		for range l.In * l.Out {
			l.W = append(l.W, float32(r.NormFloat64()/4))
		}
		for range l.Out {
			l.B = append(l.B, float32(r.NormFloat64()/4))
		}
		layers = append(layers, l)
	}
	net, err := mlp.New(layers)
	require.NoError(t, err)
	return net
}

// A twin compares a bot's answers with those of an agent in this program.
type twin struct {
	t               *testing.T
	agent           env.Agent
	view            env.State
	positions, slow int
}

func (w *twin) check(s *blockbattle.State, c Choice) {
	if c.Elapsed > c.Allowed/2 { // on a busy machine: it may not have thought to the end
		w.slow++
		return
	}
	env.View(w.view, s, c.Seat, 99)
	want, err := w.agent.Act(context.Background(), w.view, c.Seat)
	require.NoError(w.t, err)
	require.Equal(w.t, blockbattle.Text(want), blockbattle.Text(c.Action), "round %d", s.Round)
	w.positions++
}

// compiled compiles a bot alone.
func compiled(t *testing.T, src []byte) (exe string) {
	t.Helper()
	exe = filepath.Join(t.TempDir(), "bot")
	require.NoError(t, Check(t.Context(), src, exe))
	return exe
}

// sameMoves compiles a bot alone, tells it the stored logs and seeded games, and compares its
// answers with those of the agent in this program.
func sameMoves(t *testing.T, src []byte, agent env.Agent) {
	t.Helper()
	exe, w := compiled(t, src), &twin{t: t, agent: agent, view: blockbattle.Game.New(2)}
	got, err := ReplayBlockbattle(t.Context(), []string{exe}, w.check)
	require.NoError(t, err)
	require.Equal(t, 9, got.Logs)
	require.Equal(t, w.positions+w.slow, got.Answers)
	require.Less(t, w.slow, 50)
	t.Logf("%d answers, %v a move, %v at most", got.Answers, got.Mean, got.Longest)
	require.Less(t, got.Mean, 100*time.Millisecond)
	askSeeded(t, exe, 1060-w.positions, w.check)
	require.GreaterOrEqual(t, w.positions, 1000)
}

// askSeeded tells the bot n positions of seeded games, played with now and then a random
// move so that boards get ragged.
func askSeeded(t *testing.T, exe string, n int, each func(s *blockbattle.State, c Choice)) {
	t.Helper()
	bot, err := contest.Start([]string{exe}, func(line string) { t.Error(line) })
	require.NoError(t, err)
	defer bot.Close()
	greedy := search.NewGreedy(blockbattle.Game, blockbattlebot.NewHand())
	wild := search.NewRandom(7)
	view := blockbattle.Game.New(2)
	ref := blockbattlebot.Referee{State: blockbattle.Game.New(2).(*blockbattle.State)}
	r := replay{ctx: t.Context(), each: each} // counts its answers
	lines := ref.Settings(0, contest.Limits{Bank: 10 * time.Second, PerMove: 500 * time.Millisecond})
	for seed := uint64(1); r.Answers < n; seed++ {
		ref.State.Reset(seed)
		for !ref.State.Over && r.Answers < n {
			seat := 0
			lines = append(lines, ref.Request(seat, 10*time.Second)...)
			require.NoError(t, r.ask(bot, blockbattlebot.ClassicDialect, lines, contest.Turn{Budget: 10 * time.Second}, ref.State))
			lines = nil
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
}

func TestBundledHandPlaysLikeItsTwin(t *testing.T) {
	b, err := Bot{Game: "blockbattle"}.Write()
	require.NoError(t, err)
	require.LessOrEqual(t, len(b.Source), MaxChars)
	sameMoves(t, b.Source, search.NewTwoPly(blockbattle.Game, blockbattlebot.NewHand()))
}

func TestBundledNetPlaysLikeItsTwin(t *testing.T) {
	for _, hidden := range [][]int{{32}, {96}} {
		net := randomNet(t, hidden...)
		b, err := Bot{Game: "blockbattle", Net: net}.Write()
		require.NoError(t, err)
		t.Logf("hidden %v: %d characters, %d bits a weight", hidden, len(b.Source), b.Bits)
		require.LessOrEqual(t, len(b.Source), MaxChars)
		rounded, err := Rounded(net, b.Bits)
		require.NoError(t, err)
		e, err := blockbattlebot.NewLearned(rounded)
		require.NoError(t, err)
		sameMoves(t, b.Source, search.NewTwoPly(blockbattle.Game, e))
	}
}

func TestBundledThirdPlyPlaysLikeItsTwin(t *testing.T) {
	net := randomNet(t, 32)
	b, err := Bot{Game: "blockbattle", Net: net, Ply: 3}.Write()
	require.NoError(t, err)
	e, err := blockbattlebot.NewLearned(net)
	require.NoError(t, err)
	sameMoves(t, b.Source, search.NewExpectimax(blockbattle.Game, e, 12, blockbattle.Pieces))
}

func TestBundledFourthPlyPlaysLikeItsTwin(t *testing.T) {
	net := randomNet(t, 32)
	b, err := Bot{Game: "blockbattle", Net: net, Ply: 4}.Write()
	require.NoError(t, err)
	require.Contains(t, string(b.Source), "4 choices ahead")
	e, err := blockbattlebot.NewLearned(net)
	require.NoError(t, err)
	w := &twin{t: t, agent: search.NewExpectimax4(blockbattle.Game, e, 12, blockbattle.Pieces), view: blockbattle.Game.New(2)}
	askSeeded(t, compiled(t, b.Source), 80, w.check)
	require.Greater(t, w.positions, 60)
}

func TestWriteRefusesAnotherPly(t *testing.T) {
	_, err := Bot{Game: "blockbattle", Ply: 5}.Write()
	require.ErrorContains(t, err, "ply 5, want 2 to 4")
	_, err = Bot{Game: "dropblox", Ply: 3}.Write()
	require.ErrorContains(t, err, "searches in one way only")
}

func TestWriteRefusesANetThatDoesNotFit(t *testing.T) {
	_, err := Bot{Game: "blockbattle", Net: randomNet(t, 512)}.Write()
	require.ErrorContains(t, err, "a smaller net is needed")
}

func TestCheckBotRefusesABotThatTalksNonsense(t *testing.T) {
	_, err := CheckBot(t.Context(), "blockbattle", []byte(`package main

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
`))
	require.ErrorContains(t, err, `unknown token "up"`)
}
