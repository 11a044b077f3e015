package selfplay

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"blockyard/agents/mlp"
	"blockyard/datasets/program/chart"
	"blockyard/datasets/program/disk"
	"blockyard/train/curves"
)

// The files of a run, besides a net for each gate and the events for TensorBoard.
const (
	StateFile = "state.safetensors" // everything Resume needs
	BestFile  = "best.safetensors"  // the best net gated so far
	CurveFile = "curve.svg"
)

// How often a run is saved, and how often an event is written.
const (
	saveEvery = 30 * time.Second
	noteEvery = 2 * time.Second
)

// A Folder keeps the files of a run up to date: its state, networks, curve and events.
type Folder struct {
	dir    string
	run    *Run
	events *curves.Writer
	saved  time.Time
	noted  time.Time
	before Counts // when last noted
}

// OpenFolder makes the folder if there is none.
func OpenFolder(dir string, run *Run) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	now := time.Now()
	events, err := curves.Create(dir, now)
	if err != nil {
		return nil, err
	}
	f := &Folder{dir: dir, run: run, events: events, saved: now, noted: now, before: run.Counts}
	return f, f.undo()
}

// After is to be called after each step and each gate.
func (f *Folder) After(gated bool) error {
	now := time.Now()
	err := f.undo()
	if err == nil && gated {
		err = f.saveNet(now)
	}
	if err == nil && now.Sub(f.noted) > noteEvery {
		err = f.note(now)
	}
	if err == nil && (gated || now.Sub(f.saved) > saveEvery || f.run.recording.choices > mostChoices) {
		f.saved = now
		err = f.save()
	}
	return err
}

func (f *Folder) save() error {
	if err := f.run.Save(f.path(StateFile)); err != nil {
		return err
	}
	return f.run.recording.flush()
}

// Close saves the run and closes the file of events.
func (f *Folder) Close() error {
	pending := len(f.run.recording.games) > 0
	err := f.save()
	if err == nil && pending && f.run.recording.out != nil { // none of the games is missing any more
		err = f.run.Save(f.path(StateFile))
	}
	return errors.Join(err, f.events.Close())
}

// Discard closes the file of events and saves nothing: the folder belongs to another process now.
func (f *Folder) Discard() error { return f.events.Close() }

// Summary tells what a run has done and where its files are.
func (f *Folder) Summary() string {
	c := f.run.Counts
	return fmt.Sprintf("%d games, %d choices, %d evaluations in %v of training and %v of gates\n"+
		"the best net: %s\nthe curve:    %s\n", c.Games, c.Moves, c.Visited,
		c.Spent.Round(time.Second), c.Gating.Round(time.Second), f.path(BestFile), f.path(CurveFile))
}

func (f *Folder) path(name string) string { return filepath.Join(f.dir, name) }

func (f *Folder) note(now time.Time) error {
	c, b := f.run.Counts, f.before
	f.noted, f.before = now, c
	s := (c.Spent - b.Spent).Seconds()
	if s <= 0 {
		return nil
	}
	return f.write(now, c.Iterations, map[string]float64{
		"loss":                         c.Loss,
		"speed/games per second":       float64(c.Games-b.Games) / s,
		"speed/positions per second":   float64(c.Moves-b.Moves) / s,
		"speed/evaluations per second": float64(c.Visited-b.Visited) / s,
	})
}

func (f *Folder) write(now time.Time, step int, values map[string]float64) error {
	e := curves.Event{Time: now, Step: int64(step)}
	for tag, v := range values {
		e.Scalars = append(e.Scalars, curves.Scalar{Tag: tag, Value: float32(v)})
	}
	return f.events.Write(e)
}

// saveNet saves the net just gated, and as the best one if it is that, and the curve.
func (f *Folder) saveNet(now time.Time) error {
	r := f.run
	p := r.Curve[len(r.Curve)-1]
	names := []string{netFile(r.Counts.Gated)}
	if p.Kept {
		names = append(names, BestFile)
	}
	for _, name := range names {
		if err := f.writeNet(name, r.Net(), p); err != nil {
			return err
		}
	}
	scores := map[string]float64{"score/against " + p.opponents(): p.Score, "score/against best": p.VersusBest}
	if r.Game.Solo != nil {
		scores = map[string]float64{"score/points per game": p.Score}
	}
	return errors.Join(f.write(now, p.Iterations, scores), r.Draw(f.path(CurveFile)))
}

