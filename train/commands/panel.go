package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"blockyard/agents/bots"
	"blockyard/agents/match"
	"blockyard/datasets/program"
	"blockyard/datasets/program/disk"
	"blockyard/env"
	"blockyard/train/games"
)

// A panel makes decisions with values, each from another game: those of a teacher, or positions in which agents
// disagree, by rollouts.
type panel struct {
	lesson
	rules   *env.Game
	policy  bots.Factory
	teacher bots.Text
	experts []bots.Factory // of Play, then of Nominate; nil for rollouts alone
}

const (
	panelStream = 0x70616e656c // separates the seeds of panels from those of training
	hopeless    = 300          // games in a row without a position, after which a panel is given up
	onDemand    = 1000         // rollouts, at most, of an action that the panel does not value
)

// newPanel returns a panel for rollouts alone. The text of its policy may be somebody else's.
func newPanel(g *env.Game, l lesson, policy bots.Text) (p *panel, err error) {
	p = &panel{lesson: l, rules: g}
	p.policy, err = bots.New(g, policy)
	return p, err
}

// panel returns the panel that the flags describe.
func (c *regret) panel() (p *panel, err error) {
	g, err := games.Open(c.Make)
	switch {
	case err != nil:
		return nil, err
	case g.Solo != nil || !c.Panel && g.Outcomes == 0:
		return nil, fmt.Errorf("--make %s: want a game of two seats, and without --panel a game with draws that a search "+
			"enumerates, such as blockbattle", c.Make)
	case c.Positions < 1 || c.Rollouts < 2 || c.Workers < 1:
		return nil, fmt.Errorf("--positions %d, --rollouts %d, --workers %d: want 1, 2 and 1 at least",
			c.Positions, c.Rollouts, c.Workers)
	case c.Policy == "" && g.Outcomes > 0:
		c.Policy = "hand:ply=1"
	case c.Policy == "":
		c.Policy = "hand:ply=1,eps=0.05"
	case g.Outcomes == 0 && !strings.Contains(c.Policy, "eps="):
		return nil, fmt.Errorf("--policy %s: nothing is drawn in %s, so that all its rollouts would be the same: "+
			"want an agent with chance, such as hand:ply=1,eps=0.05", c.Policy, c.Make)
	}
	l := lesson{Game: g.Rules.Name, Rules: g.Rules.Rules, Play: c.Play, Seed: c.Seed}
	if c.Panel {
		l.Nominate, l.Policy, l.Rollouts = c.Nominate, c.Policy, c.Rollouts
	} else {
		l.Teacher = c.Teacher
		l.Play, _, _ = strings.Cut(c.Teacher, ":")
	}
	if p, err = newPanel(g.Rules, l, bots.Own(c.Policy)); !c.Panel && err == nil {
		p.teacher = bots.Own(c.Teacher)
		_, err = bots.NewRanker(g.Rules, p.teacher)
	}
	for _, text := range append([]string{l.Play}, l.Nominate...) {
		f, failed := bots.New(g.Rules, bots.Own(text))
		p.experts, err = append(p.experts, f), errors.Join(err, failed)
	}
	return p, err
}

// make makes the file, or goes on with it, as far as it has not all its decisions.
func (c *regret) make(ctx context.Context, con *program.Console) (err error) {
	p, err := c.panel()
	if err != nil {
		return err
	}
	found, next := 0, 0
	file, err := p.open(c.File, func(d *valued) { found, next = found+1, d.Number+1 })
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if found >= c.Positions {
		return nil
	}
	bar := con.Progress(false, c.Positions, "positions")
	defer bar.Close()
	from, last := next, next
	for d, err := range match.InOrder(ctx, c.Workers, math.MaxInt32, func(ctx context.Context, i int) (*valued, error) {
		return p.position(ctx, from+i)
	}) {
		if err == nil && d != nil {
			err = file.Append(d)
		}
		switch next++; {
		case err != nil:
			return err
		case d == nil && next-last > hopeless:
			return fmt.Errorf("no position in %d games in which %s disagree: want others for --nominate",
				next-last, strings.Join(p.Nominate, ", "))
		case d != nil:
			found, last = found+1, next
			if bar.Set(found); found%10 == 0 || found == c.Positions {
				bar.Line("%d of %d positions, from %d games", found, c.Positions, next)
			}
		}
		if found == c.Positions {
			return nil
		}
	}
	return ctx.Err()
}

// open opens the file, or creates it, and calls each with its decisions.
func (p *panel) open(path string, each func(d *valued)) (*disk.Journal, error) {
	head, err := json.Marshal(p.lesson)
	if err != nil {
		return nil, err
	}
	lines := 0
	file, err := disk.OpenJournal(path, func(n int, line []byte) error {
		if lines++; n > 0 {
			var d valued
			err := json.Unmarshal(line, &d)
			each(&d)
			return err
		}
		if !bytes.Equal(line, head) {
			return fmt.Errorf("%.400s, want %s: name another file to make, or give the same flags to go on with this one",
				line, head)
		}
		return nil
	})
	if err == nil && lines == 0 {
		if err = file.Append(p.lesson); err != nil {
			err = errors.Join(err, file.Close())
		}
	}
	return file, err
}

