package submit

import (
	"bufio"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"blockyard/agents/blockbattlebot"
	"blockyard/agents/blockbattlebot/logs"
	"blockyard/env/blockbattle"
)

// blockBattleScript sends the bot the lines that contest engines sent to other bots, and requires a flawless
// legal answer to every request within the time that the log shows, or within bank if that is not 0.
func blockBattleScript(bank time.Duration) script {
	return func() ([]game, error) {
		all, err := logs.All()
		var games []game
		for _, l := range all {
			games = append(games, func(ctx context.Context, t *trial) error { return replayLog(ctx, t, l, bank) })
		}
		return games, err
	}
}

func replayLog(ctx context.Context, t *trial, l logs.Log, bank time.Duration) error {
	bot, err := t.start()
	if err != nil {
		return err
	}
	defer bot.Close()
	codec := blockbattlebot.NewCodec(blockbattlebot.ClassicDialect, nil)
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
		if err == nil {
			err = askBlockBattle(ctx, bot, lines, turn.Budget, s, turn.Seat)
		}
		if err != nil {
			return fmt.Errorf("log %s, round %d: %w", l.Game, s.Round, err)
		}
		lines = lines[:0]
	}
	return bot.Close()
}

// askBlockBattle sends one request, which describes s, and judges the answer.
func askBlockBattle(ctx context.Context, bot *subject, lines []string, limit time.Duration,
	s *blockbattle.State, seat int) error {
	line, cut, _, err := bot.Ask(ctx, lines, limit)
	if err != nil {
		return err
	}
	a, odd := blockbattlebot.Judge(blockbattlebot.ClassicDialect, s, seat, line)
	if cut {
		odd = append(odd, "it is too long")
	}
	if len(odd) > 0 {
		return fmt.Errorf("answer %.80q: %s", line, odd[0])
	}
	if !slices.Contains(s.Legal(seat, nil), a) {
		return fmt.Errorf("answer %.80q: action %d is not legal", line, a)
	}
	bot.trial.answered(s, seat, a)
	return nil
}
