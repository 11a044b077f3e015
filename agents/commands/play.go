package commands

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"blockyard/agents/bots"
	"blockyard/agents/match"
	"blockyard/agents/play/analyst"
	"blockyard/agents/play/human"
	"blockyard/agents/play/plugin"
	"blockyard/agents/play/webplay"
	"blockyard/datasets/program"
	"blockyard/datasets/program/web"
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/games"
)

// A playCmd has the flags of "agents play". Its Run plays one game, at a terminal, in a browser or by a library.
type playCmd struct {
	Game   string   `arg:"" help:"Name of the game."`
	Agent  []string `short:"a" sep:"none" xor:"a,b,p" placeholder:"AGENT" help:"Agent of the next seat; one plays all."`
	A      string   `name:"a" xor:"a,p1" placeholder:"AGENT" help:"Agent of the first seat; human is you, at a terminal."`
	B      string   `name:"b" xor:"b" needs:"a" placeholder:"AGENT" help:"agent of the other seats. Default: learned."`
	Seats  int      `xor:"p2" placeholder:"N" help:"Number of seats, if several are possible. Default: that of agents."`
	Seed   uint64   `default:"1" help:"Seed of the game."`
	Show   bool     `help:"Show every position as it is played."`
	Speed  *float64 `placeholder:"X" help:"WinTetris: speed of the clock; 1 is the rules', 0 none (--plugin only)."`
	Record string   `xor:"p3" placeholder:"FILE" help:"Append the game to this file. Default: played.jsonl with --web."`

	Pause time.Duration `default:"100ms" needs:"show !plugin" help:"Time between positions on a terminal."`

	Web bool `xor:"p4" help:"Play in a web browser: print the address of the page and serve it until interrupted."`
	web.PageFlags
	plugin.Flags
}

func (c *playCmd) Run(ctx context.Context, con *console) error {
	switch {
	case c.Plugin != "":
		games := plugin.Match{Flags: c.Flags, Game: c.Game, Seed: c.Seed, Show: c.Show, Speed: c.Speed, Record: c.Record}
		return games.Play(ctx, con)
	case c.Web:
		return c.web(ctx, con)
	}
	g, agents, err := c.match()
	if err != nil {
		return program.Usage(err)
	}
	makers, forget, err := factories(ctx, agents, true)
	defer forget()
	if err != nil {
		return program.Usage(err)
	}
	switch person := slices.ContainsFunc(makers, func(f bots.Factory) bool { return f == nil }); {
	case c.Speed != nil && !person:
		return program.Usage(errors.New("--speed is for a person or --plugin: --pause is the time between positions"))
	case c.Speed != nil && !human.InRealTime(g.Rules):
		return program.Usage(errors.New("--speed is for WinTetris in real time"))
	case c.Show && person:
		return program.Usage(errors.New("--show is for games of agents: a person sees every position without it"))
	}
	people := &people{cmd: c, con: con, player: human.Player{Game: g.Rules, Out: con.Out}, restore: func() {}}
	defer func() { people.restore() }()
	if g.Agents, err = match.Seated(makers, g.Names, c.Seed); err != nil {
		return err
	}
	defer match.Close(g.Agents)
	for seat, f := range makers {
		if f == nil {
			if g.Agents[seat], err = people.sit(); err != nil {
				return program.Usage(err)
			}
		}
	}
	if c.Show {
		g.Watch = c.watch(ctx, con.Out, g.Rules)
	}
	rec, err := match.Play(ctx, g)
	people.restore()
	if err != nil && !match.Stopped(err) && !errors.Is(err, human.ErrQuit) {
		return err
	}
	if err := record.AppendTo(c.Record, rec); err != nil {
		return err
	}
	return ending(con.Out, rec)
}

// match is the game that the flags describe, and the agents of its seats, which do not play yet.
func (c *playCmd) match() (m match.Game, agents []*bots.Agent, err error) {
	if _, a := bots.Alias(c.A); a == bots.Person {
		c.Game = human.GameFor(c.Game)
	}
	g, err := games.Open(c.Game)
	if err != nil {
		return m, nil, err
	}
	if c.A != "" {
		others := slices.Repeat([]string{cmp.Or(c.B, "learned")}, max(c.Seats, g.MinSeats)-1)
		c.Agent = append([]string{c.A}, others...)
	} else if len(c.Agent) == 0 {
		return m, nil, errors.New("missing flags: --a=AGENT, or --agent=AGENT for every seat")
	}
	names, seats := c.Agent, cmp.Or(c.Seats, max(len(c.Agent), g.MinSeats))
	if seats < g.MinSeats || seats > g.MaxSeats {
		return m, nil, fmt.Errorf("%s: %d seats, want %d to %d", g.Name, seats, g.MinSeats, g.MaxSeats)
	}
	if len(names) == 1 {
		names = slices.Repeat(names, seats)
	}
	if len(names) != seats {
		return m, nil, fmt.Errorf("%s: %d agents for %d seats", g.Name, len(names), seats)
	}
	m = match.Game{Rules: g, Seed: c.Seed}
	var a *bots.Agent
	for seat, name := range names {
		if seat == 0 || name != names[seat-1] { // the same agent is compiled once
			if a, err = bots.Parse(g, bots.Own(name)); err != nil {
				return m, nil, err
			}
		}
		m.Names, agents = append(m.Names, a.Recorded()), append(agents, a)
	}
	return m, agents, nil
}

