package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"blockyard/agents/valuenet"
	"blockyard/train/learn"
	"blockyard/train/td"
)

type selfplay struct {
	Game    string `arg:"" help:"Game to learn, such as blockbattle."`
	Out     string `help:"Folder of the run: weights, state, curve. Default: runs/GAME." placeholder:"DIR"`
	Resume  bool   `help:"Go on with the run in --out; its own settings stand."`
	Workers int    `help:"Goroutines that play; no influence on the outcome. 0: one per core." default:"1"`
	settings
}

// Run implements the command.
func (c *selfplay) Run(ctx context.Context) error {
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
	run, err := c.open(g)
	if err != nil {
		return err
	}
	defer func() { _ = run.Close() }()
	f := &folder{dir: c.Out, run: run}
	if err := f.begin(c.Resume); err != nil {
		return err
	}
	show := newProgress(run)
	err = run.Go(ctx, func(gated bool) error {
		show.step(gated)
		return f.after(gated)
	})
	show.end()
	if err = errors.Join(err, f.end()); err != nil {
		return err
	}
	if !run.Done() {
		fmt.Printf("stopped and saved; go on with: train selfplay %s --out %s --resume\n", c.Game, c.Out)
		return nil
	}
	return f.tell(os.Stdout)
}

// open begins a new run or goes on with a saved one.
func (c *selfplay) open(g *learn.Game) (*td.Run, error) {
	state := filepath.Join(c.Out, stateFile)
	if c.Resume {
		return td.Resume(g, state, c.Workers)
	}
	if _, err := os.Stat(state); err == nil {
		return nil, fmt.Errorf("%s holds a run already: go on with it by --resume, or name another folder", c.Out)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return td.New(g, c.config(), c.Workers)
}

// The files of a run.
const (
	stateFile = "state.safetensors" // everything --resume needs
	bestFile  = "best.safetensors"  // the best net gated so far
	curveFile = "curve.png"
)

// saveEvery is how often a running run is saved between gates.
const saveEvery = 30 * time.Second

// A folder keeps the files of a run up to date.
type folder struct {
	dir   string
	run   *td.Run
	saved time.Time
}

func (f *folder) begin(bool) error {
	f.saved = time.Now()
	return os.MkdirAll(f.dir, 0o755)
}

// after is called after each step and each gate.
func (f *folder) after(gated bool) error {
	if gated {
		if err := f.nets(); err != nil {
			return err
		}
	}
	if gated || time.Since(f.saved) > saveEvery {
		f.saved = time.Now()
		return f.run.Save(filepath.Join(f.dir, stateFile))
	}
	return nil
}

func (f *folder) end() error { return f.run.Save(filepath.Join(f.dir, stateFile)) }

// nets saves the net just gated, and the best one if it is that.
func (f *folder) nets() error {
	p := f.run.Curve[len(f.run.Curve)-1]
	facts := f.run.Game.Facts(f.notes(p))
	name := fmt.Sprintf("net-%03d.safetensors", f.run.Counts.Gated)
	if err := valuenet.Save(filepath.Join(f.dir, name), f.run.Net(), facts); err != nil {
		return err
	}
	if p.Kept {
		return valuenet.Save(filepath.Join(f.dir, bestFile), f.run.Net(), facts)
	}
	return nil
}

// notes are what a weights file says about its training.
func (f *folder) notes(p td.Point) map[string]string {
	c := f.run.Config
	return map[string]string{
		"seed":       strconv.FormatUint(c.Seed, 10),
		"iterations": strconv.Itoa(p.Iterations),
		"rows":       strconv.Itoa(p.Rows),
		"games":      strconv.Itoa(f.run.Counts.Games),
		"lambda":     strconv.FormatFloat(c.Lambda, 'g', -1, 64),
		"activation": "leaky_relu 0.01",
		"output":     "log odds of winning",
	}
}
