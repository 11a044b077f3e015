package commands

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/term"

	"blockyard/agents/bots"
	"blockyard/agents/play/analyst"
	"blockyard/agents/play/human"
	"blockyard/agents/play/webplay"
	"blockyard/datasets/program"
	"blockyard/datasets/program/web"
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/wintetris"
)

type people struct {
	cmd     *playCmd
	con     *console
	player  human.Player // has Keys if there is a person
	restore func()       // gives the terminal back; may be called again
}

func (c *playCmd) humanSpeed() (float64, error) {
	if c.Speed == nil {
		return 1, nil
	}
	if !(*c.Speed > 0 && *c.Speed <= 1000) {
		return 0, fmt.Errorf("--speed %g: want more than 0 for a person, at most 1000", *c.Speed)
	}
	return *c.Speed, nil
}

// sit returns the agent of a person. The first one makes the terminal pass on single keys.
func (p *people) sit() (env.Agent, error) {
	speed, err := p.cmd.humanSpeed()
	if err == nil && p.player.Keys == nil {
		err = p.open()
	}
	switch ticks := p.player.Game.Name == wintetris.TickGame.Name; {
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
		p.player.Out = program.Raw{To: p.con.Out}
	}
	p.player.Keys = human.NewKeys(p.con.In, p.player.Raw)
	return nil
}

type webFlags struct {
	Web    bool   `help:"Play in a web browser: print the address of the page and serve it until interrupted."`
	Listen string `placeholder:"HOST:PORT" help:"Address for --web; port 0 selects a free port. Default: 127.0.0.1:0."`
	Open   bool   `help:"With --web: open the page in the default browser."`
}

// played is the file in which games of --web are recorded by default.
const played = "played.jsonl"

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
		served <- web.Serve(ctx, listener, webplay.NewServer(t, token), web.Limits{})
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
	if c.Listen == "" {
		c.Listen = "127.0.0.1:0"
	}
	if c.Record == "" {
		c.Record = played
	}
	m, agents, err := c.match()
	if err != nil {
		return nil, forget, err
	}
	speed, err := c.humanSpeed()
	if err != nil || c.Speed != nil && m.Rules.Name != wintetris.TickGame.Name {
		return nil, forget, cmp.Or(err, errors.New("--speed is for WinTetris in real time"))
	}
	makers, forget, err := factories(ctx, agents, true)
	if err != nil {
		return nil, forget, err
	}
	t = &webplay.Table{
		Rules: m.Rules, Seed: c.Seed, Names: m.Names, Analyst: new(analyst.Analyst), File: c.Record, Speed: speed,
		Record: func(rec *record.Record) error { return appendTo(c.Record, rec) },
		Agents: func(seed uint64) ([]env.Agent, error) { return seated(makers, m.Names, seed) },
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
