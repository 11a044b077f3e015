package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"blockyard/agents/mlp"
	"blockyard/train/selfplay/single"
	"blockyard/train/task"
	"blockyard/train/tfevents"

	"github.com/schollz/progressbar/v3"
)

// soloConfig is the run of a game of one seat that the flags ask for; the flags of what such
// a game has not are left alone.
func (s *settings) soloConfig() single.Config {
	c := single.Default()
	set(&c.Batch, s.Batch)
	set(&c.Late, s.Late)
	set(&c.Warm, s.Warm)
	set(&c.Width, s.DeepWidth)
	set(&c.Gates, s.Gates)
	set(&c.Lambda, s.Lambda)
	set(&c.Rate, s.Rate)
	set(&c.RateEnd, s.RateEnd)
	set(&c.Explore, s.Explore)
	set(&c.Iterations, s.Iterations)
	set(&c.Longest, s.Longest)
	set(&c.GateGames, s.GateGames)
	set(&c.GateSteps, s.GateSteps)
	if s.Hidden != nil {
		c.Hidden = s.Hidden
	}
	c.Seed, c.Games, c.Rounds, c.Mean, c.For, c.Keep = s.Seed, s.Games, s.Rounds, s.Mean, s.For, s.Keep
	if s.For > 0 {
		c.Iterations = 0
	}
	return c
}

// errSolo refuses what is for games with a result.
func errSolo(g *task.Game) error {
	return fmt.Errorf("%[1]s has one seat: train selfplay %[1]s teaches it, agents arena %[1]s --a PLAYER --b PLAYER compares", g.Rules.Name)
}

// alone trains a game of one seat.
func (c *selfplayCmd) alone(ctx context.Context, g *task.Game) error {
	if c.Record != "" {
		return fmt.Errorf("--record: %s is learnt without records of its games", g.Rules.Name)
	}
	run, err := c.openSolo(g)
	if err != nil {
		return err
	}
	defer func() { _ = run.Close() }()
	f := &soloFolder{dir: c.Out, run: run, saved: time.Now(), noted: time.Now(), before: run.Counts}
	if err := os.MkdirAll(c.Out, 0o755); err != nil {
		return err
	}
	if f.events, err = tfevents.Create(c.Out, time.Now()); err != nil {
		return err
	}
	f.bar = progressbar.NewOptions(fine,
		progressbar.OptionSetWriter(os.Stderr), progressbar.OptionSetWidth(20), progressbar.OptionThrottle(200*time.Millisecond),
		progressbar.OptionSetPredictTime(true), progressbar.OptionSetElapsedTime(true), progressbar.OptionFullWidth())
	err = run.Go(ctx, f.after)
	_ = f.bar.Clear() // a terminal that cannot be written to
	if err = errors.Join(err, run.Save(filepath.Join(c.Out, stateFile)), f.events.Close()); err != nil {
		return err
	}
	if !run.Done() {
		fmt.Printf("stopped and saved; go on with: train selfplay %s --out %s --resume\n", c.Game, c.Out)
		return nil
	}
	return f.tell(os.Stdout)
}

