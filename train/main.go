// Command train trains nets that evaluate positions and choices.
//
//	go run ./train selfplay blockbattle    train a net by self-play
//	go run ./train fit FILE...             fit a net to recorded games
//	go run ./train gate A B                play two agents against each other
//	go run ./train export blockbattle      write a net as a contest bot in one source file
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"blockyard/agents/submit"
	"blockyard/env/games"
	"blockyard/train/task"

	"github.com/alecthomas/kong"
)

type program struct {
	Selfplay selfplayCmd `cmd:"" help:"Train a net by self-play."`
	Fit      fit         `cmd:"" help:"Fit a net to recorded games."`
	Gate     gate        `cmd:"" help:"Play two agents against each other in pairs of games and report which is better."`
	Export   export      `cmd:"" help:"Write a net as a contest bot in one source file."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var p program
	k := kong.Parse(&p, kong.Name("train"), kong.UsageOnError(), kong.BindTo(ctx, (*context.Context)(nil)), helps,
		kong.Description("Train nets by self-play or from records. Every command takes --help."))
	err := k.Run()
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "train:", err)
		os.Exit(1)
	}
}

// subject finds the game to train on.
func subject(name string) (*task.Game, error) {
	g, err := games.Lookup(name)
	if err != nil {
		return nil, err
	}
	return task.Of(g)
}

// errSolo refuses a command that is for games of several seats.
func errSolo(g *task.Game) error {
	return fmt.Errorf("%[1]s has one seat: train it with train selfplay %[1]s, "+
		"compare agents with agents arena %[1]s --a AGENT --b AGENT", g.Rules.Name)
}

type export struct {
	submit.Export
	Out string `help:"Source file to write." default:"bot.go" placeholder:"FILE"`
}

// Run implements the command.
func (c *export) Run(ctx context.Context) error {
	bot, err := c.Bot(false)
	if err != nil {
		return err
	}
	report, err := c.Write(ctx, bot, c.Out)
	if err == nil {
		fmt.Print(report)
	}
	return err
}
