package commands

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"

	"blockyard/agents/bots"
	"blockyard/env"
	"blockyard/env/games"
	"blockyard/rpc/server"
)

// A cost is what a decision of an opponent takes.
type cost struct {
	Game     string  `json:"game"`
	Opponent string  `json:"opponent"` // a spec
	Micros   float64 `json:"us"`       // CPU time per decision, in microseconds
	Relative float64 `json:"relative"` // to random
}

// opponents measures the opponents of the flag's game, or of every game.
func (c *benchCmd) opponents(ctx context.Context) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // the CPU time is then that of the agents
	measured := games.All
	if c.Game != "" {
		g, err := games.Lookup(c.Game)
		if err != nil {
			return err
		}
		measured = []*env.Game{g}
	}
	out := report{json: c.JSON, w: os.Stdout}
	out.head("CPU time per decision of an opponent that plays itself, median of the bursts",
		"game\topponent\tµs per decision\ttimes random\t")
	for _, g := range measured {
		if c.Game == "" && strings.Contains(g.Name, ":") {
			continue // a variant costs about the same
		}
		random := 0.0
		for _, spec := range specs(g) {
			var bursts []float64
			for round := range c.Rounds {
				t, err := c.decisions(ctx, g, spec, env.Derive(c.Seed, uint64(round)))
				if err != nil {
					return err
				}
				bursts = append(bursts, t)
			}
			micros := 1e6 * quantile(bursts, 0.5)
			if random == 0 {
				random = micros
			}
			out.row(cost{g.Name, spec, micros, micros / random}, "%s\t%s\t%.2f\t%.1f", g.Name, spec, micros, micros/random)
		}
	}
	return out.flush()
}

// specs lists the opponents of g, random first, each with its cheapest search before the one it has by default.
func specs(g *env.Game) (all []string) {
	for _, name := range bots.Names(g) {
		for _, options := range []string{":ply=1", ":depth=1,width=1"} {
			if _, err := bots.New(g, bots.Foreign(name+options, nil)); err == nil {
				all = append(all, name+options)
			}
		}
		all = append(all, name)
	}
	return all
}

// fewest is the number of decisions that a burst has at least: a game of Blocking, whose openings cost most.
const fewest = 40

// decisions lets agents of one spec play each other for the duration of a burst, and returns the CPU seconds per
// decision. That includes what the server does for each: the agent's view of the position, and the check that its
// action is legal. Stepping the games is not part of it: the same steps without agents are subtracted.
func (c *benchCmd) decisions(ctx context.Context, g *env.Game, spec string, seed uint64) (float64, error) {
	factory, err := bots.New(g, bots.Foreign(spec, nil))
	if err != nil {
		return 0, err
	}
	begun, err := server.CPU()
	if err != nil {
		return 0, err
	}
	p := selfPlay{game: g, state: g.New(g.MinSeats), view: g.New(g.MinSeats), factory: factory}
	p.begin(seed)
	end, chunk := begun, 1 // steps between two readings of the clock
	for end-begun < c.Burst || p.decisions < fewest {
		for range chunk {
			if err := p.step(ctx); err != nil {
				return 0, fmt.Errorf("%s: %s: %w", g.Name, spec, err)
			}
		}
		if end, err = server.CPU(); err != nil {
			return 0, err
		}
		if end-begun < c.Burst/16 {
			chunk *= 2
		}
	}
	p.begin(seed)
	p.replay()
	after, err := server.CPU()
	return ((end - begun) - (after - end)).Seconds() / float64(p.decisions), err
}

// A selfPlay plays games in which every seat has an agent of one kind.
type selfPlay struct {
	game        *env.Game
	factory     bots.Factory
	seed        uint64 // of the games and agents
	state, view env.State
	agents      []env.Agent
	legal       []env.Action
	moves       []env.Moves // of all games, in order
	decisions   int
}

// step plays one step, of a new game if the last one is over.
func (p *selfPlay) step(ctx context.Context) error {
	if p.state.Acting() == 0 {
		p.begin(env.Mix(p.seed))
	}
	if len(p.agents) == 0 {
		for seat := range p.game.MinSeats {
			a, err := p.factory(p.seed + uint64(seat))
			if err != nil {
				return err
			}
			p.agents = append(p.agents, a)
		}
	}
	m := env.NoMoves
	for set := p.state.Acting(); set != 0; set = set.Rest() {
		seat := set.First()
		env.View(p.view, p.state, seat, uint64(p.decisions))
		a, err := p.agents[seat].Act(ctx, p.view, seat)
		if err != nil {
			return err
		}
		p.legal = p.state.Legal(seat, p.legal[:0])
		m[seat] = a
		p.decisions++
	}
	p.state.Step(m)
	p.moves = append(p.moves, m)
	return nil
}

// begin starts a game.
func (p *selfPlay) begin(seed uint64) {
	p.seed, p.agents = seed, p.agents[:0]
	p.state.Reset(seed)
}

// replay steps the same games again, without agents.
func (p *selfPlay) replay() {
	for _, m := range p.moves {
		if p.state.Acting() == 0 {
			p.begin(env.Mix(p.seed))
		}
		p.state.Step(m)
	}
}
