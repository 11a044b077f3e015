package commands

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"blockyard/agents/bots"
	"blockyard/agents/match"
	"blockyard/datasets/program"
	"blockyard/datasets/program/disk"
	"blockyard/env"
	"blockyard/train/games"
)

// A regret has the flags of "train regret". Its Run says how much agents lose in decisions that a deeper search has
// valued.
type regret struct {
	File      string   `arg:"" help:"Decisions of a teacher." placeholder:"FILE"`
	Agents    []string `arg:"" optional:"" help:"Files of weights, or specs such as hand:ply=3." placeholder:"NET"`
	Make      string   `help:"Make FILE first: decisions of this game, of seats that act at once." placeholder:"GAME"`
	Teacher   string   `needs:"make" help:"the agent that values all actions of a decision." default:"learned:ply=4"`
	Decisions int      `needs:"make" help:"how many." default:"1200"`
	Seed      uint64   `needs:"make" help:"seed of the games." default:"1"`
}

// A lesson is a file of decisions whose actions a teacher has valued.
type lesson struct {
	Game      string   `json:"game"`
	Rules     int      `json:"rules"`
	Teacher   string   `json:"teacher"`
	Decisions []valued `json:"decisions"`
}

// A valued is one decision with the teacher's value of each legal action, as a line of JSON.
type valued struct {
	State   []byte       `json:"state"` // env.Encode
	Seat    int          `json:"seat"`
	Actions []env.Action `json:"actions"`
	Values  []float32    `json:"values"`
}

const (
	asked      = 10 // a teacher is asked about one of so many decisions of a game
	mostRegret = 3  // what a choice that loses counts
)

