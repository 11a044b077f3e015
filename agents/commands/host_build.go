package commands

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"blockyard/agents/contest/compile"
	"blockyard/agents/match/series"
)

// buildBots compiles the bots whose command is a submission: an archive, a source file or a folder. The caller calls
// forget after the games, also after an error.
func buildBots(ctx context.Context, bots []series.Bot) (forget func(), err error) {
	dir := ""
	forget = func() {
		if dir != "" {
			_ = os.RemoveAll(dir)
		}
	}
	for k := range bots {
		b := &bots[k]
		if !compile.Is(b.Name) {
			continue
		}
		if dir == "" {
			if dir, err = os.MkdirTemp("", "bots-"); err != nil {
				return forget, err
			}
		}
		bot, err := compile.Submission(ctx, b.Name, filepath.Join(dir, series.Letter(k)), compile.Default)
		if err != nil {
			if refusal := new(compile.Refusal); errors.As(err, &refusal) && refusal.Output != "" {
				return forget, fmt.Errorf("bot %d (%s): %w\n%s", k+1, b.Name, err, refusal.Output)
			}
			return forget, fmt.Errorf("bot %d (%s): %w", k+1, b.Name, err)
		}
		b.Program = bot.Program
	}
	return forget, nil
}
