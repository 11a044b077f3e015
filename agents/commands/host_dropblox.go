package commands

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"runtime"
	"strings"
	"time"

	"blockyard/datasets/program"

	dropbloxcontest "blockyard/agents/contest/dropblox"
	"blockyard/agents/contest/dropblox/history"
	"blockyard/agents/contest/dropblox/programs"
	"blockyard/agents/match/rounds"
	"blockyard/datasets/record"
)

// defaultProgram is the program that the original client plays with.
var defaultProgram = map[bool]string{true: "dropblox_ai.bat", false: "dropblox_ai"}[runtime.GOOS == "windows"]

type hostDropbloxCmd struct {
	Mode    string   `arg:"" optional:"" enum:"local,practice,compete" default:"local" help:"local, practice or compete."`
	Number  string   `arg:"" optional:"" name:"seed" help:"Seed of a local game, like --seed."`
	Bot     []string `sep:"none" placeholder:"PROGRAM" help:"Program and its arguments. Default: ${dropblox_ai}."`
	Seed    string   `placeholder:"N" help:"Seed, a whole number of any size; by default a random one, which is printed."`
	Games   int      `default:"1" help:"Number of seeds to play, counted up from --seed."`
	Seeds   []string `placeholder:"N,..." help:"Play these seeds."`
	Seconds float64  `default:"300" help:"Time of a local game, in seconds."`
	Turns   int      `placeholder:"N" help:"End a local game after this many turns; 0 is no limit."`
	Points  int      `placeholder:"N" help:"End a local game at this score; 0 is no limit."`
	History *string  `empty:"" placeholder:"DIR" help:"Folder for the games' histories; by default history."`
	Record  string   `placeholder:"FILE" help:"Write local games to this file, compressed if it ends in .gz."`
	OwnDir  bool     `help:"Run every program in its own folder."`

	Log     string `group:"tournament" placeholder:"DIR" help:"Folder for a file per game: output, time of answers."`
	Workers int    `group:"tournament" default:"1" help:"Games at the same time, which share the processor."`
	JSON    bool   `name:"json" group:"tournament" help:"Print one line of JSON; agents/JSON.md describes it."`
	Quiet   bool   `short:"q" group:"tournament" help:"Print no progress bar."`

	Server string `group:"contest" placeholder:"URL" help:"Address of the contest's server, for practice and compete."`
	Config string `group:"contest" default:"config.txt" help:"File of two lines: the team's name and its password."`
}

// Help is printed with the flags.
func (*hostDropbloxCmd) Help() string {
	return `Mode local plays a game on this machine, practice a practice game at a contest's
server, and compete the next round of that server's competition. Several programs or seeds make a tournament
on this machine, which keeps no histories by default; --history "" keeps none in any mode.

The program is started for every turn, with the state as JSON and the remaining seconds
as its two arguments. It writes left, right, up, down and rotate, one per line; then the
block drops. A game has 300 seconds in all. One second before the time runs out, the
program is ended; the commands that it has written until then count.

The history of a game is a folder history/<id>_<time> with files state0, move0, state1,
... and meta. "agents host dropblox local 50" plays seed 50 with ./dropblox_ai. A
tournament prints the mean score of every program with its 95 % interval, and its gain
over the first program on the same seeds; with --points also how many seconds of
the clock the score took. After Ctrl-C, the files of a game are
complete, and a tournament prints the result of the games played.`
}

// Run plays the game or the tournament.
func (c *hostDropbloxCmd) Run(ctx context.Context, con *console) error {
	bots, err := c.check()
	if err != nil {
		return program.Usage(err)
	}
	switch {
	case c.Mode != "local":
		return c.remote(ctx, con, bots[0])
	case len(bots) > 1 || len(c.Seeds) > 1 || c.Games > 1 || c.JSON:
		return c.tournament(ctx, con, bots)
	}
	return c.local(ctx, con, bots[0])
}

// check checks the flags, sets Seeds to the list of seeds and finds the programs.
func (c *hostDropbloxCmd) check() ([]*programs.Program, error) {
	remote := c.Mode != "local"
	switch {
	case c.Number != "" && c.Seed != "":
		return nil, errors.New("the seed is given twice: want it as an argument or with --seed")
	case c.Seed == "":
		c.Seed = c.Number
	}
	switch {
	case c.Games < 1 || c.Workers < 1 || c.Turns < 0 || c.Points < 0:
		return nil, errors.New("want --games and --workers as numbers from 1, --turns and --points from 0")
	case !(c.Seconds > 0 && c.Seconds <= 1e6):
		return nil, fmt.Errorf("--seconds %g: want more than 0, at most a million", c.Seconds)
	case len(c.Seeds) > 0 && (c.Seed != "" || c.Games != 1):
		return nil, errors.New("--seeds does not go with another seed or --games")
	case remote && (c.Seed != "" || len(c.Seeds) > 0 || c.Games > 1 || len(c.Bot) > 1),
		remote && (c.JSON || c.Record != "" || c.Turns > 0 || c.Points > 0):
		return nil, fmt.Errorf("%s takes one program and no seed, --games, --turns, --points, --record or --json", c.Mode)
	case remote && c.Server == "":
		return nil, fmt.Errorf("%s needs --server=URL", c.Mode)
	}
	if err := c.listSeeds(); err != nil {
		return nil, err
	}
	if len(c.Bot) == 0 {
		c.Bot = []string{defaultProgram}
	}
	var bots []*programs.Program
	for _, line := range c.Bot {
		p, err := programs.Find(line)
		if err != nil {
			return nil, err
		}
		if c.OwnDir {
			p.Home()
		}
		bots = append(bots, p)
	}
	return bots, nil
}

