package commands

import (
	"fmt"
	"os"
	"text/tabwriter"
	"time"

	"blockyard/train/cluster"
	"blockyard/train/cluster/scaling"
)

type clusterSimulate struct {
	Workers []int         `help:"Threads that play, several for a table." default:"1,2,4,8,16,64,256,1000"`
	Slots   int           `help:"Games side by side, as train selfplay --games." default:"64"`
	Ahead   int           `help:"Rollouts that may be played ahead: 4 with --backup, else 0." default:"4"`
	Group   int           `help:"Slots, or games, per task. 0: as many as the learner puts together."`
	Task    time.Duration `help:"Time of one rollout of one game." default:"3ms"`
	Size    int           `help:"Bytes of the result of one rollout of one game." default:"8000"`
	Handle  time.Duration `help:"Time of learner and broker per task." default:"500us"`
	PerSlot time.Duration `help:"And per slot of a task." default:"60us"`
	Fit     time.Duration `help:"Time of the learner per rollout." default:"4ms"`
	Between time.Duration `help:"Mean time between two failures of a worker. 0: never." default:"1h"`
	Away    time.Duration `help:"Time that a worker is gone after a failure." default:"1m"`
	AckWait time.Duration `help:"Time until a lost task goes to another worker." default:"10s"`
	Seed    uint64        `help:"Seed of the simulation." default:"1"`
	Count   int           `help:"Rollouts to simulate." default:"100"`
}

// Run prints a table of predictions.
func (c *clusterSimulate) Run() error {
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "workers\tslots per task\tspeedup\tefficiency\tlearner\tlost tasks\t")
	for _, n := range c.Workers {
		group := c.Group
		if group == 0 {
			group = min(c.Slots, cluster.SlotsPerTask(c.Slots, n, c.Task, c.Size))
		}
		p, err := scaling.Model{
			Workers: n, Slots: c.Slots, Group: group, Ahead: c.Ahead,
			Task: c.Task, Handle: c.Handle, PerSlot: c.PerSlot, Fit: c.Fit,
			Between: c.Between, Away: c.Away, AckWait: c.AckWait, Seed: c.Seed,
		}.Simulate(c.Count)
		if err != nil {
			return err
		}
		fmt.Fprintf(t, "%d\t%d\t%.1f\t%.0f %%\t%.0f %%\t%d\t\n",
			n, group, p.Speedup, 100*p.Efficiency, 100*min(1, p.Learner), p.Lost)
	}
	return t.Flush()
}
