package commands

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"blockyard/datasets/program"

	"blockyard/agents/bots/blockbattlebot"
	"blockyard/agents/bots/blockingbot"
	"blockyard/agents/bots/tetrisduelbot"
	"blockyard/agents/contest"
	"blockyard/agents/match/series"
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/blocking"
	"blockyard/env/games"
	"blockyard/env/tetrisduel"
)

// hostTable lists the contests, each with its own flags.
type hostTable struct {
	Blockbattle hostBlockbattleCmd `cmd:"" help:"Play Block Battle between two programs."`
	Tetrisduel  hostTetrisduelCmd  `cmd:"" help:"Play the Tetris duel between two programs."`
	Blocking    hostBlockingCmd    `cmd:"" help:"Play Blocking between two to four programs."`
	Dropblox    hostDropbloxCmd    `cmd:"" help:"Play Dropblox with programs, here or at a contest's server."`
	Match       hostMatchCmd       `cmd:"" hidden:"" help:"The same as agents host GAME: agents host match GAME."`
}

// hostFlags are the flags of every contest between programs that talk in lines.
type hostFlags struct {
	Game   string   `hidden:"" help:"The game or variant that hostArgs has found."`
	Bot    []string `required:"" sep:"none" placeholder:"CMD" help:"Command line or submission of a bot, one for each."`
	Games  int      `default:"2" help:"Number of games. The bots change seats after every game."`
	Seed   uint64   `default:"1" help:"Seed of the whole match."`
	Record string   `placeholder:"FILE" help:"Write the games' records to this file, compressed if it ends in .gz."`
	Log    string   `placeholder:"DIR" help:"Folder for a log per game: all lines, and the time of every answer."`
	JSON   bool     `name:"json" help:"Print one line of JSON and nothing else; agents/JSON.md describes it."`
	Quiet  bool     `short:"q" help:"Show neither a progress bar nor the bots' standard error."`
}

// common is the help text that the contests share.
const common = `The bots are programs in any language that speak the contest's protocol on standard
input and output. A command line with characters that are special to a shell is run by
a shell. An archive (.zip, .tar.gz), a source file or a folder is compiled first. The bots
are restarted for every game. Ctrl-C ends the match; the result then covers the games
played so far.

In a log, "player1 <" marks what was sent to a bot, ">" its answer, "@" the time that the
answer took and the limit, "!" a line of its standard error, and "*" the host's remark about
it; other lines are the host's own.

The result says how many of the games were distinct. Deterministic bots that meet again with
the same seed may play the same game again, which says nothing new.

`

// series is the match that the flags ask for, without Rules and New.
func (c *hostFlags) series(con *console, least, most int, want, newSeed string) (*series.Series, error) {
	n := len(c.Bot)
	switch {
	case n < least || n > most:
		return nil, fmt.Errorf("%d bots, want --bot %s", n, want)
	case c.Games < 1:
		return nil, fmt.Errorf("--games %d: want a number from 1", c.Games)
	}
	bots, err := series.Bots(c.Bot)
	s := &series.Series{
		Bots: bots, Seatings: series.Seatings(n, false), Games: c.Games, Seed: c.Seed,
		NewSeeds: newSeed == "game", LogDir: c.Log,
	}
	if !c.Quiet && !c.JSON {
		s.Errors = con.Err
	}
	return s, err
}

// playSeries plays the match that prepare returns and prints its report.
func playSeries[R fmt.Stringer](ctx context.Context, con *console, c *hostFlags,
	prepare func(*console) (*series.Series, error), report func(s *series.Series, stopped bool) R) error {
	s, err := prepare(con)
	if err != nil {
		return program.Usage(err)
	}
	forget, err := buildBots(ctx, s.Bots)
	defer forget()
	if err != nil {
		return err
	}
	o := output{c.Record, c.Log, strconv.FormatUint(c.Seed, 10), c.Quiet || c.JSON}
	err = playGames(ctx, con, o, s.Games,
		func(w *record.Writer, bar program.Bar) (int, error) {
			s.Record, s.Done = w, bar.Set
			return s.Play(ctx)
		})
	if err != nil {
		return err
	}
	return con.Print(c.JSON, report(s, ctx.Err() != nil))
}

type hostBlockbattleCmd struct {
	hostFlags
	Dialect  string        `enum:"classic,port" default:"classic" help:"Dialect of the protocol: classic or port."`
	Profile  string        `placeholder:"NAME" enum:",document,classic,port" default:"" help:"document, classic or port."`
	Timebank time.Duration `default:"10s" help:"Time bank at the start, and its upper limit."`
	PerMove  time.Duration `name:"time-per-move" default:"500ms" help:"Time added to the bank after every answer."`
	Timeouts int           `placeholder:"N" help:"Time-outs that end a bot. Default: 2, by --profile classic 3, port 1."`
	NewSeed  string        `enum:"game,pair" default:"game" help:"A new seed for every game, or every pair of games."`
}

