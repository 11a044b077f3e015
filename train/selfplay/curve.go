package selfplay

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"

	"blockyard/agents/mlp"
	"blockyard/datasets/program/chart"
	"blockyard/datasets/program/disk"
)

// Draw writes a picture of the run so far as SVG: the score at every gate. It writes nothing before the first gate.
func (r *Run) Draw(path string) error {
	if len(r.Curve) == 0 {
		return nil
	}
	return DrawCurves(path, []Learned{{fmt.Sprintf("seed %d", r.Options.Seed), r.Game.Rules.Name, r.Curve}})
}

// fitPoints fits the axis to scores in points. Those that grow twentyfold need a logarithmic one.
func fitPoints(p *chart.Lines, least, most float64) {
	p.From, p.To = 0, 1.05*max(most, 1)
	if p.Log = most >= 20*max(least, 1); p.Log {
		p.From, p.To = max(1, least/1.5), 1.5*most
	}
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
		fitPoints(&p, least, most)
	} else {
		p.Even, p.From, p.To = 0.5, max(0, min(least, 0.5)-0.02), min(1, max(most, 0.5)+0.02)
	}
	return disk.WriteText(path, 0o644, p.SVG())
}
