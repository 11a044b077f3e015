package bundle

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"blockyard/agents/blockbattlebot"
	"blockyard/agents/blockbattlebot/logs"
	"blockyard/agents/contest"
	"blockyard/env"
	"blockyard/env/blockbattle"
)

func replayBlockbattle(ctx context.Context, argv ...string) (Replayed, error) {
	return ReplayBlockbattle(ctx, argv, nil)
}

// ReplayBlockbattle tells the bot started by argv what the stored logs told another, and
// checks that every answer is one, without anything odd, within the time the log shows.
// each, if not nil, gets every position with what the bot chose in it.
func ReplayBlockbattle(ctx context.Context, argv []string, each func(s *blockbattle.State, c Choice)) (Replayed, error) {
	all, err := logs.All()
	if err != nil {
		return Replayed{}, err
	}
	r := replay{ctx: ctx, argv: argv, each: each}
	for i := range all {
		if err := r.log(&all[i]); err != nil {
			return r.Replayed, fmt.Errorf("replay log %s: %w", all[i].Game, err)
		}
		r.Logs++
	}
	if r.Answers > 0 {
		r.Mean = r.total / time.Duration(r.Answers)
	}
	return r.Replayed, nil
}

// A Choice is one answer of a bot that is being checked.
type Choice struct {
	Seat    int
	Action  env.Action
	Elapsed time.Duration
	Allowed time.Duration // to think: out of it, the bot plays the best it has found
}

type replay struct {
	Replayed
	ctx   context.Context
	argv  []string
	each  func(s *blockbattle.State, c Choice)
	total time.Duration
}

func (r *replay) log(l *logs.Log) error {
	var said []string
	bot, err := contest.Start(r.argv, func(line string) { said = append(said, line) })
	if err != nil {
		return err
	}
	defer bot.Close()
	host := blockbattlebot.NewCodec(blockbattlebot.ClassicDialect, nil)
	s := blockbattle.Game.New(2).(*blockbattle.State)
	var lines []string
	for _, e := range l.Lines {
		if e.Who != "host" {
			continue
		}
		lines = append(lines, e.Text)
		if !strings.HasPrefix(e.Text, "action ") {
			continue
		}
		turn, err := host.ReadTurn(bufio.NewReader(strings.NewReader(strings.Join(lines, "\n")+"\n")), s)
		if err != nil {
			return fmt.Errorf("request %d: %w", r.Answers+1, err)
		}
		if err := r.ask(bot, host.Dialect, lines, turn, s); err != nil {
			return fmt.Errorf("round %d: %w", s.Round, err)
		}
		lines = lines[:0]
	}
	if err := bot.Close(); err != nil {
		return err
	}
	if len(said) > 0 {
		return errors.New("the bot complains: " + said[0])
	}
	return nil
}

func (r *replay) ask(bot *contest.Process, d blockbattlebot.Dialect, lines []string, t contest.Turn, s *blockbattle.State) error {
	line, cut, elapsed, err := bot.Ask(r.ctx, lines, t.Budget)
	if err != nil {
		return err
	}
	if cut {
		return io.ErrShortBuffer
	}
	a, odd := blockbattlebot.Judge(d, s, t.Seat, line)
	if len(odd) > 0 {
		return fmt.Errorf("answer %.80q: %s", line, odd[0])
	}
	legal := false
	for _, l := range s.Legal(t.Seat, nil) {
		legal = legal || l == a
	}
	if !legal {
		return fmt.Errorf("answer %.80q: action %d is not in the legal list", line, a)
	}
	r.Answers++
	r.total += elapsed
	if elapsed > r.Longest {
		r.Longest = elapsed
	}
	if r.each != nil {
		r.each(s, Choice{t.Seat, a, elapsed, contest.Allowance(t)})
	}
	return nil
}
