package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"blockyard/agents/bots"
	"blockyard/agents/fleet"
	"blockyard/agents/fleet/broker"
	"blockyard/agents/match/tournament"
	"blockyard/agents/mlp"
	"blockyard/datasets/program"
	"blockyard/datasets/program/disk"
	"blockyard/datasets/program/ops"
	"blockyard/train/cluster"
	"blockyard/train/games"
	"blockyard/train/selfplay"
	"blockyard/train/selfplay/phases"
	"blockyard/train/selfplay/single"
)

// A selfplayCmd has the flags of "train selfplay". Its Run trains a network, or goes on with a run.
type selfplayCmd struct {
	Game    string  `arg:"" help:"Game to train on, such as blockbattle."`
	Out     string  `help:"Folder of the run: weights, state, curve. Default: runs/GAME." placeholder:"DIR"`
	Resume  bool    `help:"Continue the run in --out. It keeps its settings: no flag of a new run has an effect."`
	Workers uint    `help:"Goroutines that play; they do not influence the outcome. 0: one per core." default:"1"`
	Record  string  `help:"Also append the games of self-play to this file, each exactly once." placeholder:"FILE"`
	Verify  float64 `needs:"cluster" help:"${verify}" default:"0.02" group:"Many machines"`
	ops.Flags
	Broker  broker.Flags   `embed:""`
	AnyGame selfplay.Flags `embed:"" needs:"!resume"`
	Phases  phases.Flags   `embed:"" needs:"!resume"`
	Single  single.Flags   `embed:"" needs:"!resume"`
}

func (c *selfplayCmd) Run(ctx context.Context, con *program.Console) (err error) {
	g, err := games.Open(c.Game)
	if err != nil {
		return err
	}
	c.Out = cmp.Or(c.Out, filepath.Join("runs", g.Rules.ID))
	if c.Workers < 1 {
		c.Workers = uint(runtime.GOMAXPROCS(0))
	}
	if c.Record != "" && g.Solo != nil {
		return fmt.Errorf("--record: games of one seat, such as %s, are trained without records", g.Rules.Name)
	}
	if c.Record != "" && c.Broker.Cluster.On {
		return errors.New("--record: workers send no games; train without --cluster to record them")
	}
	run, err := c.open(g)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, run.Close()) }()
	log, seen := c.Logger(con.Err), newMonitor(run)
	learner, err := c.startLearner(ctx, run, con, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, learner.Close(run.Done())) }()
	site, err := c.Start(log, append(clusterMetrics(learner), seen.metrics())...)
	if err != nil {
		return err
	}
	defer site.Close()
	folder, err := selfplay.OpenFolder(c.Out, run)
	if err != nil {
		return err
	}
	made := program.Begin("train", strconv.FormatUint(run.Options.Seed, 10))
	if err := made.Open(c.Out); err != nil {
		return errors.Join(err, folder.Discard())
	}
	site.Ready()
	defer context.AfterFunc(ctx, func() { site.Unready("stopping") })()
	err = c.train(ctx, run, folder, seen, con, log, learner)
	if errors.Is(err, fleet.ErrDriven) {
		return errors.Join(err, folder.Discard())
	}
	if err = errors.Join(err, folder.Close(), made.Close(c.Out)); err != nil {
		return err
	}
	if !run.Done() {
		fmt.Fprintf(con.Out, "stopped and saved; continue with: %s %s --out %s --resume\n",
			program.Named("train selfplay"), c.Game, c.Out)
		return nil
	}
	_, err = fmt.Fprint(con.Out, folder.Summary())
	return err
}

// train runs until the budget is spent or ctx ends.
func (c *selfplayCmd) train(
	ctx context.Context, run *selfplay.Run, folder *selfplay.Folder, seen *monitor, con *program.Console,
	log *slog.Logger, learner *fleet.Session,
) error {
	if c.Record != "" {
		if err := run.RecordTo(c.Record); err != nil {
			return fmt.Errorf("--record: %w", err)
		}
	}
	show := newProgress(run, con.Err, log, c.LogFormat == "text")
	show.workers = learner.Progress
	err := run.Go(ctx, func(gated bool) error {
		if err := learner.Check(ctx); err != nil {
			return err
		}
		show.after(gated)
		seen.after()
		return folder.After(gated)
	})
	show.clear()
	return err
}

func (c *selfplayCmd) open(g *games.Game) (*selfplay.Run, error) {
	state := filepath.Join(c.Out, selfplay.StateFile)
	if c.Resume {
		settings := emptySettings(g)
		if config, ok := settings.(*phases.Config); ok {
			c.trust(config)
		}
		run, err := selfplay.Resume(g, state, settings, int(c.Workers))
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w: --resume continues the run in --out; leave it out to begin one", err)
		}
		if errors.Is(err, bots.ErrUntrusted) {
			err = fmt.Errorf("%w: a run's folder only names agents of this program; repeat that --gate-against "+
				"beside --resume if you trust it", err)
		}
		return run, err
	}
	if _, err := os.Stat(state); err == nil {
		return nil, fmt.Errorf("%s holds a run already: continue it with --resume, or name another folder with --out", c.Out)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var from *mlp.Net
	if c.AnyGame.From != "" {
		var err error
		if from, err = g.Load(c.AnyGame.From); err != nil {
			return nil, err
		}
	}
	if err := c.ofLeagues(g); err != nil {
		return nil, fmt.Errorf("--gate-against: %w", err)
	}
	settings, err := c.algorithm(g)
	if err != nil {
		return nil, err
	}
	if config, ok := settings.(*phases.Config); ok {
		if err := c.keepWeights(g, config); err != nil {
			return nil, err
		}
		c.trust(config)
	}
	return selfplay.New(g, settings, from, int(c.Workers))
}