// position returns the decision of game i: from a random step on, the first with values. It is nil if there is none.
func (p *panel) position(ctx context.Context, i int) (*valued, error) {
	seed, n := p.seed(i), p.rules.MinSeats
	player, err := p.experts[0](env.Derive(seed, 0))
	if err != nil {
		return nil, err
	}
	var game []env.State
	if _, err := match.Play(ctx, match.Game{
		Rules: p.rules, Seed: seed, Names: slices.Repeat([]string{p.Play}, n), Agents: slices.Repeat([]env.Agent{player}, n),
		Watch: func(s env.State, _ env.Moves) error {
			if s.Acting() != 0 {
				game = append(game, p.rules.New(n))
				game[len(game)-1].CopyFrom(s)
			}
			return nil
		},
	}); err != nil {
		return nil, err
	}
	var rand env.Rand
	rand.Seed(seed)
	view := p.rules.New(n)
	for _, s := range game[rand.Next()%uint64(len(game)):] {
		set := s.Acting()
		for k := rand.Next() % uint64(set.Len()); k > 0; k-- {
			set = set.Rest()
		}
		env.View(view, s, set.First(), rand.Next())
		state, err := env.Encode(nil, view)
		if err != nil {
			return nil, err
		}
		d := &valued{Number: i, State: state, Seat: set.First()}
		if p.Teacher != "" {
			err = p.rank(ctx, d, view)
		} else if err = p.nominate(ctx, d, view); err == nil && len(d.Actions) > 1 {
			err = p.value(ctx, d, view)
		}
		if err != nil || len(d.Values) > 1 {
			return d, err
		}
	}
	return nil, nil
}

// seed is what all of game i follows from.
func (p *panel) seed(i int) uint64 { return env.Derive(p.Seed^panelStream, uint64(i)) }

// rank sets the actions of d and their values by the teacher.
func (p *panel) rank(ctx context.Context, d *valued, s env.State) error {
	teacher, err := bots.NewRanker(p.rules, p.teacher)
	if err != nil {
		return err
	}
	list, err := teacher.Rank(ctx, s, d.Seat, env.None)
	for _, x := range list {
		d.Actions, d.Values = append(d.Actions, x.Action), append(d.Values, x.Value)
	}
	return err
}

// nominate sets the actions of d to those that the nominating agents choose in view.
func (p *panel) nominate(ctx context.Context, d *valued, view env.State) error {
	s := p.rules.New(view.SeatCount())
	for _, f := range p.experts[1:] {
		agent, err := f(1)
		if err != nil {
			return err
		}
		s.CopyFrom(view)
		a, err := agent.Act(ctx, s, d.Seat)
		if err != nil {
			return err
		}
		if !slices.Contains(d.Actions, a) {
			d.Actions = append(d.Actions, a)
		}
	}
	slices.Sort(d.Actions)
	return nil
}

// value sets the values of d's actions in s, and their standard errors; none if every rollout of them ends the same.
func (p *panel) value(ctx context.Context, d *valued, s env.State) error {
	r, results, best := p.rollouts(), make([][]float64, len(d.Actions)), 0
	for k, a := range d.Actions {
		var err error
		if results[k], err = r.results(ctx, d, s, a, p.Rollouts); err != nil {
			return err
		}
		mean, deviation := stat.MeanStdDev(results[k], nil)
		d.Values = append(d.Values, float32(mean))
		d.Errors = append(d.Errors, float32(deviation/math.Sqrt(float64(p.Rollouts))))
		if d.Values[k] > d.Values[best] {
			best = k
		}
	}
	for k := range d.Actions {
		apart := slices.Clone(results[k])
		for i := range apart {
			apart[i] -= results[best][i]
		}
		d.Behind = append(d.Behind, float32(stat.StdDev(apart, nil)/math.Sqrt(float64(p.Rollouts))))
	}
	if slices.Max(d.Behind) == 0 {
		d.Values = nil
	}
	return nil
}

// rollouts plays games to their end by the policy of a panel.
type rollouts struct {
	*panel
	state, view env.State
	draws       match.Draws
	agents      []env.Agent
}

func (p *panel) rollouts() *rollouts {
	n := p.rules.MinSeats
	return &rollouts{panel: p, state: p.rules.New(n), view: p.rules.New(n), agents: make([]env.Agent, n)}
}

// results are the chances of winning, 0, 0.5 or 1, that n rollouts of an action of d in s end with. Rollout k has the
// same draws and the same chance of its policy after every action.
func (r *rollouts) results(ctx context.Context, d *valued, s env.State, a env.Action, n int) ([]float64, error) {
	seed, out := r.seed(d.Number), make([]float64, n)
	for k := range out {
		if err := r.play(ctx, s, env.Derive(seed, uint64(k)+1), d.Seat, a); err != nil {
			return nil, err
		}
		out[k] = (1 + float64(r.state.Result(d.Seat))) / 2
	}
	return out, nil
}

// play plays a game from s to its end. The first action of seat is a, all others are the policy's.
func (r *rollouts) play(ctx context.Context, s env.State, seed uint64, seat int, a env.Action) (err error) {
	r.state.CopyFrom(s)
	r.draws.Seed = env.Derive(seed, uint64(len(r.agents)))
	for k := range r.agents {
		if r.agents[k], err = r.policy(env.Derive(seed, uint64(k))); err != nil {
			return err
		}
	}
	for step := 0; r.state.Acting() != 0; step++ {
		m := env.NoMoves
		for set := r.state.Acting(); set != 0; set = set.Rest() {
			at := set.First()
			if step == 0 && at == seat {
				m[at] = a
				continue
			}
			env.View(r.view, r.state, at, env.Derive(^seed, uint64(step)))
			if m[at], err = r.agents[at].Act(ctx, r.view, at); err != nil {
				return err
			}
		}
		r.draws.Step(r.rules, r.state, m, step)
	}
	return ctx.Err()
}
