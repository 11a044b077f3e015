package bundle

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/blockingbot"
	"blockyard/agents/blockingbot/referee"
	"blockyard/agents/contest"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/blocking"
)

// The bundled bot compiles alone and plays whole games, the moves of the agent in this
// program, however far it looks.
func TestBlockingBotPlaysAsItsAgent(t *testing.T) {
	t.Run("two plies", func(t *testing.T) { playsAsItsAgent(t, 2) })
	t.Run("three plies", func(t *testing.T) { playsAsItsAgent(t, 3) })
}

func playsAsItsAgent(t *testing.T, ply int) {
	net, err := blockingbot.Shipped(blocking.Game)
	require.NoError(t, err)
	b, err := Bot{Game: "blocking", Net: net, Ply: ply}.Write()
	require.NoError(t, err)
	require.LessOrEqual(t, len(b.Source), MaxChars)
	exe := filepath.Join(t.TempDir(), "bot")
	require.NoError(t, Check(t.Context(), b.Source, exe))
	rounded, err := Rounded(net, b.Bits)
	require.NoError(t, err)
	learned, err := blockingbot.NewLearned(rounded)
	require.NoError(t, err)
	twin, err := search.New(blocking.Game, learned, search.Options{Ply: ply})
	require.NoError(t, err)
	same, asked := 0, 0
	for seats := 2; seats <= 4; seats++ {
		s := blocking.New(seats, 0)
		s.Reset(uint64(seats))
		g := referee.Game{
			State: s, Limits: referee.Limits{First: blockingbot.FirstTime, Later: blockingbot.LaterTime, Tolerance: 5 * time.Second},
			Start: func(seat int) (contest.Asker, error) {
				if seat != 1 {
					return firstListed{s}, nil
				}
				return contest.Start([]string{exe}, func(line string) { t.Error(line) })
			},
			Watch: func(s *blocking.State, seat int, a env.Action) {
				if seat != 1 {
					return
				}
				view := *s
				view.PlayOut = true // as the bot has it
				want, err := twin.Act(t.Context(), &view, seat)
				require.NoError(t, err)
				if asked++; want == a { // on a busy machine it may not have thought to the end
					same++
				}
			},
		}
		tallies, err := g.Play(t.Context())
		require.NoError(t, err)
		require.Empty(t, tallies[1].Fault)
	}
	t.Logf("%d of %d choices the same", same, asked)
	require.Greater(t, asked, 20)
	require.Greater(t, same, asked*3/4)
}
