package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"blockyard/train/selfplay"

	"github.com/schollz/progressbar/v3"
)

// A progress shows a run in the terminal.
type progress struct {
	run   *selfplay.Run
	bar   *progressbar.ProgressBar
	began selfplay.Counts
}

const fine = 10000 // steps of the bar

func newProgress(run *selfplay.Run) *progress {
	p := &progress{run: run, began: run.Counts}
	p.bar = progressbar.NewOptions(fine,
		progressbar.OptionSetWriter(os.Stderr), progressbar.OptionSetWidth(20), progressbar.OptionThrottle(200*time.Millisecond),
		progressbar.OptionSetPredictTime(true), progressbar.OptionSetElapsedTime(true), progressbar.OptionFullWidth())
	return p
}

// step brings the bar up to date; after a gate it leaves a line behind.
func (p *progress) step(gated bool) {
	c := p.run.Counts
	s := (c.Spent - p.began.Spent).Seconds()
	if s > 0 {
		p.bar.Describe(fmt.Sprintf("%.0f games/s  %.1fk positions/s  %.2fM evaluations/s  loss %.4f  vs hand %s",
			float64(c.Games-p.began.Games)/s, float64(c.Moves-p.began.Moves)/s/1e3, float64(c.Visited-p.began.Visited)/s/1e6, c.Loss, p.score()))
	}
	_ = p.bar.Set(int(p.run.Progress() * fine)) // a terminal that cannot be written to
	if gated {
		_ = p.bar.Clear()
		tell(os.Stderr, p.run)
	}
}

// score is the last gate's.
func (p *progress) score() string {
	if len(p.run.Curve) == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f%%", 100*p.run.Curve[len(p.run.Curve)-1].Score)
}

// tell writes a line about the last gate.
func tell(w io.Writer, run *selfplay.Run) {
	pt := run.Curve[len(run.Curve)-1]
	kept := ""
	if pt.Kept {
		kept = "  kept"
	}
	fmt.Fprintf(w, "gate %d of %d: %d games, %.1fM rows, loss %.4f, vs hand %.1f%% (%.1f to %.1f), vs best %.1f%%%s\n",
		run.Counts.Gated, run.Config.Gates, run.Counts.Games, float64(pt.Rows)/1e6, pt.Loss, 100*pt.Score, 100*pt.Low, 100*pt.High, 100*pt.VersusBest, kept)
}

func (p *progress) end() {
	_ = p.bar.Clear() // a terminal that cannot be written to
}
