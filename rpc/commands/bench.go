package commands

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"time"
)

type benchCmd struct {
	Game      string        `help:"${bench_game_help}" placeholder:"GAME"`
	Envs      []int         `default:"64,1024,4096" help:"Numbers of games per handle."`
	Rounds    int           `default:"15" help:"Number of bursts (timed runs) per transport, in shuffled order."`
	Burst     time.Duration `default:"150ms" help:"Approximate duration of a burst."`
	Seed      uint64        `default:"1" help:"Seed of the games and of the order of the bursts."`
	Opponents bool          `help:"Measure what a decision of each opponent costs instead, in every game without --game."`
	Threads   []int         `help:"${bench_threads_help}"`
	JSON      bool          `help:"Print one line of JSON per row instead of a table."`
}

// A way is one of the transports that are compared.
type way struct {
	name string
	player
	wall []float64 // wall-clock seconds per step, by burst
	used []float64 // total CPU seconds of client and server per step, by burst
}

// A player steps games over a transport.
type player interface {
	reset() error
	step(k int) error            // plays the k-th actions of the trace
	flush() error                // waits for the steps in flight
	cpu() (time.Duration, error) // total CPU time of client and server so far
}

// Run replays one recorded trace of random legal actions in process and, with a server in another
// process, over shared memory, a unix socket and TCP. It also exchanges messages of the same lengths over
// a bare socket between two processes. Choosing actions takes no time, every transport plays the same
// games, and bursts of the transports alternate, so that their ratios hold on a busy machine too.
func (c *benchCmd) Run(ctx context.Context) error {
	if c.Rounds < 1 || c.Burst <= 0 {
		return errors.New("bench: --rounds and --burst must be positive")
	}
	if c.Opponents {
		return c.opponents(ctx)
	}
	if len(c.Threads) > 0 {
		return c.threads(ctx)
	}
	c.Game = cmp.Or(c.Game, "blockbattle")
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
	out := report{json: c.JSON, w: os.Stdout}
	out.head(fmt.Sprintf("%s, every seat driven, with observation and mask; %d cores; "+
		"wall-clock time: lower quartile of the bursts; CPU time of client and server: median",
		c.Game, runtime.GOMAXPROCS(0)),
		"N\tway\tµs/step\tCPU µs/step\tseat-steps/s\tper core-second\trelative\tCPU relative\t")
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
	steps := make([]int, len(ways)) // per burst
	for k, w := range ways {
		if err := w.burst(traceLen); err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		steps[k] = max(4, int(c.Burst.Seconds()/w.wall[0]))
		w.wall, w.used = nil, nil
	}
	order := rand.New(rand.NewPCG(c.Seed, 1))
	for range c.Rounds {
		for _, k := range order.Perm(len(ways)) {
			if err := errors.Join(ctx.Err(), ways[k].burst(steps[k])); err != nil {
				return fmt.Errorf("%s: %w", ways[k].name, err)
			}
		}
	}
	return nil
}

// traceLen is the number of recorded steps. A longer burst plays them again.
const traceLen = 32

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

// spawn starts this program as a server, with more flags, and returns its addresses, unix first.
func spawn(ctx context.Context, socket string, more ...string) (addresses []string, stop func(), err error) {
	cmd, in, line, err := child(ctx, append([]string{"serve", "--listen", "unix:" + socket, "--listen", "tcp:127.0.0.1:0",
		"--parent-death", "--toy"}, more...)...)
	if err != nil {
		return nil, nil, err
	}
	stop = func() {
		_ = in.Close()
		_ = cmd.Wait() // it exits because its standard input has ended
	}
	var said struct{ Ready []string }
	if err := json.Unmarshal(line, &said); err != nil || len(said.Ready) != 2 {
		stop()
		return nil, nil, fmt.Errorf("the server says %q, want its two addresses", line)
	}
	return said.Ready, stop, nil
}

// child starts this program with other arguments and reads the first line that it prints.
func child(ctx context.Context, args ...string) (cmd *exec.Cmd, in io.Closer, line []byte, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, nil, err
	}
	cmd = exec.CommandContext(ctx, self, args...)
	cmd.Stderr = os.Stderr
	in, inErr := cmd.StdinPipe()
	out, outErr := cmd.StdoutPipe()
	if err := errors.Join(inErr, outErr); err != nil {
		return nil, nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, nil, err
	}
	if line, err = bufio.NewReader(out).ReadBytes('\n'); err != nil {
		return nil, nil, nil, errors.Join(fmt.Errorf("%s did not start: %w", args[0], err), cmd.Process.Kill(), cmd.Wait())
	}
	return cmd, in, line, nil
}

// rows reports the ways of stepping n games, which have so many rows.
func (r *report) rows(n, rows int, ways []*way) {
	first := ways[0]
	for _, w := range ways {
		wall, used := quantile(w.wall, 0.25), quantile(w.used, 0.5)
		perSecond, perCore := float64(rows)/wall, float64(rows)/used
		ratio, cpuRatio := quantile(first.wall, 0.25)/wall, quantile(first.used, 0.5)/used
		r.row(map[string]any{"n": n, "way": w.name, "us": wall * 1e6, "cpu_us": used * 1e6,
			"seat_steps_per_s": perSecond, "per_core_second": perCore, "ratio": ratio, "cpu_ratio": cpuRatio},
			"%d\t%s\t%.1f\t%.1f\t%.0f\t%.0f\t%.3f\t%.3f",
			n, w.name, wall*1e6, used*1e6, perSecond, perCore, ratio, cpuRatio)
	}
}

// quantile returns the q-quantile of v.
func quantile(v []float64, q float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[int(q*float64(len(v)-1)+0.5)]
}
