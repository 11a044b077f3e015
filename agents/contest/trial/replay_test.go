package trial

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/contest"
	"blockyard/env/envtest"
)

// asks is a script of one game in which the bot has to answer one line in time. It tells of its trial.
func asks(limit time.Duration, trial **Trial) Script {
	return func() ([]Game, error) {
		return []Game{func(ctx context.Context, t *Trial) error {
			*trial = t
			bot := envtest.Must(t.Start())
			defer bot.Close()
			_, _, _, err := bot.Ask(ctx, []string{"go"}, limit)
			return err
		}}, nil
	}
}

// A bot that is late while it computes is slow itself, if it had a processor.
func TestALateBotThatComputesIsSlow(t *testing.T) {
	var trial *Trial
	_, err := asks(500*time.Millisecond, &trial).Play(t.Context(), contest.Command("while :; do :; done"), nil)
	require.ErrorIs(t, err, contest.ErrLate)
	require.ErrorContains(t, err, "want at most 500ms")
	require.Positive(t, trial.cpu, "the time of a program that was killed is known")
	require.Equal(t, trial.cpu >= trial.waited/2, strings.Contains(err.Error(), "The bot itself is too slow"), err)
}

// A bot that is late and had no processor is slow because of the machine, if that is busy.
func TestALateBotThatWaitsBlamesTheLoad(t *testing.T) {
	_, err := asks(300*time.Millisecond, new(*Trial)).Play(t.Context(), contest.Command("read x; sleep 60;"), nil)
	require.ErrorIs(t, err, contest.ErrLate)
	require.ErrorContains(t, err, "had a processor for ")

	late := &Trial{late: &lateAnswer{time.Second, time.Second}, waited: 2 * time.Second, cpu: 400 * time.Millisecond}
	require.Equal(t, "an answer took 1s, want at most 1s; all answers of the game took 2s, and in that time the bot had a "+
		"processor for 400ms; 9.5 programs on average wanted one of the 2 processors. The load of the machine is the "+
		"cause, not the bot: run this again when other programs have ended", late.slowness(load{true, 9.5, 2}))
	require.Contains(t, late.slowness(load{cores: 2}), "The load of the machine is the cause")
	require.Contains(t, late.slowness(load{true, 0.5, 2}), "The machine is not busy: the bot waits for something else")
	late.cpu = 1500 * time.Millisecond
	require.Contains(t, late.slowness(load{true, 9.5, 2}), "The bot itself is too slow")
}

// A bot in time says nothing of load.
func TestAQuickBotPasses(t *testing.T) {
	r := envtest.Must(asks(time.Minute, new(*Trial)).Play(t.Context(), contest.Command("read x; echo y;"), nil))
	require.Equal(t, 1, r.Logs)
}
