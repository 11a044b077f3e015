package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"blockyard/env"
	"blockyard/env/vec"
)

type benchCmd struct {
	Game   string        `default:"blockbattle" help:"Game to step. null is one game without computation whose slab is as large as that of N rows of other games, so that only the transport is measured."`
	Envs   []int         `default:"64,1024,4096" help:"Numbers of games per handle."`
	Rounds int           `default:"15" help:"Bursts of each transport, in shuffled order."`
	Burst  time.Duration `default:"150ms" help:"Approximate duration of a burst in process."`
	Seed   uint64        `default:"1" help:"Seed of the games and of the order of the bursts."`
	JSON   bool          `help:"Print one line of JSON per row instead of a table."`
}

// A way is one of the transports that are compared.
type way struct {
	name  string
	reset func() error
	step  func(k int) error // plays the k-th actions of the trace
	flush func() error      // waits for the steps in flight
	cpu   func() (time.Duration, error)
	wall  []float64 // wall-clock seconds per step, by burst
	used  []float64 // total CPU seconds of client and server per step, by burst
}

// Run replays one recorded trace of random legal actions in process and, with a server in another
// process, over shared memory, a unix socket and TCP. It also exchanges messages of the same lengths over
// a bare socket between two processes. Choosing actions takes no time, every transport plays the same
// games, and bursts of the transports alternate, so that their ratios hold on a busy machine too.
func (c *benchCmd) Run(ctx context.Context) error {
	if c.Rounds < 1 || c.Burst <= 0 {
		return errors.New("bench: --rounds and --burst must be positive")
	}
	dir, err := os.MkdirTemp("", "blockyard-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	addresses, stop, err := spawn(ctx, filepath.Join(dir, "s"))
	if err != nil {
		return err
	}
	defer stop()
	out := report{json: c.JSON, cores: cores(), w: os.Stdout}
	out.head(c.Game)
	for _, n := range c.Envs {
		ways, f, err := c.ways(ctx, n, dir, addresses)
		if err == nil {
			err = errors.Join(c.race(ctx, ways), f.Close())
		}
		if err != nil {
			return err
		}
		out.rows(n, len(f.moves[0]), ways)
	}
	return out.flush()
}

// race lets every way play the trace Rounds times, in shuffled order.
func (c *benchCmd) race(ctx context.Context, ways []*way) error {
	order := rand.New(rand.NewPCG(c.Seed, 1))
	steps := 0
	for round := range c.Rounds + 1 {
		for _, w := range shuffled(ways, order) {
			if err := ctx.Err(); err != nil {
				return err
			}
			if round == 0 {
				if w.name == "in process" { // calibrates the number of steps per burst
					begun := time.Now()
					if err := w.play(traceLen); err != nil {
						return err
					}
					steps = max(4, int(float64(c.Burst)/float64(time.Since(begun))*traceLen))
				}
				continue
			}
			if err := w.burst(steps); err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
		}
	}
	return nil
}

// traceLen is the number of recorded steps. A longer burst plays them again.
const traceLen = 32

func (w *way) play(steps int) error {
	for k := range steps {
		if k%traceLen == 0 {
			if err := w.reset(); err != nil {
				return err
			}
		}
		if err := w.step(k % traceLen); err != nil {
			return err
		}
	}
	return nil
}

// burst plays and measures wall-clock and CPU time per step, without the resets.
func (w *way) burst(steps int) error {
	var wall, used time.Duration
	for done := 0; done < steps; done += traceLen {
		if err := w.reset(); err != nil {
			return err
		}
		before, err := w.cpu()
		if err != nil {
			return err
		}
		begun := time.Now()
		for k := range min(traceLen, steps-done) {
			if err := w.step(k); err != nil {
				return err
			}
		}
		if err := w.flush(); err != nil {
			return err
		}
		wall += time.Since(begun)
		after, err := w.cpu()
		if err != nil {
			return err
		}
		used += after - before
	}
	w.wall = append(w.wall, wall.Seconds()/float64(steps))
	w.used = append(w.used, used.Seconds()/float64(steps))
	return nil
}

func shuffled(ways []*way, order *rand.Rand) []*way {
	ways = slices.Clone(ways)
	order.Shuffle(len(ways), func(i, j int) { ways[i], ways[j] = ways[j], ways[i] })
	return ways
}

// trace records random legal actions of traceLen steps, one slice of all rows per step.
func trace(game *env.Game, n int, seed uint64) ([][]env.Action, error) {
	e, err := vec.New(game, vec.Config{Envs: n})
	if err != nil {
		return nil, err
	}
	defer e.Close()
	out, err := e.NewBatch("reward")
	if err != nil {
		return nil, err
	}
	if err := e.Reset(vec.From(seed), nil, out); err != nil {
		return nil, err
	}
	all := make([][]env.Action, traceLen)
	for k := range all {
		all[k] = make([]env.Action, n*e.Rows())
		if err := errors.Join(e.Sample(all[k]), e.Step(all[k], out)); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// spawn starts this program as a server and returns its addresses, unix first.
func spawn(ctx context.Context, socket string) (addresses []string, stop func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.CommandContext(ctx, self, "serve", "--listen", "unix:"+socket, "--listen", "tcp:127.0.0.1:0", "--parent-death", "--toy")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	stop = func() {
		_ = in.Close()
		_ = cmd.Wait() // it exits because its standard input has ended
	}
	var line struct{ Ready []string }
	if err := json.NewDecoder(bufio.NewReader(out)).Decode(&line); err != nil || len(line.Ready) != 2 {
		stop()
		return nil, nil, fmt.Errorf("the server did not start: %w", err)
	}
	return line.Ready, stop, nil
}

// A report prints the measurements.
type report struct {
	json  bool
	cores int
	w     io.Writer
	tab   *tabwriter.Writer
}

func (r *report) head(game string) {
	if r.json {
		return
	}
	fmt.Fprintf(r.w, "%s, every seat driven, with observation and mask; %d cores; wall-clock time: lower quartile of the bursts; CPU time of client and server: median\n", game, r.cores)
	r.tab = tabwriter.NewWriter(r.w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(r.tab, strings.Join([]string{"N", "way", "µs/step", "CPU µs/step", "seat-steps/s", "per core-second", "relative", "CPU relative", ""}, "\t"))
}

func (r *report) rows(n, rows int, ways []*way) {
	first := ways[0]
	for _, w := range ways {
		wall, used := quantile(w.wall, 0.25), quantile(w.used, 0.5)
		line := map[string]any{"n": n, "way": w.name, "us": wall * 1e6, "cpu_us": used * 1e6, "seat_steps_per_s": float64(rows) / wall,
			"per_core_second": float64(rows) / used, "ratio": quantile(first.wall, 0.25) / wall, "cpu_ratio": quantile(first.used, 0.5) / used}
		if r.json {
			b, _ := json.Marshal(line) // numbers and strings
			fmt.Fprintf(r.w, "%s\n", b)
			continue
		}
		fmt.Fprintf(r.tab, "%d\t%s\t%.1f\t%.1f\t%.0f\t%.0f\t%.3f\t%.3f\t\n", n, w.name, line["us"], line["cpu_us"], line["seat_steps_per_s"],
			line["per_core_second"], line["ratio"], line["cpu_ratio"])
	}
}

func (r *report) flush() error {
	if r.tab == nil {
		return nil
	}
	return r.tab.Flush()
}

// quantile returns the q-quantile of v.
func quantile(v []float64, q float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[int(q*float64(len(v)-1)+0.5)]
}
