package commands

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"blockyard/env/games"
)

// A speed is how fast a server steps with a number of threads.
type speed struct {
	Game     string  `json:"game"`
	N        int     `json:"n"` // games
	Threads  int     `json:"threads"`
	PerSec   float64 `json:"seat_steps_per_s"`
	PerCPU   float64 `json:"per_core_second"` // of client and server
	Relative float64 `json:"ratio"`           // of PerSec to the first number of threads
}

// threads measures servers that step with each number of threads, by the same trace and in shuffled order, over shared
// memory where there is any. Without --game it measures every game.
func (c *benchCmd) threads(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "blockyard-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var addresses []string
	for _, n := range c.Threads {
		if n < 1 || n > 1024 {
			return fmt.Errorf("--threads %d: want 1 to 1024", n)
		}
		ready, stop, err := spawn(ctx, filepath.Join(dir, strconv.Itoa(n)), "--workers", strconv.Itoa(n))
		if err != nil {
			return err
		}
		defer stop()
		addresses = append(addresses, ready[0])
	}
	measured := []string{c.Game}
	if c.Game == "" {
		measured = nil
		for _, g := range games.All {
			if !strings.Contains(g.Name, ":") { // a variant costs about the same
				measured = append(measured, g.Name)
			}
		}
	}
	out := report{json: c.JSON, w: os.Stdout}
	out.head(fmt.Sprintf("servers that step with some threads, every seat driven, with observation and mask; %d cores, "+
		"which the client shares; wall-clock time: lower quartile of the bursts; CPU time of client and server: median",
		runtime.NumCPU()), "game\tN\tthreads\tseat-steps/s\tratio\tper core-second\t")
	for _, name := range measured {
		for _, n := range c.Envs {
			all, err := c.speeds(ctx, name, n, addresses)
			if err != nil {
				return err
			}
			for _, s := range all {
				out.row(s, "%s\t%d\t%d\t%.0f\t%.2f\t%.0f", s.Game, s.N, s.Threads, s.PerSec, s.Relative, s.PerCPU)
			}
		}
	}
	return out.flush()
}

// speeds measures n games of one kind on all servers.
func (c *benchCmd) speeds(ctx context.Context, name string, n int, addresses []string) (all []speed, err error) {
	f := &field{seed: c.Seed}
	defer func() { err = errors.Join(err, f.Close()) }()
	if f.game, f.envs, err = sized(name, n); err != nil {
		return nil, err
	}
	if _, err = f.inProcess(); err != nil { // records the trace
		return nil, err
	}
	var ways []*way
	for k, address := range addresses {
		r, err := f.overWire(ctx, address, roadKind{shm: runtime.GOOS == "linux"})
		if err != nil {
			return nil, err
		}
		ways = append(ways, &way{name: fmt.Sprintf("%d threads", c.Threads[k]), player: r})
	}
	if err = c.race(ctx, ways); err != nil {
		return nil, err
	}
	rows := float64(len(f.moves[0]))
	for k, w := range ways {
		s := speed{Game: name, N: n, Threads: c.Threads[k],
			PerSec: rows / quantile(w.wall, 0.25), PerCPU: rows / quantile(w.used, 0.5), Relative: 1}
		if k > 0 {
			s.Relative = s.PerSec / all[0].PerSec
		}
		all = append(all, s)
	}
	return all, nil
}
