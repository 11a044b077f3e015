package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"blockyard/datasets/program"
	"blockyard/datasets/program/disk"
	"blockyard/env/games"
	"blockyard/rpc/openenv"
	"blockyard/rpc/session/limits"
)

// A reverifyCmd has the flags of "rpc reverify". Its Run plays stored rollouts of --openenv again.
type reverifyCmd struct {
	File  string `arg:"" type:"existingfile" help:"Rollouts: a state of an episode per line, as JSON."`
	Write string `placeholder:"FILE" help:"Write the rollouts with the new rewards here."`
}

// rolloutKeys are what a rollout must have: how it was served, how the episode began, what its moves were and earned.
var rolloutKeys = strings.Fields(
	"game opponents seats reward_kind illegal_penalty step_limit seed seat rules moves reseeds rewards")

// Run plays each rollout again, and says which rewards differ.
func (c *reverifyCmd) Run(ctx context.Context, con *program.Console) error {
	text, err := os.ReadFile(c.File)
	if err != nil {
		return err
	}
	servers := map[openEnvFlags]*openenv.Server{} // which listen nowhere
	number, rollouts, different, written := 0, 0, 0, strings.Builder{}
	for line := range strings.Lines(string(text)) {
		if number++; strings.TrimSpace(line) == "" {
			continue
		}
		rollout := map[string]json.RawMessage{}
		flags := openEnvFlags{OpenEnv: "127.0.0.1:0", OpenEnvTools: strings.Join(openenv.Tools(), ",")}
		err := errors.Join(ctx.Err(), json.Unmarshal([]byte(line), &rollout), json.Unmarshal([]byte(line), &flags))
		for _, key := range rolloutKeys {
			if rollout[key] == nil && err == nil {
				err = fmt.Errorf("it has no %s: want a state of an episode, as env.state() returns it", key)
			}
		}
		if err == nil && servers[flags] == nil {
			var end func()
			ledger := limits.NewLedger(limits.DefaultLimits(), nil)
			servers[flags], end, err = flags.openEnv(ctx, ledger, games.All, nil, nil)
			defer end()
		}
		var before, after []float64
		if err == nil {
			before, after, err = servers[flags].Replay(rollout)
		}
		if err != nil {
			return fmt.Errorf("%s: line %d: %w", c.File, number, err)
		}
		rollouts++
		if !slices.Equal(before, after) {
			different++
			fmt.Fprintf(con.Out, "%s:%d: rewards %v, again %v\n", c.File, number, before, after)
		}
		_ = json.NewEncoder(&written).Encode(rollout) // it was JSON before
	}
	if c.Write != "" {
		if err := disk.WriteText(c.Write, 0o666, written.String()); err != nil {
			return err
		}
	}
	fmt.Fprintf(con.Out, "%s: %d rollouts, %d with other rewards\n", c.File, rollouts, different)
	if different > 0 {
		return program.ErrFound
	}
	return nil
}
