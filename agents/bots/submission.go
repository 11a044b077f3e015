//go:build !js

package bots

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"blockyard/agents/contest"
	"blockyard/agents/contest/compile"
	"blockyard/env"
	"blockyard/env/ansi"
)

// What the sources of a program are is the matter of package compile. A web page can compile nothing.
var (
	isSubmission = compile.Is
	nameOf       = func(path string) string { return ansi.Plain(compile.Name(path), mostName) }
)

const mostName = 80 // bytes of a name and of a language that are shown

// Submitted returns the agent that is the submission at a path, whatever its name.
func Submitted(g *env.Game, path string) *Agent {
	return &Agent{Name: nameOf(path), Spec: path, Kind: Submission, game: g, program: contest.Program{Dir: path}}
}

// Prepare compiles a submission in the folder into, which must be empty or missing; others are ready already. The error
// is a *compile.Refusal if the author has to mend something.
func (a *Agent) Prepare(ctx context.Context, into string, l compile.Limits) error {
	if a.Kind != Submission || a.program.Argv != nil {
		return nil
	}
	var uploads contest.Uploads // the forms in which the game's contest took programs
	if host := Of(a.game).Host; host != nil {
		uploads = host.Uploads
	}
	bot, err := compile.Submission(ctx, a.Spec, into, uploads, l)
	a.Language, a.program = ansi.Plain(bot.Language, mostName), bot.Program
	return err
}

// PrepareAll prepares some agents in a temporary folder, which forget removes, also after an error.
func PrepareAll(ctx context.Context, agents ...*Agent) (forget func(), err error) {
	forget = func() {}
	if !slices.ContainsFunc(agents, func(a *Agent) bool { return a.Kind == Submission }) {
		return forget, nil
	}
	dir, err := os.MkdirTemp("", "bots-")
	if err != nil {
		return forget, err
	}
	forget = func() { _ = os.RemoveAll(dir) }
	for k, a := range agents {
		err := a.Prepare(ctx, filepath.Join(dir, fmt.Sprint(k+1)), compile.Default)
		if refusal := new(compile.Refusal); errors.As(err, &refusal) && refusal.Output != "" {
			err = fmt.Errorf("%w\n%s", err, refusal.Output)
		}
		if err != nil {
			return forget, fmt.Errorf("agent %.80q: %w", a.Spec, err)
		}
	}
	return forget, nil
}
