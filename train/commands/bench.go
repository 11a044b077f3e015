package commands

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

type clusterBench struct {
	Game     string   `arg:"" optional:"" help:"Game to train on." default:"blockbattle"`
	Settings []string `arg:"" optional:"" help:"Flags of train selfplay, after --."`
	Workers  []int    `help:"Worker processes, several for a table. Each plays with one goroutine." default:"1,2"`
	Repeat   int      `help:"How often each row is measured, in turn." default:"3"`
	Count    int      `help:"Rollouts of each run." default:"200"`
}

// Help is printed with the flags.
func (*clusterBench) Help() string {
	return `Trains the same network by one process and by a learner with worker processes, all on this machine, and
compares wall-clock time and CPU time of all processes. It fails if the networks differ. The runs have one
gate of one pair of games, so that self-play is what is measured.`
}

// A benchRow is what the runs with one number of worker processes took.
type benchRow struct {
	workers        int // 0: one process without a broker
	games          int
	wall           time.Duration
	learner, total time.Duration // CPU time of the learner, and of all processes
}

// Run measures and prints a table.
func (c *clusterBench) Run(ctx context.Context) error {
	rows := []benchRow{{}}
	for _, n := range c.Workers {
		if n < 1 || n > 1000 {
			return fmt.Errorf("--workers %d: want 1 to 1000", n)
		}
		rows = append(rows, benchRow{workers: n})
	}
	var first []byte
	for range max(1, c.Repeat) {
		for k := range rows {
			net, err := c.measure(ctx, &rows[k])
			if err != nil {
				return err
			}
			if first == nil {
				first = net
			}
			if !bytes.Equal(net, first) {
				return fmt.Errorf("the net of the run with %d worker processes differs from that of one process", rows[k].workers)
			}
		}
	}
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "processes that play\tgames/s\tspeedup\tCPU per game\tratio\tlearner's share of CPU\t")
	speed := func(r benchRow) float64 { return float64(r.games) / r.wall.Seconds() }
	cost := func(r benchRow) float64 { return r.total.Seconds() / float64(r.games) }
	for _, r := range rows {
		name, share := strconv.Itoa(r.workers), fmt.Sprintf("%.0f %%", 100*r.learner.Seconds()/r.total.Seconds())
		if r.workers == 0 {
			name, share = "the learner alone", "-"
		}
		fmt.Fprintf(t, "%s\t%.1f\t%.2f\t%.1f ms\t%.2f\t%s\t\n", name, speed(r), speed(r)/speed(rows[0]),
			1000*cost(r), cost(r)/cost(rows[0]), share)
	}
	return t.Flush()
}

// measure trains once, adds to the row what it took, and returns the net.
func (c *clusterBench) measure(ctx context.Context, r *benchRow) (net []byte, err error) {
	dir, err := os.MkdirTemp("", "blockyard-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	ctx, stop := context.WithCancel(ctx)
	defer stop() // kills what still runs after an error
	g, err := subject(c.Game)
	if err != nil {
		return nil, err
	}
	gate := []string{"--gates=1", "--gate-pairs=1"}
	if g.Solo != nil {
		gate = []string{"--gates=1", "--gate-games=1", "--gate-steps=100"}
	}
	args := append([]string{"selfplay", c.Game, "--out", dir, "--iterations", strconv.Itoa(c.Count)}, gate...)
	args = append(args, c.Settings...)
	if r.workers > 0 {
		args = append(args, "--cluster", "--listen=127.0.0.1:0")
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	failed := func(name string, err error) error {
		text, _ := os.ReadFile(log.Name()) // it adds to an error
		return fmt.Errorf("train %s: %w\n%s", name, err, text)
	}
	learner, err := child(ctx, log, args)
	if err != nil {
		return nil, err
	}
	out, err := learner.StdoutPipe()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	if err := learner.Start(); err != nil {
		return nil, err
	}
	var workers []*exec.Cmd
	games := 0
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if _, line, ok := strings.Cut(lines.Text(), ": train join "); ok {
			for range r.workers {
				w, err := child(ctx, log, append(append([]string{"join"}, strings.Fields(line)...), "--workers=1",
					"--name", fmt.Sprintf("w%d", len(workers))))
				if err == nil {
					err = w.Start()
				}
				if err != nil {
					return nil, err
				}
				workers = append(workers, w)
			}
		}
		if m := benchGames.FindStringSubmatch(lines.Text()); m != nil {
			games, _ = strconv.Atoi(m[1]) // digits
		}
	}
	if err := learner.Wait(); err != nil {
		return nil, failed(strings.Join(args, " "), err)
	}
	if games == 0 {
		return nil, failed(strings.Join(args, " "), errors.New("no game ended"))
	}
	r.wall += time.Since(began)
	r.games += games
	used := learner.ProcessState.UserTime() + learner.ProcessState.SystemTime()
	r.learner, r.total = r.learner+used, r.total+used
	for _, w := range workers {
		if err := w.Wait(); err != nil {
			return nil, failed("join", err)
		}
		r.total += w.ProcessState.UserTime() + w.ProcessState.SystemTime()
	}
	return os.ReadFile(filepath.Join(dir, "best.safetensors"))
}

// benchGames finds the number of games in the summary of a run.
var benchGames = regexp.MustCompile(`^(\d+) games, `)

// child is a command of this program.
func child(ctx context.Context, log *os.File, args []string) (*exec.Cmd, error) {
	self, err := os.Executable()
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Stderr = log
	return cmd, err
}