// netFile is the name of the net of a gate.
func netFile(gate int) string { return fmt.Sprintf("net-%03d.safetensors", gate) }

// writeNet writes the net of a gate.
func (f *Folder) writeNet(name string, n *mlp.Net, p Point) error {
	notes := f.run.Settings.Notes(f.run)
	notes["seed"] = strconv.FormatUint(f.run.Options.Seed, 10)
	notes["iterations"], notes["rows"] = strconv.Itoa(p.Iterations), strconv.Itoa(p.Rows)
	return f.run.Game.Save(f.path(name), n, notes)
}

// undo removes what gates have written that the run has returned to before, and saves the run.
func (f *Folder) undo() error {
	r := f.run
	if r.undone == 0 {
		return nil
	}
	names := []string{BestFile, CurveFile}
	for gate := r.Counts.Gated + 1; gate < r.undone; gate++ {
		names = append(names, netFile(gate))
	}
	for _, name := range names {
		if err := os.Remove(f.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for _, p := range slices.Backward(r.Curve) {
		if p.Kept {
			if err := f.writeNet(BestFile, r.Best, p); err != nil {
				return err
			}
			break
		}
	}
	r.undone = 0
	return errors.Join(r.Draw(f.path(CurveFile)), f.save())
}

// Draw writes a picture of the run so far as SVG: the score at every gate. It writes nothing before the first gate.
func (r *Run) Draw(path string) error {
	if len(r.Curve) == 0 {
		return nil
	}
	return DrawCurves(path, []Learned{{fmt.Sprintf("seed %d", r.Options.Seed), r.Game.Rules.Name, r.Curve}})
}

// A Learned is what a run has learned so far, by its scores at its gates.
type Learned struct {
	Name  string // of the run's folder
	Game  string
	Curve []Point
}

// ReadLearned reads the state file in the folder of a run.
func ReadLearned(dir string) (Learned, error) {
	path := filepath.Join(dir, StateFile)
	data, err := mlp.ReadFile(path)
	if err != nil {
		return Learned{}, err
	}
	_, meta, err := mlp.ParseTensors(data)
	if err != nil {
		return Learned{}, fmt.Errorf("%s: %w", path, err)
	}
	l := Learned{Name: filepath.Base(dir)}
	if err := json.Unmarshal([]byte(meta["run"]), &l); err != nil {
		return Learned{}, fmt.Errorf("%s: not a saved run: %w", path, err)
	}
	if len(l.Curve) == 0 {
		return Learned{}, fmt.Errorf("%s: no gate yet: there is nothing to draw", path)
	}
	return l, nil
}

// DrawCurves writes an SVG with the scores of runs of one game, with 95 % intervals, over the CPU time of their
// training. If one of them was made by a version that did not record CPU time, it is the time on the clock.
func DrawCurves(path string, runs []Learned) error {
	if len(runs) == 0 {
		return errors.New("no runs to draw")
	}
	against := runs[0].Curve[0].opponents()
	p := chart.Lines{Title: runs[0].Game, Across: "CPU seconds of training", Up: "score against " + against}
	seconds := func(p Point) float64 { return p.CPU }
	for _, l := range runs {
		if l.Game != runs[0].Game {
			return fmt.Errorf("%s is a run of %s, %s of %s: draw runs of one game", l.Name, l.Game, runs[0].Name, runs[0].Game)
		}
		if other := l.Curve[0].opponents(); other != against {
			return fmt.Errorf("gates of %s play against %s, those of %s against %s: draw runs with the same opponents",
				l.Name, other, runs[0].Name, against)
		}
		if l.Curve[len(l.Curve)-1].CPU == 0 {
			p.Across, seconds = "seconds of training", func(p Point) float64 { return p.Seconds }
		}
	}
	points, least, most := false, math.Inf(1), math.Inf(-1)
	for _, l := range runs {
		series := chart.Line{Name: l.Name}
		for _, c := range l.Curve {
			value, low, high := c.value()
			series.Points = append(series.Points, chart.Point{At: seconds(c), Value: value, Low: low, High: high})
			points, least, most = points || c.PerGame > 0, min(least, low), max(most, high)
		}
		p.Series = append(p.Series, series)
	}
	if points {
		p.Up = "points per game"
		p.FitPoints(least, most)
	} else {
		p.Even, p.From, p.To = 0.5, max(0, min(least, 0.5)-0.02), min(1, max(most, 0.5)+0.02)
	}
	return disk.WriteText(path, 0o644, p.SVG())
}
