package commands

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"blockyard/agents/fleet"
	"blockyard/agents/fleet/broker"
	"blockyard/datasets/program/ops"
	"blockyard/train/cluster"
	"blockyard/train/selfplay"
)

// startLearner lets worker processes play for the run, if --cluster is given; otherwise the session is nil.
func startLearner(
	ctx context.Context, flags *broker.Flags, verify float64, run *selfplay.Run, folder string, log *slog.Logger,
) (*fleet.Session, error) {
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
	l, err := cluster.NewLearner(ctx, site, run, cluster.LearnerOptions{
		Folder: folder, Limits: fleet.DefaultLimits, Verify: verify, Log: log,
	})
	if err != nil {
		return nil, errors.Join(err, site.Close(false))
	}
	run.Remote = l
	fmt.Printf("run %s waits for workers; on each machine: %s\n", l.Run(), site.Join)
	return &fleet.Session{Server: l.Server, Site: site, Out: os.Stdout}, nil
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
