package submit

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/dropbloxbot"
	"blockyard/agents/contest/trial"
	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/env/dropblox"
)

// With no time left the compiled bot searches without the preview, as the same search does in this process: in 1,000
// positions if BLOCKYARD_LONG is set.
func TestDropbloxBotPlaysAsItsAgent(t *testing.T) {
	shipped, err := dropbloxbot.Entry.LoadNet(dropblox.Game, "")
	require.NoError(t, err)
	for name, net := range map[string]*mlp.Net{"baseline": nil, "net": shipped} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src, net := source(t, Bot{Game: "dropblox", Net: net})
			var r dropbloxbot.Rater = &dropbloxbot.Hand{Weights: dropbloxbot.Classic}
			if net != nil {
				learned := dropbloxbot.NewLearned(net)
				r = learned
			}
			beam := dropbloxbot.NewBeam(r)
			argv := compiled(t, src)
			same := func(a trial.Answer) {
				s := a.State.(*dropblox.State)
				at, ok := beam.Fit(dropbloxbot.Of(s), search.Until(time.Time{}.Add(1)))
				require.True(t, ok)
				want, err := s.Path(at.Action(), nil)
				require.NoError(t, err)
				commands, _ := dropblox.ReadOutput(a.Text)
				require.Equal(t, want, commands, "turn %d", s.Turns)
			}
			answers := 0
			for seed := uint64(1); answers < positions(20); seed += 2 {
				got, err := dropbloxbot.Replay(seed, "0").Play(t.Context(), argv, same)
				require.NoError(t, err)
				require.Equal(t, 2, got.Logs)
				answers += got.Answers
			}
			t.Logf("%d positions", answers)
		})
	}
}

func TestReplayRefusesADropbloxBotThatWritesNonsense(t *testing.T) {
	for script, want := range map[string]string{
		"echo hello":               `the bot writes "hello"`,
		"echo up; echo up; exit 3": "exit status 3",
		"echo left >&2":            "the bot writes to standard error: left",
		"for i in 1 2 3 4 5 6 7 8 9; do echo left; done": `the bot writes "left" where it is not legal`,
	} {
		_, err := dropbloxbot.Replay(1, "1").Play(t.Context(), []string{"sh", "-c", script}, nil)
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "game 1: turn 0: ")
	}
}
