package blockbattlebot

import (
	"bufio"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"blockyard/agents/blockbattlebot/logs"
	"blockyard/agents/contest/replay"
	"blockyard/env/blockbattle"
)

// Replay sends a bot the lines that contest engines sent to other bots, and requires a flawless legal answer
// to every request within the time that the log shows, or within bank if that is not 0.
func Replay(bank time.Duration) replay.Script {
	return func() (games []replay.Game, err error) {
		all, err := logs.All()
		for _, l := range all {
			games = append(games, func(ctx context.Context, t *replay.Trial) error { return replayLog(ctx, t, l, bank) })
		}
		return games, err
	}
}

func replayLog(ctx context.Context, t *replay.Trial, l logs.Log, bank time.Duration) error {
	bot, err := t.Start()
	if err != nil {
		return err
	}
	defer bot.Close()
	codec := NewCodec(ClassicDialect, nil)
	s := blockbattle.Game.New(2).(*blockbattle.State)
	var lines []string
	for _, e := range l.Lines {
		if e.Who != "host" {
			continue
		}
		request := strings.HasPrefix(e.Text, "action ")
		if request && bank > 0 {
			e.Text = fmt.Sprintf("action moves %d", bank.Milliseconds())
		}
		if lines = append(lines, e.Text); !request {
			continue
		}
		turn, err := codec.ReadTurn(bufio.NewReader(strings.NewReader(strings.Join(lines, "\n")+"\n")), s)
		if err != nil {
			return fmt.Errorf("log %s: %w", l.Game, err)
		}
		line, cut, _, err := bot.Ask(ctx, lines, turn.Budget)
		a, odd := Judge(ClassicDialect, s, turn.Seat, line)
		switch {
		case err != nil:
		case cut:
			err = fmt.Errorf("answer %.80q is too long", line)
		case len(odd) > 0:
			err = fmt.Errorf("answer %.80q: %s", line, odd[0])
		case !slices.Contains(s.Legal(turn.Seat, nil), a):
			err = fmt.Errorf("answer %.80q: action %d is not legal", line, a)
		}
		if err != nil {
			return fmt.Errorf("log %s, round %d: %w", l.Game, s.Round, err)
		}
		t.Answered(s, turn.Seat, a)
		lines = lines[:0]
	}
	return bot.Close()
}
