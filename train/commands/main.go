// Package commands is the command line of the program train: a file per command.
package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"

	"github.com/alecthomas/kong"

	"blockyard/agents/bots"
	"blockyard/agents/fleet/broker"
	"blockyard/agents/fleet/matches"
	"blockyard/agents/match"
	"blockyard/agents/submit"
	interrupt "blockyard/datasets/program"
	release "blockyard/datasets/program"
	atomicfile "blockyard/datasets/program/disk"
	"blockyard/datasets/program/ops"
	"blockyard/datasets/program/provenance"
	"blockyard/env/games"
	task "blockyard/train/games"
)

type program struct {
	release.Flag
	Selfplay selfplayCmd `cmd:"" help:"Train a network by self-play."`
	Join     join        `cmd:"" help:"Play for a run or a match with --cluster, on this machine or another."`
	Cluster  clusterCmd  `cmd:"" help:"Look at the runs of a broker, or predict the speed of one."`
	Curves   curves      `cmd:"" help:"Draw the scores of several runs in one picture, over the CPU time of training."`
	Fit      fit         `cmd:"" help:"Fit a network to recorded games."`
	Merge    merge       `cmd:"" help:"Make one network of several: their mean."`
	Distill  distillCmd  `cmd:"" help:"Make a small network of a large one, or of several."`
	Gate     gate        `cmd:"" help:"Play two agents against each other in pairs of games and report which is better."`
	Export   export      `cmd:"" help:"Write a network as a contest bot in one source file, or as an ONNX model."`
	Import   importCmd   `cmd:"" help:"Read a network from an ONNX model."`
}

// Main runs the command line of this process and returns its exit status.
func Main() int {
	ctx, stop := interrupt.Context()
	defer stop()
	defer reserve()()
	var p program
	name := release.Program("train")
	k := kong.Parse(&p, kong.Name(name), release.Vars(name, release.Read()), release.Help(), kong.UsageOnError(),
		kong.BindTo(ctx, (*context.Context)(nil)), broker.Helps, helps,
		kong.Description("Train networks by self-play or from records. Every command takes --help."))
	err := k.Run()
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, name+":", err)
		return 1
	}
	return 0
}

// subject finds the game to train on.
func subject(name string) (*task.Game, error) {
	g, err := games.Open(name)
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
	Out  string `help:"Source file to write." default:"bot.go" placeholder:"FILE"`
	ONNX string `name:"onnx" help:"Instead of a bot, write the network as an ONNX model; of any game." placeholder:"FILE"`
}

func (c *export) Run(ctx context.Context) error {
	if c.ONNX != "" {
		if c.Zip || c.Ply != 0 {
			return errors.New("--onnx writes the net alone: leave out --zip and --ply, which are for a bot")
		}
		return exportONNX(c.Game, c.Weights, c.ONNX)
	}
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

type gate struct {
	A, B    string        `arg:"" help:"Agents: a weights file, 'learned' for the shipped one, or 'hand' for the baseline."`
	Game    string        `help:"Game to play." default:"blockbattle"`
	Ply     int           `help:"Plies that both search." default:"2"`
	Pairs   int           `help:"Pairs of games: each seed is played twice, with the seats swapped." default:"200"`
	Seed    uint64        `help:"Seed of the games." default:"1000"`
	Out     string        `help:"Also write the result to this file, as a line of JSON." placeholder:"FILE"`
	Workers int           `help:"Games played at once; they do not influence the outcome. 0: one per core." default:"0"`
	Remote  matches.Flags `embed:""`
	ops.LogFlags
}

func (c *gate) Run(ctx context.Context) error {
	g, err := subject(c.Game)
	if err != nil {
		return err
	}
	if g.Solo != nil {
		return errSolo(g)
	}
	if c.Workers < 1 {
		c.Workers = runtime.GOMAXPROCS(0)
	}
	made := provenance.Begin("train", strconv.FormatUint(c.Seed, 10))
	t := match.Match{Rules: g.Rules, Units: c.Pairs, Seed: c.Seed, Workers: c.Workers}
	if t.A, err = player(g, c.A, c.Ply); err != nil {
		return err
	}
	if t.B, err = player(g, c.B, c.Ply); err != nil {
		return err
	}
	workers, err := c.Remote.Start(ctx, &t, matches.Agent{Name: c.A, Spec: specOf(c.A, c.Ply)},
		&matches.Agent{Name: c.B, Spec: specOf(c.B, c.Ply)}, os.Stderr, c.Logger(os.Stderr))
	if err != nil {
		return err
	}
	res, err := t.TwoPlayer(ctx)
	if err = errors.Join(err, workers.Close()); err != nil {
		return err
	}
	low, high := res.Pairs.Interval()
	if c.Out != "" {
		if err := writeResult(c.Out, res, made); err != nil {
			return err
		}
	}
	fmt.Printf("%s against %s, %d plies: %d wins, %d draws, %d losses: %.1f%% (95%%: %.1f to %.1f), %+.0f Elo\n",
		t.A.Name, t.B.Name, c.Ply, res.Wins, res.Draws, res.Losses,
		100*res.Pairs.Score(), 100*low, 100*high, match.EloWithin(res.Pairs.Score(), res.Games))
	return nil
}

// writeResult writes a result, and beside it how it was made.
func writeResult(path string, result any, made *provenance.Run) error {
	text, err := json.Marshal(result)
	if err != nil {
		return err
	}
	return errors.Join(atomicfile.WriteText(path, 0o644, string(text)+"\n"), made.WriteBeside(path))
}

// player is one side of a gate.
func player(g *task.Game, name string, ply int) (match.Player, error) {
	if name != "hand" && name != "learned" {
		if _, err := os.Stat(name); err != nil {
			return match.Player{}, fmt.Errorf("agent %q: want 'hand', 'learned' or a weights file: %w", name, err)
		}
	}
	f, err := bots.New(g.Rules, bots.Own(specOf(name, ply)))
	return match.Player{Name: name, New: f}, err
}

// specOf is the spec of one side of a gate.
func specOf(name string, ply int) string {
	if name == "hand" || name == "learned" {
		return fmt.Sprintf("%s:ply=%d", name, ply)
	}
	return fmt.Sprintf("learned:ply=%d,weights=%s", ply, name)
}
