package commands

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"

	"blockyard/agents/bots"
	"blockyard/agents/play/human"
	"blockyard/datasets/program"
	"blockyard/env"
	"blockyard/env/wintetris"
)

// isPerson reports whether the text of an agent is a person, with an alias or without.
func isPerson(text string) bool {
	_, agent := bots.Alias(text)
	return agent == bots.Person
}

// people are the persons of a game, who share a terminal.
type people struct {
	cmd     *playCmd
	con     *console
	player  human.Player // has Keys if there is a person
	restore func()       // gives the terminal back; may be called again
}

// humanSpeed is the speed of a person's clock.
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
		p.player.Out = carriage{p.con.Out}
	}
	p.player.Keys = human.NewKeys(p.con.In, p.player.Raw)
	return nil
}

// carriage adds the carriage returns that a terminal needs that passes on single keys.
type carriage struct{ w io.Writer }

// Write implements io.Writer.
func (c carriage) Write(b []byte) (int, error) {
	if _, err := io.WriteString(c.w, strings.ReplaceAll(string(b), "\n", "\r\n")); err != nil {
		return 0, err
	}
	return len(b), nil
}
