package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"blockyard/datasets/record"
	"blockyard/train/selfplay"
	"blockyard/train/task"
)

type selfplayCmd struct {
	Game    string `arg:"" help:"Game to learn, such as blockbattle."`
	Out     string `help:"Folder of the run: weights, state, curve. Default: runs/GAME." placeholder:"DIR"`
	Resume  bool   `help:"Go on with the run in --out; its own settings stand."`
	Workers int    `help:"Goroutines that play; no influence on the outcome. 0: one per core." default:"1"`
	Record  string `help:"Also record the games of self-play to this file, adding to what it holds." placeholder:"FILE"`
	settings
}

// Run implements the command.
func (c *selfplayCmd) Run(ctx context.Context) error {
	g, err := subject(c.Game)
	if err != nil {
		return err
	}
	if c.Out == "" {
		c.Out = filepath.Join("runs", g.Rules.ID)
	}
	if c.Workers < 1 {
		c.Workers = runtime.GOMAXPROCS(0)
	}
	if g.Solo != nil {
		return c.alone(ctx, g)
	}
	run, err := c.open(g)
	if err != nil {
		return err
	}
	defer func() { _ = run.Close() }()
	f, err := openFolder(c.Out, run)
	if err != nil {
		return err
	}
	finish := func() error { return nil }
	if c.Record != "" {
		if finish, err = recordTo(run, c.Record); err != nil {
			return errors.Join(err, f.end())
		}
	}
	show := newProgress(run)
	err = run.Go(ctx, func(gated bool) error {
		show.step(gated)
		return f.after(gated)
	})
	show.end()
	if err = errors.Join(err, finish(), f.end()); err != nil {
		return err
	}
	if !run.Done() {
		fmt.Printf("stopped and saved; go on with: train selfplay %s --out %s --resume\n", c.Game, c.Out)
		return nil
	}
	return f.tell(os.Stdout)
}

// recordTo makes a run write its games to a file; finish closes it.
func recordTo(run *selfplay.Run, path string) (finish func() error, err error) {
	w, err := record.Append(path)
	if err != nil {
		return nil, err
	}
	run.Record = w.Write
	return w.Close, nil
}

// open begins a new run or goes on with a saved one.
func (c *selfplayCmd) open(g *task.Game) (*selfplay.Run, error) {
	state := filepath.Join(c.Out, stateFile)
	if c.Resume {
		return selfplay.Resume(g, state, c.Workers)
	}
	if _, err := os.Stat(state); err == nil {
		return nil, fmt.Errorf("%s holds a run already: go on with it by --resume, or name another folder", c.Out)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if c.From == "" {
		return selfplay.New(g, c.config(g), nil, c.Workers)
	}
	from, err := g.Load(c.From)
	if err != nil {
		return nil, err
	}
	return selfplay.New(g, c.config(g), from, c.Workers)
}