// watch returns a function that shows each position, on a terminal in place, and the actions chosen in it.
func (c *playCmd) watch(ctx context.Context, w io.Writer, g *env.Game) func(env.State, env.Moves) error {
	var f env.Frame
	return func(s env.State, m env.Moves) error {
		f.Reset()
		s.Show(&f)
		for set := s.Acting(); set != 0; set = set.Rest() {
			seat, text := set.First(), "nothing"
			if m[seat] != env.None {
				text = g.Text(m[seat])
			}
			f.Note(fmt.Sprintf("seat %d plays %s", seat+1, text))
		}
		f.Note("") // an empty line
		if err := human.Show(w, &f, false, program.Terminal(w)); err != nil || !program.Terminal(w) {
			return err
		}
		return program.Sleep(ctx, c.Pause)
	}
}

func ending(w io.Writer, rec *record.Record) error {
	var b strings.Builder
	if rec.Stopped {
		b.WriteString("stopped early\n")
	}
	for seat, name := range rec.Agents {
		fmt.Fprintf(&b, "seat %d  score %d  result %+g  %s\n", seat+1, rec.Scores[seat], rec.Results[seat], name)
	}
	fmt.Fprintf(&b, "%s, seed %d, %d choices\n", rec.Game, rec.Seed, len(rec.Choices))
	_, err := io.WriteString(w, b.String())
	return err
}

// people are the persons of a game, who share one terminal.
type people struct {
	cmd     *playCmd
	con     *console
	player  human.Player // has Keys if there is a person
	restore func()       // gives the terminal back; may be called again
}

func (c *playCmd) humanSpeed() (float64, error) {
	speed := *cmp.Or(c.Speed, new(1.))
	if !(speed > 0 && speed <= 1000) {
		return 0, fmt.Errorf("--speed %g: want more than 0 for a person, at most 1000", speed)
	}
	return speed, nil
}

// sit returns the agent of a person. The first one makes the terminal pass on single keys.
func (p *people) sit() (env.Agent, error) {
	speed, err := p.cmd.humanSpeed()
	if err == nil && p.player.Keys == nil {
		err = p.open()
	}
	switch ticks := human.InRealTime(p.player.Game); {
	case err != nil:
		return nil, err
	case ticks && !p.player.Raw:
		return nil, errors.New("WinTetris is played with keys, in real time: this needs a terminal")
	case ticks:
		return p.player.Ticker(speed), nil
	}
	return &p.player, nil
}

func (p *people) open() error {
	if program.Terminal(p.con.In) && program.Terminal(p.con.Out) {
		fd := int(p.con.In.(*os.File).Fd())
		old, err := term.MakeRaw(fd)
		if err != nil {
			return err
		}
		p.restore = sync.OnceFunc(func() {
			_ = term.Restore(fd, old)
			fmt.Fprintln(p.con.Out)
		})
		p.player.Raw, p.player.Colour = true, os.Getenv("NO_COLOR") == ""
		p.player.Out = program.Raw(p.con.Out)
	}
	p.player.Keys = human.NewKeys(p.con.In, p.player.Raw)
	return nil
}

func (c *playCmd) web(ctx context.Context, con *console) error {
	t, forget, err := c.table(ctx)
	defer forget()
	if err != nil {
		return program.Usage(err)
	}
	token := rand.Text() // cannot be guessed
	listener, err := web.Listen(c.Listen, "/#"+token, c.Open, con.Out, con.Err)
	if err != nil {
		return err
	}
	fmt.Fprintf(con.Err, "games are appended to %s; Ctrl-C ends\n", c.Record)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	served := make(chan error, 1)
	go func() {
		defer stop()
		served <- web.Serve(ctx, listener, webplay.NewServer(t, token), web.Limits{Names: c.Names})
	}()
	err = t.Run(ctx)
	stop()
	return errors.Join(err, <-served)
}

// table is the game of the flags. forget removes what its agents were compiled to, also after an error.
func (c *playCmd) table(ctx context.Context) (t *webplay.Table, forget func(), err error) {
	forget = func() {}
	if c.Show {
		return nil, forget, errors.New("--show is for the terminal: leave it out with --web")
	}
	if c.A == "" && c.B == "" && len(c.Agent) == 0 {
		c.A = bots.Person
	}
	c.Record = cmp.Or(c.Record, "played.jsonl")
	m, agents, err := c.match()
	if err != nil {
		return nil, forget, err
	}
	speed, err := c.humanSpeed()
	if err != nil || c.Speed != nil && !human.InRealTime(m.Rules) {
		return nil, forget, cmp.Or(err, errors.New("--speed is for WinTetris in real time"))
	}
	if err := record.Appendable(c.Record); err != nil {
		return nil, forget, fmt.Errorf("the games could not be recorded: name another file (--record): %w", err)
	}
	makers, forget, err := factories(ctx, agents, true)
	if err != nil {
		return nil, forget, err
	}
	t = &webplay.Table{
		Rules: m.Rules, Seed: c.Seed, Names: m.Names, Analyst: new(analyst.Analyst), File: c.Record, Speed: speed,
		Record: func(rec *record.Record) error { return record.AppendTo(c.Record, rec) },
		Agents: func(seed uint64) ([]env.Agent, error) { return match.Seated(makers, m.Names, seed) },
	}
	for seat, f := range makers {
		if f == nil {
			t.Persons |= 1 << seat
		}
	}
	if t.Persons == 0 {
		return nil, forget, fmt.Errorf("--web without a person: name %s as the agent of a seat, or watch records with "+
			"datasets view --web", bots.Person)
	}
	return t, forget, nil
}
