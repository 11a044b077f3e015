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
	ctx context.Context, flags *broker.Flags, run *selfplay.Run, folder string, log *slog.Logger,
) (*learner, error) {
	if !flags.Cluster.On {
		return nil, nil
	}
	site, err := flags.Open(folder, "blockyard learner", log)
	if err != nil {
		return nil, err
	}
	l := &learner{site: site}
	l.Learner, err = cluster.NewLearner(ctx, site, run, cluster.LearnerOptions{
		Folder: folder, Limits: fleet.DefaultLimits, Log: log,
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
	s := ops.NewSet(l.Status)
	s.Gauge("blockyard_cluster_open_tasks", "Tasks that have no result yet.",
		func(s *fleet.Status) float64 { return float64(s.Open) })
	s.Gauge("blockyard_cluster_queued_tasks", "Tasks that no worker has yet.",
		func(s *fleet.Status) float64 { return float64(s.Queued) })
	s.Gauge("blockyard_cluster_unread_results", "Results that the learner has not taken yet: its lag.",
		func(s *fleet.Status) float64 { return float64(s.Unread) })
	s.Gauge("blockyard_cluster_workers", "Workers that were ever seen.",
		func(s *fleet.Status) float64 { return float64(len(s.Workers)) })
	perWorker := func(name, help string, value func(*fleet.WorkerRow) float64) {
		s.Counters("blockyard_cluster_"+name, help, []string{"worker"}, ops.PerName(
			func(s *fleet.Status) []fleet.WorkerRow { return s.Workers },
			func(w *fleet.WorkerRow) string { return w.Name }, value))
	}
	perWorker("tasks_total", "Results counted, by worker.",
		func(w *fleet.WorkerRow) float64 { return float64(w.Tasks) })
	perWorker("games_total", "Games that ended, by worker.",
		func(w *fleet.WorkerRow) float64 { return float64(w.Games) })
	perWorker("dropped_results_total", "Results that came late or twice, by worker.",
		func(w *fleet.WorkerRow) float64 { return float64(w.Dropped) })
	perWorker("busy_seconds_total", "Time of playing, of all goroutines of a worker.",
		func(w *fleet.WorkerRow) float64 { return w.Busy.Seconds() })
	return []ops.Collector{s}
}
