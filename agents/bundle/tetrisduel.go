package bundle

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"blockyard/agents/contest"
	"blockyard/agents/search"
	"blockyard/agents/tetrisduelbot"
	"blockyard/agents/tetrisduelbot/referee"
	"blockyard/env"
	"blockyard/env/tetrisduel"
)

func replayTetrisduel(ctx context.Context, argv ...string) (Replayed, error) {
	return ReplayTetrisduel(ctx, argv, nil)
}

// ReplayTetrisduel plays two games of the Tetris duel between the bot started by argv and
// the hand-tuned player, one from each seat, and checks that it gets ready, that every
// answer is a placement of the list, and that it says nothing else. each, if not nil, gets
// every position with the action the bot chose in it.
func ReplayTetrisduel(ctx context.Context, argv []string, each func(s *tetrisduel.State, a env.Action)) (Replayed, error) {
	var r Replayed
	var used time.Duration
	for seat := 0; seat < 2; seat++ {
		var said []string
		bot, err := contest.Start(argv, func(line string) { said = append(said, line) })
		if err != nil {
			return r, err
		}
		g := referee.Game{State: new(tetrisduel.State), Time: tetrisduelbot.DefaultTime, NoList: seat == 1}
		g.State.Reset(uint64(1 + seat))
		partner := &handPlayer{agent: search.NewGreedy(tetrisduel.Game, tetrisduelbot.NewHand()), state: g.State}
		g.Bots[seat], g.Bots[1-seat] = bot, partner
		g.Watch = func(s *tetrisduel.State, a env.Action) {
			if each != nil && s.Mover() == seat {
				each(s, a)
			}
		}
		out, err := g.Play(ctx)
		if err != nil {
			return r, err
		}
		if out.Winner != seat && out.Reason != "limit" && out.Reason != "overflow" {
			return r, fmt.Errorf("game %d: lost by %s at half-turn %d", seat+1, out.Reason, out.Turns)
		}
		if len(said) > 0 {
			return r, errors.New("the bot complains: " + said[0])
		}
		t := out.Tallies[seat]
		r.Logs++
		r.Answers += t.Answers
		used += t.Used
		if t.Longest > r.Longest {
			r.Longest = t.Longest
		}
	}
	if r.Answers > 0 {
		r.Mean = used / time.Duration(r.Answers)
	}
	return r, nil
}

// A handPlayer answers a referee from the referee's own position.
type handPlayer struct {
	agent env.Agent
	state *tetrisduel.State
}

// Ask implements contest.Asker.
func (p *handPlayer) Ask(ctx context.Context, lines []string, _ time.Duration) (string, bool, time.Duration, error) {
	if !strings.HasPrefix(lines[0], "turn ") {
		return "ready", false, 0, nil
	}
	s := *p.state
	a, err := p.agent.Act(ctx, &s, s.Mover())
	return tetrisduel.Game.Text(a), false, 0, err
}

// Close implements contest.Asker.
func (p *handPlayer) Close() error { return nil }
