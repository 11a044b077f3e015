// Package commands is the command line of the program agents: a file per command, which calls other packages.
package commands

import (
	"context"
	"embed"
	"errors"
	"fmt"

	"github.com/alecthomas/kong"

	"blockyard/agents/bots"
	"blockyard/agents/fleet/broker"
	"blockyard/agents/match"
	"blockyard/agents/match/online"
	"blockyard/datasets/program"
	"blockyard/datasets/record"
	"blockyard/env"
)

// A table has the commands of the program, each with its flags, in the order of the help.
type table struct {
	program.Flag
	Arena      arenaCmd      `cmd:"" help:"Say which of two agents is stronger, by many paired games."`
	Ladder     ladderCmd     `cmd:"" help:"Rate any number of agents and programs by a round robin."`
	Play       playCmd       `cmd:"" help:"Play one game, to watch it or to record it."`
	Analyze    analyzeCmd    `cmd:"" help:"Say what the best moves of a recorded game were."`
	Tune       tuneCmd       `cmd:"" help:"Find weights for the hand-tuned baseline by playing games."`
	Sign       signCmd       `cmd:"" help:"Print hashes of agents' games: a change of play shows."`
	Bot        botCmd        `cmd:"" help:"Play in a contest by lines on standard input and output."`
	Host       hostCmd       `cmd:"" help:"Play a contest between programs in any language."`
	Tournament tournamentCmd `cmd:"" help:"Play a tournament between agents, programs and submissions."`
	League     leagueCmd     `cmd:"" help:"Play a contest that goes on (league GAME), whose entrants come and go."`
	Serve      online.Table  `cmd:"" help:"Run the server of a contest whose teams play over the network."`
	Bundle     bundleCmd     `cmd:"" help:"Write a contest bot as one self-contained source file."`
	Cage       cageCmd       `cmd:"" help:"Run any command contained, within limits."`
	Programs   programsCmd   `cmd:"" hidden:"" help:"Write the programs that bundle builds networks into."`
}

const about = `Play block games with agents and programs; measure which is strongest.

An AGENT is random, first (the first legal action), hand (the hand-tuned baseline) or learned
(with the trained network); some games have more. Options follow a colon, as in hand:ply=1
or learned:ply=3,width=8,weights=FILE,time=50ms,eps=0.1. exec:CMD is a program that speaks the
contest's protocol; an archive, source file or folder is compiled to one; FILE.py:NAME is a policy
of Python, policy:FILE a saved one (.zip of MaskablePPO, .onnx); human is you, in play.
NAME=AGENT gives an agent a name to show. The error for an unknown name lists the known ones.`

//go:embed help
var help embed.FS

// Main runs the command line of this process and returns its exit status.
func Main() int { return Program().Main() }

// Program returns the command line "agents", with flags for the options of every contest.
func Program() *program.Program {
	t := new(table)
	t.Host.contestFlags, t.Tournament.contestFlags = newContestFlags(false), newContestFlags(true)
	t.League.Play.contestFlags, t.League.Try.contestFlags = newContestFlags(true), newContestFlags(true)
	options := []kong.Option{broker.Helps, program.Longer(help), kong.Help(printHelp)}
	return &program.Program{Name: "agents", About: about, Commands: t, Options: options}
}

// A console is what a command reads and writes. Run methods may ask for it.
type console = program.Console

// An output is what a command that plays many games leaves behind besides its result.
type output struct {
	record string // file for the records of the games; empty for none
	log    string // folder of logs; empty for none
	seed   string // of all games
	quiet  bool   // no progress bar
}

// playGames calls play with the file of records, nil if none is wanted, and with a progress bar up to total games.
// play returns how many games it has completed. The file is kept if there is at least one, or no error; otherwise it
// is removed. run.json says how the records and logs were made. The end of ctx is no error.
func playGames(ctx context.Context, con *console, o output, total int,
	play func(*record.Writer, program.Bar) (int, error)) error {
	made := program.Begin("agents", o.seed)
	var file *record.Writer
	if o.record != "" {
		var err error
		if file, err = record.Create(o.record); err != nil {
			return err
		}
		defer file.Discard()
	}
	bar := con.Progress(o.quiet, total, "games")
	defer bar.Close()
	games, err := play(file, bar)
	if file != nil && (err == nil || games > 0) {
		if e := errors.Join(file.Close(), made.WriteBeside(o.record)); e != nil {
			return e
		}
	}
	if o.log != "" && games > 0 {
		if e := made.Close(o.log); e != nil {
			return e
		}
	}
	if o.log != "" && o.record == "" && !o.quiet {
		fmt.Fprintln(con.Err, program.Named("logs are for reading; "+
			"--record FILE writes games for agents analyze and datasets view"))
	}
	return match.IgnoreStop(ctx, err)
}

// contestants are a user's agents. Where programs start for every turn, a program comes before an agent of that name.
func contestants(g *env.Game, texts []string) (list []*bots.Agent, err error) {
	for k, text := range texts {
		a, err := bots.Parse(g, bots.Own(text))
		if bots.Of(g).Host.Open == nil && (err != nil || a.Kind == bots.Ours) {
			if p, e := bots.Parse(g, bots.Own("exec:"+text)); e == nil {
				p.Name = text
				a, err = p, nil
			}
		}
		if err != nil {
			return nil, fmt.Errorf("bot %d: %w", k+1, err)
		}
		list = append(list, a)
	}
	return list, nil
}

// factories returns what makes some agents; nil for a person, if persons may play. It compiles what has to be compiled;
// forget removes that, also after an error.
func factories(ctx context.Context, agents []*bots.Agent, persons bool) (
	makers []bots.Factory, forget func(), err error,
) {
	forget, err = bots.PrepareAll(ctx, agents...)
	for _, a := range agents {
		var f bots.Factory
		if err == nil && !(persons && a.Kind == bots.Human) {
			f, err = a.Factory()
		}
		if err != nil {
			return nil, forget, err
		}
		makers = append(makers, f)
	}
	return makers, forget, nil
}
