package dropbloxbot

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"blockyard/agents/contest/trial"
	"blockyard/env"
	"blockyard/env/dropblox"
)

const replayTurns = 20 // how many turns of each game a replay plays

// Replay has a bot play the first turns of two games, of seeds first and first+1, as the contest does: it starts the
// bot anew for every block. The bot must exit without an error and write nothing but legal commands.
// seconds is the time left that the bot receives; 60 make about 40 ms per turn.
func Replay(first uint64, seconds string) trial.Script {
	return func() (games []trial.Game, err error) {
		for seed := first; seed <= first+1; seed++ {
			games = append(games, func(ctx context.Context, t *trial.Trial) error {
				return replayGame(ctx, t, seed, seconds)
			})
		}
		return games, nil
	}
}

func replayGame(ctx context.Context, t *trial.Trial, seed uint64, seconds string) error {
	var s dropblox.State
	s.Reset(seed)
	for turn := 0; turn < replayTurns && !s.Failed; turn++ {
		begun := time.Now()
		text, err := runOnce(ctx, t.Argv, seconds, &s)
		t.Wrote(text, time.Since(begun))
		var commands []dropblox.Command
		if err == nil {
			commands, err = judge(&s, text)
		}
		if err != nil {
			return fmt.Errorf("turn %d: %w", turn, err)
		}
		t.Answered(&s, 0, env.None)
		s.Play(commands)
	}
	return nil
}

func runOnce(ctx context.Context, argv []string, seconds string, s *dropblox.State) (string, error) {
	p := s.Position()
	args := append(append([]string{}, argv[1:]...), string(p.AppendJSON(nil)), seconds)
	cmd := exec.CommandContext(ctx, argv[0], args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if err == nil && errs.Len() > 0 {
		err = fmt.Errorf("the bot writes to standard error: %.200s", strings.TrimSpace(errs.String()))
	}
	return out.String(), err
}

func judge(s *dropblox.State, text string) ([]dropblox.Command, error) {
	commands, foreign := dropblox.ReadOutput(text)
	if len(foreign) > 0 {
		return nil, fmt.Errorf("the bot writes %.40q, which is no command", foreign[0])
	}
	b := s.Block(0)
	for _, c := range commands {
		if !c.Carry(&b, &s.Taken) {
			return nil, fmt.Errorf("the bot writes %q where it is not legal", c)
		}
	}
	return commands, nil
}