// Help is printed with the flags.
func (*hostBlockbattleCmd) Help() string {
	return common + `A late answer is discarded and counts as no moves. A bot that exits, or is ended, makes no more
moves, but does not lose the game for that. Both bots get the same pieces and answer at the same
time, so deterministic bots play the same game again if only their seats are swapped: by default,
every game has a new seed. --profile names the rules; the default depends on the game's name:
document for blockbattle, port for blockbattle:port.`
}

var (
	timeouts = map[string]int{"document": 2, "classic": 3, "port": 1}
	dialects = map[string]blockbattlebot.Dialect{
		"classic": blockbattlebot.ClassicDialect, "port": blockbattlebot.PortDialect,
	}
)

// Run plays the match.
func (c *hostBlockbattleCmd) Run(ctx context.Context, con *console) error {
	return playSeries(ctx, con, &c.hostFlags, c.series, (*series.Series).BlockBattle)
}

func (c *hostBlockbattleCmd) series(con *console) (*series.Series, error) {
	s, err := c.hostFlags.series(con, 2, 2, "twice", c.NewSeed)
	if err != nil {
		return nil, err
	}
	if c.Timebank <= 0 || c.PerMove < 0 || c.Timeouts < 0 {
		return nil, errors.New("--timebank must be more than 0; --time-per-move and --timeouts are not negative")
	}
	profile, err := c.profile()
	if err != nil {
		return nil, err
	}
	if s.Rules, err = games.Lookup(strings.TrimSuffix("blockbattle:"+profile, ":document")); err != nil {
		return nil, err
	}
	limits := contest.Limits{Bank: c.Timebank, PerMove: c.PerMove, Timeouts: c.Timeouts}
	if limits.Timeouts == 0 {
		limits.Timeouts = timeouts[profile]
	}
	s.New = func(state env.State, rec *record.Record) (contest.Host, error) {
		ref := &blockbattlebot.Referee{Dialect: dialects[c.Dialect], State: state.(*blockbattle.State), Limits: limits}
		ref.Watch = func(_ *blockbattle.State, m env.Moves) { rec.Add(3, m) }
		return contest.Host{Referee: ref, Limits: limits, MustStart: true}, nil
	}
	return s, nil
}

// profile is the profile of the game's name or of the flag, which must not differ.
func (c *hostBlockbattleCmd) profile() (string, error) {
	_, variant, _ := strings.Cut(c.Game, ":")
	switch {
	case c.Profile == "" && variant == "":
		return "document", nil
	case c.Profile == "":
		return variant, nil
	case variant != "" && variant != c.Profile:
		return "", fmt.Errorf("--profile %s conflicts with %s: leave one of them out", c.Profile, c.Game)
	}
	return c.Profile, nil
}

type hostTetrisduelCmd struct {
	hostFlags
	Pairs   int           `placeholder:"N" help:"Number of pairs of games, instead of --games."`
	Budget  time.Duration `default:"20s" help:"Time that a bot has for all its answers of a game."`
	Moves   string        `enum:"on,off" default:"on" help:"Whether requests list the legal placements: on or off."`
	Tie     string        `enum:"draw,time" default:"draw" help:"At equal points: draw, or time (less time used wins)."`
	NewSeed string        `enum:"game,pair" default:"pair" help:"A new seed for every game, or every pair of games."`
}

// Help is printed with the flags.
func (*hostTetrisduelCmd) Help() string {
	return common + `A bot loses the game at once by an illegal placement (illegal), if its process ends
(exception), if its time is used up (timeout) or if it does not get ready (missing). The bot that won more games
wins the match; at equal games, the one with more time left. It matters who begins, so by default both games of a
pair have the same seed, and each bot begins one of them. A match of the original tournament was --pairs 10. Use
"python3 agents/bots/tetrisduelbot/pybot.py BOT.py" as the command of an original Python bot.`
}

// lossReasons are the reasons for losing, in the order of the table.
var lossReasons = []string{
	tetrisduel.Limit.String(), tetrisduel.Overflow.String(), tetrisduel.Illegal.String(),
	tetrisduelbot.Exception, tetrisduelbot.Timeout, tetrisduelbot.Missing,
}

// Run plays the match.
func (c *hostTetrisduelCmd) Run(ctx context.Context, con *console) error {
	report := func(s *series.Series, stopped bool) *series.DuelReport { return s.Duel(stopped, lossReasons) }
	return playSeries(ctx, con, &c.hostFlags, c.series, report)
}