func (c *regret) Run(ctx context.Context, con *program.Console) error {
	if c.Make != "" {
		if err := c.make(ctx, con); err != nil {
			return err
		}
	}
	text, err := os.ReadFile(c.File)
	if err != nil {
		return err
	}
	l := new(lesson)
	if err := json.Unmarshal(text, l); err != nil {
		return fmt.Errorf("%s: not decisions of a teacher: %w", c.File, err)
	}
	g, err := games.Open(l.Game)
	if err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	if l.Rules != g.Rules.Rules {
		return fmt.Errorf("%s: rules version %d of %s, want %d", c.File, l.Rules, l.Game, g.Rules.Rules)
	}
	var first []float64
	out := tabwriter.NewWriter(con.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(out, "agent\tbest action\tregret\tagainst the first\t\n")
	bar := con.Progress(false, len(c.Agents)*len(l.Decisions), "decisions")
	defer bar.Close()
	for _, name := range c.Agents {
		bar.Describe(name)
		regrets, err := l.judge(ctx, g, name, bar)
		if err != nil {
			return err
		}
		l.row(out, name, regrets, first)
		if first == nil {
			first = regrets
		}
	}
	bar.Close()
	return out.Flush()
}

// row writes what an agent's regrets are, and how they differ from those of the first agent.
func (l *lesson) row(out io.Writer, name string, regrets, first []float64) {
	best := 0
	for _, r := range regrets {
		if r <= 1e-6 {
			best++
		}
	}
	all := match.MeanOf(regrets)
	fmt.Fprintf(out, "%s\t%.1f %%\t%.4f ± %.4f\t", name, 100*float64(best)/float64(max(1, len(regrets))),
		all.Value, (all.High-all.Low)/2)
	if first != nil {
		apart := slices.Clone(regrets)
		for i, r := range first {
			apart[i] -= r
		}
		all = match.MeanOf(apart)
		fmt.Fprintf(out, "%+.4f ± %.4f\t", all.Value, (all.High-all.Low)/2)
	}
	fmt.Fprintln(out)
}

// judge returns how much less each choice of an agent is worth to the teacher than the best one.
func (l *lesson) judge(ctx context.Context, g *games.Game, name string, bar program.Bar) ([]float64, error) {
	spec := name
	if strings.HasSuffix(name, ".safetensors") {
		spec = "learned:weights=" + name
	}
	f, err := bots.New(g.Rules, bots.Own(spec))
	if err != nil {
		return nil, err
	}
	agent, err := f(1)
	if err != nil {
		return nil, err
	}
	s, scratch := g.Rules.New(g.Rules.MinSeats), g.Rules.New(g.Rules.MinSeats)
	var regrets []float64
	for i, d := range l.Decisions {
		if err := env.Decode(s, scratch, d.State); err != nil {
			return nil, fmt.Errorf("decision %d: %w", i, err)
		}
		if len(d.Actions) == 0 || len(d.Values) != len(d.Actions) || d.Seat < 0 || !s.Acting().Has(d.Seat) {
			return nil, fmt.Errorf("decision %d: %d actions of seat %d and %d values", i, len(d.Actions), d.Seat, len(d.Values))
		}
		a, err := agent.Act(ctx, s, d.Seat)
		if err != nil {
			return nil, err
		}
		worth := slices.Min(d.Values) // of an action that the teacher did not value
		if k := slices.Index(d.Actions, a); k >= 0 {
			worth = d.Values[k]
		}
		_ = bar.Add(1) // a terminal that cannot be written to
		regrets = append(regrets, float64(min(slices.Max(d.Values)-worth, mostRegret)))
	}
	return regrets, nil
}

// make writes decisions of games that the teacher's evaluator plays against itself two plies deep.
func (c *regret) make(ctx context.Context, con *program.Console) error {
	g, err := games.Open(c.Make)
	if err != nil {
		return err
	}
	if g.Outcomes < 1 || c.Decisions < 1 {
		return fmt.Errorf("%d decisions of %s: want some, of a game with draws that a search enumerates", c.Decisions, c.Make)
	}
	teacher, err := bots.NewRanker(g.Rules, bots.Own(c.Teacher))
	if err != nil {
		return err
	}
	name, _, _ := strings.Cut(c.Teacher, ":")
	f, err := bots.New(g.Rules, bots.Own(name))
	if err != nil {
		return err
	}
	player, err := f(1)
	if err != nil {
		return err
	}
	l := lesson{Game: g.Rules.Name, Rules: g.Rules.Rules, Teacher: c.Teacher}
	done := func(env.State) bool { return len(l.Decisions) >= c.Decisions }
	bar := con.Progress(false, c.Decisions, "decisions")
	defer bar.Close()
	var rand env.Rand
	rand.Seed(c.Seed)
	view := g.Rules.New(g.Rules.MinSeats)
	ask := func(s env.State, _ env.Moves) error {
		for set := s.Acting(); set != 0 && !done(s); set = set.Rest() {
			if rand.Next()%asked != 0 {
				continue
			}
			env.View(view, s, set.First(), rand.Next())
			position, err := env.Encode(nil, view)
			if err != nil {
				return err
			}
			list, err := teacher.Rank(ctx, view, set.First(), env.None)
			if err != nil {
				return err
			}
			d := valued{State: position, Seat: set.First()}
			for _, x := range list {
				d.Actions, d.Values = append(d.Actions, x.Action), append(d.Values, x.Value)
			}
			if len(d.Actions) > 1 {
				l.Decisions = append(l.Decisions, d)
				bar.Set(len(l.Decisions))
			}
		}
		return nil
	}
	for n := g.Rules.MinSeats; !done(nil); {
		if _, err := match.Play(ctx, match.Game{
			Rules: g.Rules, Seed: rand.Next(), Names: slices.Repeat([]string{name}, n),
			Agents: slices.Repeat([]env.Agent{player}, n), Watch: ask, Enough: done,
		}); err != nil {
			return err
		}
	}
	return disk.Write(c.File, 0o644, func(out io.Writer) error { return json.NewEncoder(out).Encode(l) })
}
