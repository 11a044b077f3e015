package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"blockyard/agents/ops"
	"blockyard/train/cluster"
	"blockyard/train/selfplay"

	"github.com/alecthomas/kong"
)

// clusterFlags are the flags of a learner whose games are played by worker processes.
type clusterFlags struct {
	Cluster clusterFlag `help:"${cluster}" placeholder:"NATS://HOST:PORT" group:"Many machines"`
	Listen  string      `help:"${listen}" default:"127.0.0.1:4222" placeholder:"HOST:PORT" group:"Many machines"`
	TLSCert string      `name:"tls-cert" help:"${tls_cert}" placeholder:"FILE" group:"Many machines"`
	TLSKey  string      `name:"tls-key" help:"${tls_key}" placeholder:"FILE" group:"Many machines"`
	credentialFlags
}

// credentialFlags are the flags of every client of a broker.
type credentialFlags struct {
	Creds string `help:"${creds}" placeholder:"FILE" group:"Many machines"`
	TLSCA string `name:"tls-ca" help:"${tls_ca}" placeholder:"FILE" group:"Many machines"`
}

// A clusterFlag may have a value: the next argument, if it is an address.
type clusterFlag struct {
	on  bool
	url string
}

// IsBool lets the flag stand alone.
func (clusterFlag) IsBool() bool { return true }

// Decode implements kong.MapperValue.
func (f *clusterFlag) Decode(ctx *kong.DecodeContext) error {
	f.on = true
	next := ctx.Scan.Peek()
	text, _ := next.Value.(string)
	if next.Type == kong.FlagValueToken || strings.Contains(text, "://") {
		ctx.Scan.Pop()
		if f.url = text; !strings.Contains(text, "://") {
			return fmt.Errorf("%q: want an address such as nats://HOST:4222", text)
		}
	}
	return nil
}

// A learner is the cluster of a run; nil without one.
type learner struct {
	*cluster.Learner
	broker *cluster.Broker // nil for an external cluster
	dir    string          // of the broker
	nc     *cluster.Conn
}

// learner lets worker processes play for the run, if --cluster is given.
func (c *clusterFlags) learner(
	ctx context.Context, run *selfplay.Run, folder string, log *slog.Logger,
) (*learner, error) {
	if !c.Cluster.on {
		return nil, nil
	}
	l := &learner{dir: filepath.Join(folder, "broker")}
	link := cluster.Link{URL: c.Cluster.url, Creds: c.Creds, CA: c.TLSCA, Name: "blockyard learner"}
	if link.URL == "" {
		if err := l.embed(c, folder); err != nil {
			return nil, err
		}
		link.URL, link.Creds = l.broker.URL(), filepath.Join(folder, keyFile)
		link.Broker = l.broker
	}
	err := l.connect(ctx, run, link, folder, log)
	if err != nil {
		return nil, errors.Join(err, l.close(false))
	}
	run.Remote = l.Learner
	line := "train join " + link.URL
	if link.Creds != "" {
		line += " --creds " + link.Creds
	}
	if c.TLSCA != "" {
		line += " --tls-ca " + c.TLSCA
	}
	fmt.Printf("run %s waits for workers; on each machine: %s\n", l.Run(), line)
	return l, nil
}

// keyFile holds the key of the workers, in the folder of the run.
const keyFile = "worker.nk"

func (l *learner) embed(c *clusterFlags, folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	key, err := cluster.NewKey(filepath.Join(folder, keyFile))
	if err != nil {
		return err
	}
	l.broker, err = cluster.StartBroker(cluster.BrokerOptions{
		Listen: c.Listen, Dir: l.dir, Key: key, Cert: c.TLSCert, CertKey: c.TLSKey,
	})
	return err
}

func (l *learner) connect(
	ctx context.Context, run *selfplay.Run, link cluster.Link, folder string, log *slog.Logger,
) (err error) {
	if l.nc, err = cluster.Connect(link, log); err != nil {
		return err
	}
	l.Learner, err = cluster.NewLearner(ctx, l.nc, run, cluster.LearnerOptions{
		Folder: folder, Alone: l.broker != nil, Limits: cluster.DefaultLimits, Log: log,
	})
	return err
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
	var parts []string
	for _, w := range l.Workers() {
		parts = append(parts, fmt.Sprintf("%s %d", w.Name, w.Games))
	}
	if len(parts) == 0 {
		return "no workers yet"
	}
	return fmt.Sprintf("%d workers (%s games)", len(parts), strings.Join(parts, ", "))
}

// close gives the run back and prints who did what. finished says that the run is over.
func (l *learner) close(finished bool) error {
	if l == nil {
		return nil
	}
	var errs []error
	if l.Learner != nil {
		errs = append(errs, l.Close(finished))
		fmt.Print(cluster.Table(l.Workers()))
	}
	if l.nc != nil {
		l.nc.Close()
	}
	if l.broker != nil {
		errs = append(errs, l.broker.Close())
		if finished {
			errs = append(errs, os.RemoveAll(l.dir))
		}
	}
	return errors.Join(errs...)
}

// metrics are the state of the cluster as Prometheus reads it.
func (l *learner) metrics() []ops.Collector {
	if l == nil {
		return nil
	}
	s := ops.NewSet(l.Status)
	s.Gauge("blockyard_cluster_open_tasks", "Tasks that have no result yet.",
		func(s *cluster.Status) float64 { return float64(s.Open) })
	s.Gauge("blockyard_cluster_queued_tasks", "Tasks that no worker has yet.",
		func(s *cluster.Status) float64 { return float64(s.Queued) })
	s.Gauge("blockyard_cluster_unread_results", "Results that the learner has not taken yet: its lag.",
		func(s *cluster.Status) float64 { return float64(s.Unread) })
	s.Gauge("blockyard_cluster_workers", "Workers that were ever seen.",
		func(s *cluster.Status) float64 { return float64(len(s.Workers)) })
	perWorker := func(name, help string, value func(*cluster.WorkerRow) float64) {
		s.Counters("blockyard_cluster_"+name, help, []string{"worker"}, ops.PerName(
			func(s *cluster.Status) []cluster.WorkerRow { return s.Workers },
			func(w *cluster.WorkerRow) string { return w.Name }, value))
	}
	perWorker("tasks_total", "Results counted, by worker.",
		func(w *cluster.WorkerRow) float64 { return float64(w.Tasks) })
	perWorker("games_total", "Games that ended, by worker.",
		func(w *cluster.WorkerRow) float64 { return float64(w.Games) })
	perWorker("dropped_results_total", "Results that came late or twice, by worker.",
		func(w *cluster.WorkerRow) float64 { return float64(w.Dropped) })
	perWorker("busy_seconds_total", "Time of playing, of all goroutines of a worker.",
		func(w *cluster.WorkerRow) float64 { return w.Busy.Seconds() })
	return []ops.Collector{s}
}
