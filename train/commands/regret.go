package commands

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"

	"gonum.org/v1/gonum/stat"

	"blockyard/agents/bots"
	"blockyard/agents/match"
	"blockyard/datasets/program"
	"blockyard/env"
	"blockyard/train/games"
)

// A regret has the flags of "train regret". Its Run says how much agents lose in decisions whose actions have values,
// of a deeper search or of rollouts.
type regret struct {
	File      string   `arg:"" help:"Decisions whose actions have values." placeholder:"FILE"`
	Agents    []string `arg:"" optional:"" help:"Files of weights, or specs such as hand:ply=3." placeholder:"NET"`
	Make      string   `help:"Make FILE first: decisions of this game." placeholder:"GAME"`
	Seed      uint64   `needs:"make" help:"seed of the games." default:"1"`
	Workers   int      `help:"Decisions at once, of the same result. Default: one per core." placeholder:"N"`
	Teacher   string   `needs:"make !panel" help:"what values all actions." default:"learned:ply=4"`
	Positions int      `needs:"make" help:"how many. Default: 1200, of a panel 500." placeholder:"N"`
	Panel     bool     `needs:"make" help:"positions in which agents disagree, valued by rollouts."`
	Rollouts  int      `needs:"panel" help:"games that are played on from each action." default:"10000"`
	Policy    string   `needs:"panel" placeholder:"AGENT" help:"what plays them. Default: hand:ply=1."`
	Play      string   `needs:"panel" help:"what plays the games of the positions." default:"learned:ply=4"`
	Nominate  []string `needs:"panel" help:"who disagrees." sep:" " default:"hand learned learned:ply=3 learned:ply=4"`
}

// A lesson is a file of decisions whose actions a teacher has valued, or rollouts: a panel. Its first line of JSON has
// everything but the decisions, each of which is a further line.
type lesson struct {
	Game    string `json:"game"`
	Rules   int    `json:"rules"`
	Seed    uint64 `json:"seed"`
	Play    string `json:"play"` // what played the games
	Teacher string `json:"teacher,omitempty"`

	// Of a panel: the flags that it was made with.
	Nominate []string `json:"nominate,omitempty"`
	Policy   string   `json:"policy,omitempty"`
	Rollouts int      `json:"rollouts,omitempty"`

	decisions []valued
}

// A valued is one decision with values of actions: a teacher's of each legal one, or the chances of winning after the
// nominated ones, as the means of rollouts.
type valued struct {
	Number  int          `json:"number,omitempty"` // of the game that a position of a panel is from
	State   []byte       `json:"state"`            // env.Encode
	Seat    int          `json:"seat"`
	Actions []env.Action `json:"actions"`
	Values  []float32    `json:"values"`
	Errors  []float32    `json:"errors,omitempty"` // standard errors of Values
	Behind  []float32    `json:"behind,omitempty"` // standard errors of the differences from the best action
}

const mostRegret = 3 // what a choice that loses counts

