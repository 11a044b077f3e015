package commands

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"blockyard/agents/bots"
	"blockyard/agents/contest"
	"blockyard/agents/contest/policy"
	"blockyard/agents/match"
	"blockyard/agents/mlp"
	"blockyard/agents/submit"
	"blockyard/datasets/program"
	"blockyard/env"
	"blockyard/env/games"
)

// A botCmd has the flags of "agents bot". Its Run plays one contest on standard input and output.
type botCmd struct {
	Game  string `arg:"" help:"Name of a game whose contest has a text protocol, such as blockbattle."`
	Agent string `placeholder:"AGENT" help:"The agent; by default learned, or hand if no network is shipped."`
	Seed  uint64 `default:"1" help:"Seed of the agent's random choices."`
}

func (c *botCmd) Run(ctx context.Context, con *console) error {
	g, err := games.Open(c.Game)
	if err != nil {
		return program.Usage(err)
	}
	codec := bots.Of(g).Codec
	if codec == nil {
		return program.Usage(fmt.Errorf("%s has no contest in lines of text", g.Name))
	}
	agent, err := c.agent(ctx, g, con)
	if err != nil {
		return err
	}
	defer match.Close([]env.Agent{agent})
	if program.Terminal(con.In) {
		fmt.Fprintln(con.Err, program.Named("reads the protocol of the contest here, as agents host writes it to bots"))
	}
	bot := contest.Bot{
		Codec: codec(g, con.Out, con.Err), Agent: agent,
		State: g.New(g.MinSeats), View: g.New(g.MinSeats), Notes: con.Err,
	}
	return bot.Play(ctx, program.Until(ctx, con.In, nil), con.Out)
}

func (c *botCmd) agent(ctx context.Context, g *env.Game, con *console) (env.Agent, error) {
	if what, ok := bots.Policy(c.Agent); ok {
		return startPolicy(ctx, g, con, what)
	}
	text := bots.Own(c.Agent)
	if c.Agent == "" {
		text = bots.Foreign("learned", nil)
	}
	named, err := bots.Parse(g, text)
	if c.Agent == "" && errors.Is(err, mlp.ErrNotShipped) {
		fmt.Fprintln(con.Err, "no network is shipped: playing with the baseline, hand")
		named, err = bots.Parse(g, bots.Foreign("hand", nil))
	}
	if err != nil {
		return nil, program.Usage(err)
	}
	makers, forget, err := factories(ctx, []*bots.Agent{named}, false)
	defer forget()
	if err != nil {
		return nil, program.Usage(err)
	}
	return makers[0](c.Seed)
}

// startPolicy starts a policy of Python in the interpreter that has started this program.
func startPolicy(ctx context.Context, g *env.Game, con *console, what string) (env.Agent, error) {
	python := filepath.SplitList(os.Getenv(bots.Python))
	if len(python) == 0 {
		err := fmt.Errorf("policy %s: Python plays it: use the command blockyard of the Python package", what)
		return nil, program.Usage(err)
	}
	p, err := policy.Start(ctx, []string{python[0], "-m", "blockyard.commands.policy", what}, g, con.Err)
	if err != nil {
		return nil, fmt.Errorf("policy %s: %w", what, err)
	}
	return p, nil
}

// A bundleCmd has the flags of "agents bundle". Its Run writes a contest bot as one source file.
type bundleCmd struct {
	submit.Export
	Out  string `required:"" placeholder:"FILE" help:"Source file to write, such as bin/bot.go."`
	Hand bool   `help:"Build in the baseline, a hand-tuned evaluator, instead of a network."`
}

func (c *bundleCmd) Run(ctx context.Context, con *console) error {
	if c.Hand && c.Weights != "" {
		return program.Usage(errors.New("--hand and --weights do not go together: leave one out"))
	}
	if ext := filepath.Ext(c.Out); ext != ".go" {
		return program.Usage(fmt.Errorf("--out %s: want the name of a Go file, such as %s; --zip also writes the upload",
			c.Out, strings.TrimSuffix(c.Out, ext)+".go"))
	}
	bot, err := c.Bot(c.Hand)
	if err != nil {
		return program.Usage(err)
	}
	made := program.Begin("agents", "")
	report, err := c.Write(ctx, bot, c.Out)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(con.Out, report)
	return errors.Join(err, made.WriteBeside(c.Out))
}

// programsCmd is for who makes an installation without sources, such as the Python package.
type programsCmd struct {
	Dir string `arg:"" help:"Folder to write to: bots, beside the executable."`
}

func (c *programsCmd) Run() error { return submit.WritePrograms(c.Dir) }
