package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"blockyard/train/selfplay"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// A progress shows a run: as a bar on a terminal, else as a line now and then.
type progress struct {
	run   *selfplay.Run
	out   io.Writer
	bar   *progressbar.ProgressBar // nil without a terminal
	start time.Time
	told  time.Time // of the last line
	began selfplay.Counts
	now   func() time.Time
}

const barSteps = 10000

func newProgress(run *selfplay.Run, out io.Writer) *progress {
	p := &progress{run: run, out: out, began: run.Counts, start: time.Now(), told: time.Now(), now: time.Now}
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
		p.told = p.now()
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
	if every := min(max(now.Sub(p.start)/10, 10*time.Second), 5*time.Minute); now.Sub(p.told) >= every {
		p.told = now
		fmt.Fprintf(p.out, "%3.0f%% %s\n", 100*p.run.Progress(), text)
	}
}

// clear removes the bar.
func (p *progress) clear() {
	if p.bar != nil {
		_ = p.bar.Clear() // a terminal that cannot be written to
	}
}
