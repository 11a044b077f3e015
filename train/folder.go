package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"blockyard/agents/mlp"
	"blockyard/train/selfplay"
	"blockyard/train/tfevents"
)

// The files of a run, besides a net for each gate and the events for TensorBoard.
const (
	stateFile = "state.safetensors" // everything --resume needs
	bestFile  = "best.safetensors"  // the best net gated so far
	curveFile = "curve.png"
)

// How often a run that goes on is saved, and how often it notes what it does.
const (
	saveEvery = 30 * time.Second
	noteEvery = 2 * time.Second
)

// A folder keeps the files of a run up to date.
type folder struct {
	dir    string
	run    *selfplay.Run
	events *tfevents.Writer
	saved  time.Time
	noted  time.Time
	before selfplay.Counts // when last noted
}

func openFolder(dir string, run *selfplay.Run) (*folder, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	now := time.Now()
	events, err := tfevents.Create(dir, now)
	if err != nil {
		return nil, err
	}
	return &folder{dir: dir, run: run, events: events, saved: now, noted: now, before: run.Counts}, nil
}

// after is called after each step and each gate.
func (f *folder) after(gated bool) error {
	now := time.Now()
	if gated {
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

func (f *folder) end() error {
	return errors.Join(f.run.Save(filepath.Join(f.dir, stateFile)), f.events.Close())
}

// note adds a point to the curves of speed and loss.
func (f *folder) note(now time.Time) error {
	c, b := f.run.Counts, f.before
	f.noted, f.before = now, c
	s := (c.Spent - b.Spent).Seconds()
	if s <= 0 {
		return nil
	}
	return f.events.Write(tfevents.Event{Time: now, Step: int64(c.Iterations), Scalars: []tfevents.Scalar{
		{Tag: "loss", Value: float32(c.Loss)},
		{Tag: "speed/games per second", Value: float32(float64(c.Games-b.Games) / s)},
		{Tag: "speed/positions per second", Value: float32(float64(c.Moves-b.Moves) / s)},
		{Tag: "speed/evaluations per second", Value: float32(float64(c.Visited-b.Visited) / s)},
	}})
}

// gated saves the net just gated, the best one if it is that, and the curve.
func (f *folder) gated(now time.Time) error {
	p := f.run.Curve[len(f.run.Curve)-1]
	facts := f.run.Game.Facts(f.notes(p))
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
		{Tag: "score/against hand", Value: float32(p.Score)},
		{Tag: "score/against best", Value: float32(p.VersusBest)},
	}}); err != nil {
		return err
	}
	title := fmt.Sprintf("%s, seed %d: %d games", f.run.Game.Rules.Name, f.run.Config.Seed, f.run.Counts.Games)
	return selfplay.Draw(filepath.Join(f.dir, curveFile), title, f.run.Curve)
}

// notes are what a weights file says about its training.
func (f *folder) notes(p selfplay.Point) map[string]string {
	c, output := f.run.Config, "log odds of winning"
	if f.run.BacksUp() {
		output = "worth of a position, to be compared within a decision"
	}
	if f.run.Acts() {
		output = fmt.Sprintf("preference; choices were drawn from its softmax at temperature %g", c.Temperature)
	}
	return map[string]string{
		"seed":       strconv.FormatUint(c.Seed, 10),
		"iterations": strconv.Itoa(p.Iterations),
		"rows":       strconv.Itoa(p.Rows),
		"games":      strconv.Itoa(f.run.Counts.Games),
		"lambda":     strconv.FormatFloat(c.Lambda, 'g', -1, 64),
		"activation": "leaky_relu 0.01",
		"output":     output,
	}
}

// tell sums up a run that is done.
func (f *folder) tell(w io.Writer) error {
	c := f.run.Counts
	_, err := fmt.Fprintf(w, "%d games, %d positions, %d evaluations in %v of training\nthe best net: %s\nthe curve:    %s\n",
		c.Games, c.Moves, c.Visited, c.Spent.Round(time.Second), filepath.Join(f.dir, bestFile), filepath.Join(f.dir, curveFile))
	return err
}
