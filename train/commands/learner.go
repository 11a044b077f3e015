package commands

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"blockyard/agents/fleet"
	"blockyard/agents/fleet/broker"
	"blockyard/datasets/program/ops"
	"blockyard/train/cluster"
	"blockyard/train/selfplay"
)

// A learner is the cluster of a run; nil without one.
type learner struct {
	*cluster.Learner
	site *broker.Site
}

// startLearner lets worker processes play for the run, if --cluster is given.
func startLearner(
	ctx context.Context, flags *broker.Flags, verify float64, run *selfplay.Run, folder string, log *slog.Logger,
) (*learner, error) {
	if !(verify >= 0 && verify <= 1) {
		return nil, fmt.Errorf("--verify %v: want 0 to 1", verify)
	}
	if !flags.Cluster.On {
		return nil, nil
	}
	site, err := flags.Open(folder, "blockyard learner", log)
	if err != nil {
		return nil, err
	}
	l := &learner{site: site}
	l.Learner, err = cluster.NewLearner(ctx, site, run, cluster.LearnerOptions{
		Folder: folder, Limits: fleet.DefaultLimits, Verify: verify, Log: log,
	})
	if err != nil {
		return nil, errors.Join(err, l.close(false))
	}
	run.Remote = l.Learner
	fmt.Printf("run %s waits for workers; on each machine: %s\n", l.Run(), site.Join)
	return l, nil
}

// check returns why the run must stop, nil without a cluster.
func (l *learner) check(ctx context.Context) error {
	if l == nil {
		return nil
	}
	return l.Check(ctx)
}

// workers says in a line what each worker has done.
func (l *learner) workers() string {
	if l == nil {
		return ""
	}
	return fleet.Progress(l.Workers())
}

// close gives the run back and prints who did what. finished says that the run is over.
func (l *learner) close(finished bool) error {
	if l == nil {
		return nil
	}
	var errs []error
	if l.Learner != nil {
		errs = append(errs, l.Close(finished))
		fmt.Print(fleet.Table(l.Workers()))
	}
	errs = append(errs, l.site.Close(finished))
	return errors.Join(errs...)
}

// metrics are the state of the cluster as Prometheus reads it.
func (l *learner) metrics() []ops.Collector {
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