// algorithm returns the algorithm that trains a game, with the settings that the flags ask for.
func (c *selfplayCmd) algorithm(g *games.Game) (selfplay.Algorithm, error) {
	if g.Solo != nil {
		config, err := c.Single.Config(g, &c.AnyGame)
		return config, cmp.Or(err, c.Phases.Refuse())
	}
	config, err := c.Phases.Config(g, &c.AnyGame)
	return config, cmp.Or(err, c.Single.Refuse())
}

// startLearner lets worker processes play for the run, if --cluster is given; otherwise the session is nil.
func (c *selfplayCmd) startLearner(ctx context.Context, run *selfplay.Run, con *program.Console, log *slog.Logger) (
	*fleet.Session, error) {
	if !(c.Verify >= 0 && c.Verify <= 1) {
		return nil, fmt.Errorf("--verify %v: want 0 to 1", c.Verify)
	}
	if !c.Broker.Cluster.On {
		return nil, nil
	}
	site, err := c.Broker.Open(c.Out, "blockyard learner", log)
	if err != nil {
		return nil, err
	}
	o := fleet.Options{Folder: c.Out, Log: log}
	l, err := cluster.NewLearner(ctx, site, run, fleet.DefaultLimits, c.Verify, o)
	if err != nil {
		return nil, errors.Join(err, site.Close(false))
	}
	run.Remote = l.Play
	fmt.Fprintf(con.Out, "run %s waits for workers; on each machine: %s\n", l.Run(), site.Join)
	return &fleet.Session{Server: l.Server, Site: site, Out: con.Out}, nil
}

// clusterMetrics are the state of a cluster as Prometheus reads it; none without one.
func clusterMetrics(l *fleet.Session) []ops.Collector {
	if l == nil {
		return nil
	}
	return []ops.Collector{ops.Metrics("blockyard_cluster_", func(m *ops.Scrape) {
		s := l.Status()
		m.Add("open_tasks", "Tasks that have no result yet.", s.Open)
		m.Add("queued_tasks", "Tasks that no worker has yet.", s.Queued)
		m.Add("unread_results", "Results that the learner has not taken yet: its lag.", s.Unread)
		m.Add("workers", "Workers that were ever seen.", len(s.Workers))
		for _, w := range s.Workers {
			m.Add("tasks_total", "Results counted, by worker.", w.Tasks, "worker", w.Name)
			m.Add("games_total", "Games that ended, by worker.", w.Games, "worker", w.Name)
			m.Add("dropped_results_total", "Results that came late or twice, by worker.", w.Dropped, "worker", w.Name)
			m.Add("busy_seconds_total", "Time of playing, of all goroutines of a worker.", w.Busy, "worker", w.Name)
		}
	})}
}

// trust lets gates use what --gate-against of this command line names; whatever else the run's folder names is foreign.
func (c *selfplayCmd) trust(config *phases.Config) {
	folder := func(name string) ([]byte, error) { return mlp.ReadFile(weightsFile(c.Out, name)) }
	config.GateText = func(name string) bots.Text {
		if slices.Contains(c.Phases.GateAgainst, name) {
			return bots.Own(name).With(folder)
		}
		return bots.Foreign(name, folder)
	}
}

// leaguePrefix begins the name of a league's folder in --gate-against.
const leaguePrefix = "league:"

// ofLeagues replaces each league in --gate-against by the agents of its file that are no programs.
func (c *selfplayCmd) ofLeagues(g *games.Game) error {
	var all []string
	for _, text := range c.Phases.GateAgainst {
		dir, ok := strings.CutPrefix(text, leaguePrefix)
		if !ok {
			all = append(all, text)
			continue
		}
		listed, err := tournament.AgentsOf(dir)
		if err != nil {
			return err
		}
		before := len(all)
		for _, text := range listed {
			a, err := bots.Parse(g.Rules, bots.Own(text))
			if err != nil {
				return fmt.Errorf("%s: %w", filepath.Join(dir, tournament.AgentsFile), err)
			}
			if a.Kind == bots.Ours {
				all = append(all, text)
			}
		}
		if len(all) == before {
			return fmt.Errorf("%s names no agent for gates: want one such as hand:ply=1; programs and submissions of a "+
				"league do not play in gates", filepath.Join(dir, tournament.AgentsFile))
		}
	}
	c.Phases.GateAgainst = all
	return nil
}

// keepWeights copies the weights of --gate-against into a new run's folder; its settings name them by content.
func (c *selfplayCmd) keepWeights(g *games.Game, config *phases.Config) error {
	config.GateAgainst = slices.Clone(config.GateAgainst) // the flag keeps what the user wrote
	for k, text := range config.GateAgainst {
		a, err := bots.Parse(g.Rules, bots.Own(text))
		if err != nil {
			return fmt.Errorf("--gate-against: %w", err)
		}
		spec, name, data, err := a.Portable()
		switch {
		case errors.Is(err, bots.ErrUntrusted): // a program, which the user names again to resume
		case err != nil:
			return err
		case name != "":
			err := os.MkdirAll(c.Out, 0o755)
			if err = cmp.Or(err, disk.WriteText(weightsFile(c.Out, name), 0o644, string(data))); err != nil {
				return err
			}
			config.GateAgainst[k] = strings.TrimSuffix(text, a.Spec) + spec
		}
	}
	return nil
}

// weightsFile is where the folder of a run has weights that are named by content.
func weightsFile(dir, name string) string {
	return filepath.Join(dir, "sha256-"+strings.TrimPrefix(name, bots.ContentPrefix)+".weights")
}