// openSolo begins a new run or goes on with a saved one.
func (c *selfplayCmd) openSolo(g *task.Game) (*single.Run, error) {
	state := filepath.Join(c.Out, stateFile)
	if c.Resume {
		return single.Resume(g, state, c.Workers)
	}
	if _, err := os.Stat(state); err == nil {
		return nil, fmt.Errorf("%s holds a run already: go on with it by --resume, or name another folder", c.Out)
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
	return single.New(g, c.soloConfig(), from, c.Workers)
}

// A soloFolder keeps the files of a run up to date and shows it in the terminal.
type soloFolder struct {
	dir    string
	run    *single.Run
	events *tfevents.Writer
	bar    *progressbar.ProgressBar
	saved  time.Time
	noted  time.Time
	before single.Counts // when last noted
}

// after is called after each step and each gate.
func (f *soloFolder) after(gated bool) error {
	now := time.Now()
	_ = f.bar.Set(int(f.run.Progress() * fine)) // a terminal that cannot be written to
	if gated {
		_ = f.bar.Clear()
		if err := f.gated(now); err != nil {
			return err
		}
	}
	if now.Sub(f.noted) > noteEvery {
		if err := f.note(now); err != nil {
			return err
		}
	}
	if gated || now.Sub(f.saved) > saveEvery {
		f.saved = now
		return f.run.Save(filepath.Join(f.dir, stateFile))
	}
	return nil
}

// note adds a point to the curves of speed and loss.
func (f *soloFolder) note(now time.Time) error {
	c, b := f.run.Counts, f.before
	f.noted, f.before = now, c
	s := (c.Spent - b.Spent).Seconds()
	if s <= 0 {
		return nil
	}
	speed := float64(c.Moves-b.Moves) / s
	f.bar.Describe(fmt.Sprintf("%.1fk choices/s  %.2fM evaluations/s  loss %.4f", speed/1e3, float64(c.Seen-b.Seen)/s/1e6, c.Loss))
	return f.events.Write(tfevents.Event{Time: now, Step: int64(c.Iterations), Scalars: []tfevents.Scalar{
		{Tag: "loss", Value: float32(c.Loss)},
		{Tag: "speed/choices per second", Value: float32(speed)},
		{Tag: "speed/evaluations per second", Value: float32(float64(c.Seen-b.Seen) / s)},
	}})
}

// gated saves the net just gated, and the best one if it is that, and the curve.
func (f *soloFolder) gated(now time.Time) error {
	p, c := f.run.Curve[len(f.run.Curve)-1], f.run.Config
	kept := ""
	if p.Kept {
		kept = "  kept"
	}
	fmt.Fprintf(os.Stderr, "gate %d of %d: %.1fM rows, loss %.4f; %d points in %d games, %d ended: %.0f a game%s\n",
		f.run.Counts.Gated, c.Gates, float64(p.Rows)/1e6, p.Loss, p.Points, c.GateGames, p.Ends, p.PerGame, kept)
	facts := f.run.Game.Facts(map[string]string{
		"seed": strconv.FormatUint(c.Seed, 10), "iterations": strconv.Itoa(p.Iterations), "rows": strconv.Itoa(p.Rows),
		"lambda": strconv.FormatFloat(c.Lambda, 'g', -1, 64), "activation": "leaky_relu 0.01",
		"discount": strconv.FormatFloat(f.run.Game.Solo.Discount, 'g', -1, 64),
		"output":   fmt.Sprintf("discounted points to come, each %g", f.run.Game.Solo.Unit),
	})
	name := fmt.Sprintf("net-%03d.safetensors", f.run.Counts.Gated)
	if err := mlp.Save(filepath.Join(f.dir, name), f.run.Net(), facts); err != nil {
		return err
	}
	if p.Kept {
		if err := mlp.Save(filepath.Join(f.dir, bestFile), f.run.Net(), facts); err != nil {
			return err
		}
	}
	if err := f.events.Write(tfevents.Event{Time: now, Step: int64(p.Iterations), Scalars: []tfevents.Scalar{
		{Tag: "score/points a game", Value: float32(p.PerGame)},
	}}); err != nil {
		return err
	}
	title := fmt.Sprintf("%s, seed %d: %d games", f.run.Game.Rules.Name, c.Seed, f.run.Counts.Games)
	return single.Draw(filepath.Join(f.dir, curveFile), title, f.run.Curve)
}

// tell sums up a run that is done.
func (f *soloFolder) tell(w io.Writer) error {
	c := f.run.Counts
	_, err := fmt.Fprintf(w, "%d games, %d choices, %d evaluations in %v of training\nthe best net: %s\nthe curve:    %s\n",
		c.Games, c.Moves, c.Seen, c.Spent.Round(time.Second), filepath.Join(f.dir, bestFile), filepath.Join(f.dir, curveFile))
	return err
}