func (c *hostTetrisduelCmd) series(con *console) (*series.Series, error) {
	if c.Pairs != 0 {
		c.Games = 2 * c.Pairs
	}
	switch {
	case c.Games < 1:
		return nil, errors.New("--games and --pairs count from 1: want at least one game")
	case c.Budget <= 0:
		return nil, fmt.Errorf("--budget %v: --budget is above 0", c.Budget)
	}
	s, err := c.hostFlags.series(con, 2, 2, "twice", c.NewSeed)
	if err != nil {
		return nil, err
	}
	s.Rules = tetrisduel.Game
	s.New = func(state env.State, rec *record.Record) (contest.Host, error) {
		ref := &tetrisduelbot.Referee{
			State: state.(*tetrisduel.State), Time: c.Budget, NoList: c.Moves == "off", TieByTime: c.Tie == "time",
		}
		ref.Watch = func(s *tetrisduel.State, a env.Action) { rec.Add(s.Acting(), env.Alone(s.Mover(), a)) }
		return contest.Host{Referee: ref, Limits: contest.TotalBudget(c.Budget)}, nil
	}
	return s, nil
}

type hostBlockingCmd struct {
	hostFlags
	FirstTime time.Duration `default:"1s" help:"Time limit of a bot's first answer, including its start."`
	Time      time.Duration `default:"200ms" help:"Time limit of the later answers."`
	Tolerance time.Duration `default:"50ms" help:"Added to both limits, for a busy machine."`
	Seatings  string        `enum:"cyclic,all" default:"cyclic" help:"How the bots change seats: cyclic or all."`
	EarlyEnd  string        `enum:"on,off" default:"on" help:"Whether a game ends when it is decided: on or off."`
	NewSeed   string        `enum:"game,set" default:"set" help:"A new seed for every game, or set of seatings."`
	Shapes    string        `placeholder:"FILE" help:"File of 21 lines: the shapes to use instead of the default ones."`
}

// Help is printed with the flags.
func (*hostBlockingCmd) Help() string {
	return common + `A bot that is late, ends, or answers anything but a legal placement is eliminated.
--games counts all games. A set of games has every seating once: --seatings cyclic puts
every bot in every seat, and all plays every order of the bots. The order of the seats
matters, so by default the games of a set have the same letters (the shapes drawn). A line
of --shapes is a letter, the numbers of columns and rows, and the squares. "agents host
blocking:shapes=FILE" is the same; arena, play, bot and tournament take that name too. A record
has the shapes in it.`
}

// Run plays the match.
func (c *hostBlockingCmd) Run(ctx context.Context, con *console) error {
	return playSeries(ctx, con, &c.hostFlags, c.series, (*series.Series).Blocking)
}

func (c *hostBlockingCmd) series(con *console) (*series.Series, error) {
	s, err := c.hostFlags.series(con, 2, 4, "two to four times", c.NewSeed)
	switch {
	case err != nil:
		return nil, err
	case c.FirstTime <= 0 || c.Time <= 0 || c.Tolerance < 0:
		return nil, fmt.Errorf("--first-time %v, --time %v, --tolerance %v: the first two are above 0, the third from 0",
			c.FirstTime, c.Time, c.Tolerance)
	case c.Shapes != "" && strings.Contains(c.Game, ":"):
		return nil, fmt.Errorf("--shapes and %s name two tables of shapes: leave one out", c.Game)
	}
	if c.Shapes != "" {
		c.Game = "blocking:shapes=" + c.Shapes
	}
	if s.Rules, err = games.Open(c.Game); err != nil {
		return nil, err
	}
	s.Seatings = series.Seatings(len(c.Bot), c.Seatings == "all")
	limits := contest.FixedPerMove(c.FirstTime, c.Time, c.Tolerance)
	s.New = func(state env.State, rec *record.Record) (h contest.Host, err error) {
		s := state.(*blocking.State)
		if s.PlayOut = c.EarlyEnd == "off"; s.PlayOut { // which the seed does not tell
			rec.Start, err = env.Encode(nil, s)
		}
		ref := &blockingbot.Referee{State: s}
		ref.Watch = func(s *blocking.State, seat int, a env.Action) { rec.Add(s.Acting(), env.Alone(seat, a)) }
		return ref.Host(limits, nil), err
	}
	return s, nil
}

// hostMatchCmd is only for its help: hostArgs removes the word match before a game.
type hostMatchCmd struct{}

// Help is printed with the flags.
func (*hostMatchCmd) Help() string {
	return "agents host GAME --help lists the flags of a game's contest."
}
