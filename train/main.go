// Command train teaches a value net to play.
//
//	go run ./train selfplay blockbattle    play, fit, gate, again
//	go run ./train fit FILE...             fit a net to recorded games
//	go run ./train gate A B                let two players meet in pairs of games
//	go run ./train export blockbattle      a net as a contest bot in one source file
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"blockyard/env"
	"blockyard/env/games"
	"blockyard/train/task"

	"github.com/alecthomas/kong"
)

// subjects are the games a net can be trained on.
var subjects = []*task.Game{
	task.BlockBattle,
	task.TetrisDuel,
	task.Blocking,
	task.WinTetris,
	task.Dropblox,
}

type program struct {
	Selfplay selfplayCmd `cmd:"" help:"Train a net by self-play."`
	Fit      fit         `cmd:"" help:"Fit a net to recorded games."`
	Gate     gate        `cmd:"" help:"Let two players meet in pairs of games and say which is better."`
	Export   export      `cmd:"" help:"Write a net as a contest bot in one source file."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var p program
	k := kong.Parse(&p, kong.Name("train"), kong.UsageOnError(), kong.BindTo(ctx, (*context.Context)(nil)), helps,
		kong.Description("Teach a value net to play. Every command takes --help."))
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
	return subjectOf(g)
}

func subjectOf(g *env.Game) (*task.Game, error) {
	var known []string
	for _, s := range subjects {
		if s.Rules == g {
			return s, nil
		}
		known = append(known, s.Rules.Name)
	}
	return nil, fmt.Errorf("%s: %w; there are %s", g.Name, errNoSubject, strings.Join(known, ", "))
}

// errSolo refuses what is for games with a result.
func errSolo(g *task.Game) error {
	return fmt.Errorf("%[1]s has one seat: train it with train selfplay %[1]s, "+
		"compare agents with agents arena %[1]s --a AGENT --b AGENT", g.Rules.Name)
}

var errNoSubject = errors.New("there is nothing to train for this game")
