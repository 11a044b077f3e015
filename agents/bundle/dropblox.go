package bundle

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"blockyard/env/dropblox"
)

// What a bot is told to have left in a replay, some 40 ms a turn, and how many turns of each
// game it plays.
const (
	dropbloxSeconds = "60"
	dropbloxTurns   = 20
)

func replayDropblox(ctx context.Context, argv ...string) (Replayed, error) {
	return ReplayDropblox(ctx, argv, dropbloxSeconds, nil)
}

// ReplayDropblox plays the first turns of two games of Dropblox with the bot started by
// argv, as its contest does: anew for every block. It checks that the bot ends by itself
// and without a complaint, that it writes nothing but commands, and that every one of them
// is legal. seconds is what it is told to have left. each, if not nil, gets every state with the commands given in it.
func ReplayDropblox(ctx context.Context, argv []string, seconds string, each func(s *dropblox.State, commands []dropblox.Command)) (Replayed, error) {
	var r Replayed
	var used time.Duration
	for seed := uint64(1); seed <= 2; seed++ {
		var s dropblox.State
		s.Reset(seed)
		for turn := 0; turn < dropbloxTurns && !s.Failed; turn++ {
			begun := time.Now()
			commands, err := askDropblox(ctx, argv, seconds, &s)
			if err != nil {
				return r, fmt.Errorf("game %d, turn %d: %w", seed, turn, err)
			}
			took := time.Since(begun)
			used += took
			if took > r.Longest {
				r.Longest = took
			}
			r.Answers++
			if each != nil {
				each(&s, commands)
			}
			s.Play(commands)
		}
		r.Logs++
	}
	r.Mean = used / time.Duration(r.Answers)
	return r, nil
}

func askDropblox(ctx context.Context, argv []string, seconds string, s *dropblox.State) ([]dropblox.Command, error) {
	p := s.Position()
	args := append(append([]string{}, argv[1:]...), string(p.AppendJSON(nil)), seconds)
	cmd := exec.CommandContext(ctx, argv[0], args...)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		return nil, err
	}
	if complaint.Len() > 0 {
		return nil, fmt.Errorf("the bot complains: %.200s", strings.TrimSpace(complaint.String()))
	}
	commands, foreign := dropblox.ReadOutput(out.String())
	if len(foreign) > 0 {
		return nil, fmt.Errorf("the bot writes %.40q", foreign[0])
	}
	b := s.Block(0)
	for _, c := range commands {
		if !c.Carry(&b, &s.Taken) {
			return nil, fmt.Errorf("the bot writes %q where it is not legal", c)
		}
	}
	return commands, nil
}
