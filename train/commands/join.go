package commands

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"runtime"
	"time"

	"blockyard/agents/fleet"
	"blockyard/agents/fleet/broker"
	"blockyard/agents/fleet/matches"
	"blockyard/datasets/program"
	"blockyard/datasets/program/ops"
	"blockyard/train/cluster"
	"blockyard/train/games"
	"blockyard/train/selfplay"
	"blockyard/train/selfplay/phases"
	"blockyard/train/selfplay/single"
)

// A join has the flags of "train join". Its Run plays for a run or a match until that is over.
type join struct {
	Address string `arg:"" help:"Address of the broker, as the learner prints it."`
	broker.ClientFlags
	OfRun    string        `name:"run" help:"Run to play for. Default: the one that is not over." placeholder:"ID"`
	Name     string        `help:"Name, one per worker. Default: host and process." placeholder:"NAME"`
	Workers  uint          `help:"Goroutines that play. 0: one per core." default:"0"`
	Patience time.Duration `help:"How long the broker may be away before this command gives up." default:"10m"`
	ops.Flags
}

func (c *join) Run(ctx context.Context, con *program.Console) error {
	if c.Workers < 1 {
		c.Workers = uint(runtime.GOMAXPROCS(0))
	}
	if c.Name == "" {
		host, _ := os.Hostname()
		host = regexp.MustCompile(`[^A-Za-z0-9_-]`).ReplaceAllString(host, "-")
		c.Name = fmt.Sprintf("%.40s-%d", host, os.Getpid())
	}
	log, counts := c.Logger(con.Err), new(fleet.WorkerCounts)
	site, err := c.Start(log, ops.Metrics("blockyard_worker_", func(m *ops.Scrape) {
		m.Add("tasks_total", "Tasks played whose result was stored.", counts.Tasks.Load())
		m.Add("failed_tasks_total", "Tasks that could not be played.", counts.Failed.Load())
		m.Add("games_total", "Games that ended.", counts.Games.Load())
		m.Add("choices_total", "Choices made.", counts.Moves.Load())
		m.Add("busy_seconds_total", "Time of playing, of all goroutines.", float64(counts.Busy.Load())/1e6)
		m.Add("queued_tasks", "Tasks that waited in the queue when the last one was played.", counts.Queued.Load())
	}))
	if err != nil {
		return err
	}
	defer site.Close()
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	nc, err := c.connect(ctx, log)
	if err != nil {
		return err
	}
	defer nc.Close()
	go c.wait(ctx, nc, giveUp)
	site.Ready()
	err = fleet.Work(ctx, nc, fleet.WorkerOptions{
		Run: c.OfRun, Name: c.Name, Threads: int(c.Workers), Counts: counts, Log: log,
		Kinds: map[string]fleet.Kind{matches.Kind: matches.Open, cluster.Kind: cluster.Open(emptySettings)},
	})
	if err == nil && errors.Is(context.Cause(ctx), errAway) {
		err = context.Cause(ctx)
	}
	log.Info("left", "worker", c.Name, "tasks", counts.Tasks.Load(), "games", counts.Games.Load(),
		"busy", time.Duration(counts.Busy.Load())*time.Microsecond)
	return err
}

var errAway = errors.New("the broker is away") // says that the broker was away for too long

// connect connects to the broker, which may start later than this worker.
func (c *join) connect(ctx context.Context, log *slog.Logger) (*broker.Conn, error) {
	for began, said := time.Now(), false; ; said = true {
		nc, err := c.ClientFlags.Connect(c.Address, c.Name, log)
		if err == nil || !errors.Is(err, broker.ErrNoBroker) || time.Since(began) > c.Patience || ctx.Err() != nil {
			return nc, err
		}
		if !said {
			log.Info("waiting for the broker", "address", c.Address)
		}
		_ = program.Sleep(ctx, time.Second)
	}
}

// wait gives up when the broker has been away for too long.
func (c *join) wait(ctx context.Context, nc *broker.Conn, giveUp context.CancelCauseFunc) {
	for last := time.Now(); ctx.Err() == nil; {
		if nc.IsConnected() {
			last = time.Now()
		} else if time.Since(last) > c.Patience {
			giveUp(fmt.Errorf("%w: no connection to %s for %v", errAway, c.Address, c.Patience))
		}
		_ = program.Sleep(ctx, time.Second)
	}
}

// emptySettings returns the settings of the algorithm that trains a game, to be filled in.
func emptySettings(g *games.Game) selfplay.Algorithm {
	if g.Solo != nil {
		return new(single.Config)
	}
	return new(phases.Config)
}

// A clusterCmd has the commands that look at a broker.
type clusterCmd struct {
	Status clusterStatus `cmd:"" help:"Show the runs of a broker, their queues and workers."`
}

// A clusterStatus has the flags of "train cluster status". Its Run prints the runs of a broker and their workers.
type clusterStatus struct {
	Address string `arg:"" help:"Address of the broker, as the learner prints it."`
	broker.ClientFlags
}

func (c *clusterStatus) Run(ctx context.Context, con *program.Console) error {
	nc, err := c.Connect(c.Address, "blockyard status", slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer nc.Close()
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	all, quiet, err := fleet.Ask(ctx, nc)
	if err != nil {
		return err
	}
	for _, s := range all {
		if s.Kind == matches.Kind {
			fmt.Fprintf(con.Out, "match %s: %s, %d units played, %d without a result, %d of them waiting\n%s\n",
				s.Run, s.Game, s.Iteration, s.Open, s.Queued, fleet.Table(s.Workers))
			continue
		}
		fmt.Fprintf(con.Out, "run %s: %s, iteration %d, %d tasks without a result, %d in the queue, %d results to take\n%s\n",
			s.Run, s.Game, s.Iteration, s.Open, s.Queued, s.Unread, fleet.Table(s.Workers))
	}
	for run, why := range quiet {
		fmt.Fprintf(con.Out, "run %s: %s\n", run, why)
	}
	if len(all)+len(quiet) == 0 {
		fmt.Fprintln(con.Out, "no runs")
	}
	return nil
}