func (c *regret) Run(ctx context.Context, con *program.Console) error {
	c.Workers = cmp.Or(c.Workers, runtime.GOMAXPROCS(0))
	if c.Positions == 0 {
		c.Positions = map[bool]int{true: 500, false: 1200}[c.Panel]
	}
	if c.Make != "" {
		if err := c.make(ctx, con); err != nil {
			return err
		}
	}
	l, g, err := readLesson(c.File)
	if err != nil || len(c.Agents) == 0 {
		return err
	}
	var first []float64
	out := tabwriter.NewWriter(con.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(out, "agent\tbest action\tother action\tregret\tagainst the first\t\n")
	bar := con.Progress(false, len(c.Agents)*len(l.decisions), "decisions")
	defer bar.Close()
	for _, name := range c.Agents {
		bar.Describe(name)
		list, err := l.judge(ctx, g, name, c.Workers, bar)
		if err != nil {
			return err
		}
		regrets := row(out, name, list, first)
		if first == nil {
			first = regrets
		}
	}
	bar.Close()
	return out.Flush()
}

// readLesson reads the decisions in a file, which must be of the present rules.
func readLesson(path string) (*lesson, *games.Game, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = file.Close() }()
	l, in := new(lesson), json.NewDecoder(file)
	err = in.Decode(l)
	for err == nil {
		var d valued
		if err = in.Decode(&d); err == nil {
			l.decisions = append(l.decisions, d)
		}
	}
	if len(l.decisions) == 0 || !errors.Is(err, io.EOF) {
		return nil, nil, fmt.Errorf("%s: not decisions with values, as --make makes them: %w", path, err)
	}
	g, err := games.Open(l.Game)
	if err == nil && l.Rules != g.Rules.Rules {
		err = fmt.Errorf("rules version %d of %s, want %d", l.Rules, l.Game, g.Rules.Rules)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return l, g, nil
}

// A verdict is what an agent's action in a decision is worth.
type verdict struct {
	regret float64
	best   bool // no action is better, or none by more than the noise of rollouts
	other  bool // the decision has no value of the action
}

// row writes what an agent's regrets are, and how they differ from those of the first agent.
func row(out io.Writer, name string, list []verdict, first []float64) (regrets []float64) {
	best, other := 0, 0
	for _, v := range list {
		regrets = append(regrets, v.regret)
		if v.best {
			best++
		}
		if v.other {
			other++
		}
	}
	all, share := match.MeanOf(regrets), 100/float64(len(list))
	fmt.Fprintf(out, "%s\t%.1f %%\t%.1f %%\t%.4f ± %.4f\t", name, share*float64(best), share*float64(other), all.Value,
		(all.High-all.Low)/2)
	if first != nil {
		apart := slices.Clone(regrets)
		for i, r := range first {
			apart[i] -= r
		}
		all = match.MeanOf(apart)
		fmt.Fprintf(out, "%+.4f ± %.4f\t", all.Value, (all.High-all.Low)/2)
	}
	fmt.Fprintln(out)
	return regrets
}

// judge returns a verdict about the action of an agent in each decision.
func (l *lesson) judge(
	ctx context.Context, g *games.Game, name string, workers int, bar program.Bar,
) ([]verdict, error) {
	spec := name
	if strings.HasSuffix(name, ".safetensors") && !strings.Contains(name, "weights=") {
		spec = "learned:weights=" + name
	}
	f, err := bots.New(g.Rules, bots.Own(spec))
	if err != nil {
		return nil, err
	}
	var p *panel
	if l.Teacher == "" {
		if p, err = newPanel(g.Rules, *l, bots.Foreign(l.Policy, nil)); err != nil {
			return nil, err
		}
	}
	one := func(ctx context.Context, i int) (v verdict, err error) {
		agent, err := f(env.Derive(1, uint64(i)))
		if err == nil {
			v, err = l.decisions[i].judge(ctx, g.Rules, agent, p)
		}
		if err != nil {
			err = fmt.Errorf("decision %d: %w", i, err)
		}
		return v, err
	}
	var list []verdict
	for v, err := range match.InOrder(ctx, workers, len(l.decisions), one) {
		if err != nil {
			return nil, err
		}
		list = append(list, v)
		_ = bar.Add(1) // a terminal that cannot be written to
	}
	return list, ctx.Err()
}

// judge returns by how much the action of an agent is worth less than the best one. Of an action without a value, the
// value is that of rollouts as p makes them, or, of a teacher, the worst.
func (d *valued) judge(ctx context.Context, g *env.Game, agent env.Agent, p *panel) (v verdict, err error) {
	s, scratch := g.New(g.MinSeats), g.New(g.MinSeats)
	if err := env.Decode(s, scratch, d.State); err != nil {
		return v, err
	}
	n := len(d.Actions)
	if n == 0 || len(d.Values) != n || p != nil && (len(d.Errors) != n || len(d.Behind) != n) ||
		d.Seat < 0 || !s.Acting().Has(d.Seat) {
		return v, fmt.Errorf("%d actions of seat %d and %d values", n, d.Seat, len(d.Values))
	}
	scratch.CopyFrom(s)
	a, err := agent.Act(ctx, scratch, d.Seat)
	if err != nil {
		return v, err
	}
	best, noise := slices.Index(d.Values, slices.Max(d.Values)), 1e-6
	worth := float64(slices.Min(d.Values))
	k := slices.Index(d.Actions, a)
	switch v.other = k < 0; {
	case !v.other:
		worth = float64(d.Values[k])
		if p != nil {
			noise = max(noise, 2*float64(d.Behind[k]))
		}
	case p != nil:
		results, err := p.rollouts().results(ctx, d, s, a, min(p.Rollouts, onDemand))
		if err != nil {
			return v, err
		}
		mean, deviation := stat.MeanStdDev(results, nil)
		worth, noise = mean, 2*math.Hypot(deviation/math.Sqrt(float64(len(results))), float64(d.Errors[best]))
	}
	v.regret = min(float64(d.Values[best])-worth, mostRegret)
	v.best = v.regret <= noise
	return v, nil
}
