package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"blockyard/agents/mlp"
	"blockyard/datasets/record"
	"blockyard/train/selfplay"
	"blockyard/train/selfplay/phases"
	"blockyard/train/selfplay/single"
	"blockyard/train/task"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

type selfplayCmd struct {
	Game    string `arg:"" help:"Game to train on, such as blockbattle."`
	Out     string `help:"Folder of the run: weights, state, curve. Default: runs/GAME." placeholder:"DIR"`
	Resume  bool   `help:"Continue the run in --out. It keeps its settings: the flags below do not count."`
	Workers int    `help:"Goroutines that play; they do not influence the outcome. 0: one per core." default:"1"`
	Record  string `help:"Also append the games of self-play to this file." placeholder:"FILE"`
	settings
}

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
	if c.Record != "" && g.Solo != nil {
		return fmt.Errorf("--record: games of one seat, such as %s, are trained without records", g.Rules.Name)
	}
	run, err := c.open(g)
	if err != nil {
		return err
	}
	defer func() { _ = run.Close() }()
	folder, err := selfplay.OpenFolder(c.Out, run)
	if err != nil {
		return err
	}
	if err := errors.Join(c.train(ctx, run, folder), folder.Close()); err != nil {
		return err
	}
	if !run.Done() {
		fmt.Printf("stopped and saved; continue with: train selfplay %s --out %s --resume\n", c.Game, c.Out)
		return nil
	}
	_, err = fmt.Print(folder.Summary())
	return err
}

// train runs until the budget is spent or ctx ends.
func (c *selfplayCmd) train(ctx context.Context, run *selfplay.Run, folder *selfplay.Folder) error {
	finish := func() error { return nil }
	if c.Record != "" {
		w, err := record.Append(c.Record)
		if err != nil {
			return err
		}
		run.Record, finish = w.Write, w.Close
	}
	show := newProgress(run, os.Stderr)
	err := run.Go(ctx, func(gated bool) error {
		show.after(gated)
		return folder.After(gated)
	})
	show.clear()
	return errors.Join(err, finish())
}

// open begins a new run or continues a saved one.
func (c *selfplayCmd) open(g *task.Game) (*selfplay.Run, error) {
	state := filepath.Join(c.Out, selfplay.StateFile)
	if c.Resume {
		var saved selfplay.Algorithm = new(phases.Config)
		if g.Solo != nil {
			saved = new(single.Config)
		}
		return selfplay.Resume(g, state, saved, c.Workers)
	}
	if _, err := os.Stat(state); err == nil {
		return nil, fmt.Errorf("%s holds a run already: continue it with --resume, or name another folder with --out", c.Out)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var from *mlp.Net
	if c.From != "" {
		var err error
		if from, err = g.Load(c.From); err != nil {
			return nil, err
		}
	}
	config, err := c.algorithm(g)
	if err != nil {
		return nil, err
	}
	return selfplay.New(g, config, from, c.Workers)
}

// A progress shows a run: as a bar on a terminal, else as a line now and then.
type progress struct {
	run     *selfplay.Run
	out     io.Writer
	bar     *progressbar.ProgressBar // nil without a terminal
	start   time.Time
	printed time.Time // of the last line
	began   selfplay.Counts
	now     func() time.Time
}

const barSteps = 10000

func newProgress(run *selfplay.Run, out io.Writer) *progress {
	p := &progress{run: run, out: out, began: run.Counts, start: time.Now(), printed: time.Now(), now: time.Now}
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.bar = progressbar.NewOptions(barSteps, progressbar.OptionSetWriter(out), progressbar.OptionSetWidth(20),
			progressbar.OptionThrottle(200*time.Millisecond), progressbar.OptionSetElapsedTime(true),
			progressbar.OptionSetPredictTime(true), progressbar.OptionFullWidth())
	}
	run.OnGate = func(done, of int) {
		most := ""
		if run.Options.For > 0 {
			most = "up to "
		}
		p.show(fmt.Sprintf("gate %d of %d: %d of %s%d games", run.Counts.Gated+1, run.Options.Gates, done, most, of))
	}
	return p
}

// after shows the run after a step or a gate. A gate leaves a line.
func (p *progress) after(gated bool) {
	if gated {
		p.clear()
		fmt.Fprintln(p.out, p.run.LastGate())
		p.printed = p.now()
	}
	c, b := p.run.Counts, p.began
	if s := (c.Spent - b.Spent).Seconds(); s > 0 {
		p.show(fmt.Sprintf("%.0f games/s  %.1fk positions/s  %.2fM evaluations/s  loss %.4f  %s",
			float64(c.Games-b.Games)/s, float64(c.Moves-b.Moves)/s/1e3, float64(c.Visited-b.Visited)/s/1e6, c.Loss,
			p.run.LastScore()))
	}
}

// show brings the bar up to date, or writes a line if the last one is a while ago.
func (p *progress) show(text string) {
	if p.bar != nil {
		p.bar.Describe(text)
		// A full bar could not be cleared. The error is that of a terminal that cannot be written to.
		_ = p.bar.Set(min(int(p.run.Progress()*barSteps), barSteps-1))
		return
	}
	now := p.now()
	if every := min(max(now.Sub(p.start)/10, 10*time.Second), 5*time.Minute); now.Sub(p.printed) >= every {
		p.printed = now
		fmt.Fprintf(p.out, "%3.0f%% %s\n", 100*p.run.Progress(), text)
	}
}

// clear removes the bar.
func (p *progress) clear() {
	if p.bar != nil {
		_ = p.bar.Clear() // a terminal that cannot be written to
	}
}