// listSeeds sets Seeds to the seeds to play.
func (c *hostDropbloxCmd) listSeeds() error {
	if len(c.Seeds) == 0 {
		first := strings.TrimSpace(c.Seed)
		if first == "" {
			first = dropbloxcontest.RandomSeed()
		}
		c.Seeds = []string{first}
	}
	for i, text := range c.Seeds {
		n, ok := new(big.Int).SetString(strings.TrimSpace(text), 10)
		if !ok || n.BitLen() > 10_000 {
			return fmt.Errorf("seed %.40q: want a whole number", text)
		}
		c.Seeds[i] = n.String()
		if c.Games > 1 {
			for len(c.Seeds) < c.Games {
				c.Seeds = append(c.Seeds, n.Add(n, big.NewInt(1)).String())
			}
			break
		}
	}
	return nil
}

func (c *hostDropbloxCmd) clock() time.Duration {
	return time.Duration(c.Seconds * float64(time.Second))
}

// history is the folder for the games' folders: the one asked for, or otherwise.
func (c *hostDropbloxCmd) history(otherwise string) string {
	if c.History != nil {
		return *c.History
	}
	return otherwise
}

// local plays one game on this machine.
func (c *hostDropbloxCmd) local(ctx context.Context, con *console, bot *programs.Program) error {
	seed := c.Seeds[0]
	if c.Seed == "" {
		fmt.Fprintln(con.Out, "Seed:", seed)
	}
	bot.Errors = con.Err
	g := dropbloxcontest.LocalGame{
		Player: dropbloxcontest.Player{Program: bot, Console: c.console(con), Turns: c.Turns, Points: c.Points},
		ID:     "0", Seed: seed, Clock: c.clock(), Folders: c.history("history"),
	}
	o := output{record: c.Record, seed: seed, quiet: true}
	return playGames(ctx, con, o, 1, func(w *record.Writer, _ program.Bar) (int, error) {
		r, rec, err := g.Play(ctx)
		err = c.ended(con, r, err)
		if w == nil || rec == nil {
			return 0, err
		}
		kept, e := rec.End(r.Reason)
		if e == nil {
			e = w.Write(kept)
		}
		return 1, errors.Join(err, e)
	})
}

// remote plays one game at a contest's server.
func (c *hostDropbloxCmd) remote(ctx context.Context, con *console, bot *programs.Program) error {
	team, err := dropbloxcontest.ReadConfig(c.Config)
	if err != nil {
		return program.Usage(err)
	}
	server := dropbloxcontest.NewContest(c.Server, team)
	var game *dropbloxcontest.Remote
	if c.Mode == "practice" {
		game, err = server.Practice(ctx)
	} else {
		game, err = server.Compete(ctx, func() { fmt.Fprintln(con.Out, "waiting for the competition to begin") })
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(con.Out, "Game:", game.ID)
	meta := history.Meta{ID: game.ID, Program: bot.Name, Team: team.Team, Mode: c.Mode, Started: time.Now()}
	f, err := history.Create(c.history("history"), meta, nil)
	if err != nil {
		return err
	}
	bot.Errors = con.Err
	p := dropbloxcontest.Player{
		Program: bot, Game: game, History: f, Console: c.console(con), Margin: dropbloxcontest.Margin,
	}
	r, err := p.Play(ctx)
	return c.ended(con, r, err)
}

func (c *hostDropbloxCmd) console(con *console) *dropbloxcontest.Console {
	return &dropbloxcontest.Console{W: con.Out, Colour: program.Terminal(con.Out)}
}

// ended prints the result of a game, or says how far it came.
func (c *hostDropbloxCmd) ended(con *console, r dropbloxcontest.Result, err error) error {
	if r.Reason == dropbloxcontest.Stopped {
		return fmt.Errorf("stopped after %d turns with %d points", r.Turns, r.Score)
	}
	if err == nil {
		c.console(con).Results(r)
	}
	return err
}

// tournament plays every seed with every program and prints the result.
func (c *hostDropbloxCmd) tournament(ctx context.Context, con *console, bots []*programs.Program) error {
	t := rounds.Tournament{
		Programs: bots, Seeds: c.Seeds, Clock: c.clock(), Turns: c.Turns, Points: c.Points, Workers: c.Workers,
		LogDir: c.Log, History: c.history(""),
	}
	o := output{c.Record, c.Log, c.Seeds[0], c.Quiet || c.JSON}
	err := playGames(ctx, con, o, len(c.Seeds)*len(bots),
		func(w *record.Writer, bar program.Bar) (int, error) {
			t.Record, t.Done, t.Tell = w, bar.Set, bar.Describef
			return t.Play(ctx)
		})
	if err != nil {
		return err
	}
	return con.Print(c.JSON, t.Report(ctx.Err() != nil))
}
