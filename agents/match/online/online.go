// Package online has the servers of contests whose teams play over the network, each a command of "agents serve".
package online

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/term"

	"blockyard/agents/contest/dropblox/server"
	"blockyard/agents/contest/dropblox/teams"
	"blockyard/agents/match"
	"blockyard/agents/match/tournament"
	"blockyard/datasets/program"
	"blockyard/datasets/program/ops"
	"blockyard/env/dropblox"
)

// A Table has the contests that have a server, each a command.
type Table struct {
	Dropblox Dropblox `cmd:"" help:"Run a Dropblox contest: practice, and rounds of all teams."`
}

// A Dropblox has the flags of "agents serve dropblox". Its Run is a contest of teams over HTTP, until it is
// interrupted or the rounds are over.
type Dropblox struct {
	Teams     string  `required:"" placeholder:"FILE" help:"File of the teams and their hashed passwords."`
	Add       *string `placeholder:"NAME" help:"Only add this team to the file, or change its password."`
	flags     `needs:"!add"`
	ops.Flags `needs:"!add"`
}

// flags are those of a server that runs.
type flags struct {
	Listen    string        `default:"127.0.0.1:8888" placeholder:"HOST:PORT" help:"Address; port 0 selects a free port."`
	Seconds   float64       `default:"300" help:"Time of a game, in seconds."`
	Rounds    int           `placeholder:"N" help:"Rounds, after which the server ends; by default no limit."`
	Players   int           `placeholder:"N" help:"A round begins when this many teams wait for it; by default all."`
	StartIn   time.Duration `help:"Begin the first round after this time, however many teams wait for it."`
	Notice    time.Duration `default:"2s" help:"Time between the last team's arrival and the start of the round."`
	History   string        `default:"history" empty:"" placeholder:"DIR" help:"Folder for histories; empty for none."`
	Practice  int           `default:"30" help:"Practice games that a team may start per minute."`
	HistoryMB int           `name:"history-mb" default:"1024" help:"Space for a team's practice histories, in MiB."`
	Page      string        `placeholder:"DIR" help:"Folder for a page with the table of all rounds since the start."`
	JSON      bool          `name:"json" help:"Print every round as a line of JSON; agents/JSON.md describes it."`
}

// Run runs the server until the last round or Ctrl-C.
func (c *Dropblox) Run(ctx context.Context, con *program.Console) error {
	if c.Add != nil {
		return c.add(con)
	}
	switch {
	case !(c.Seconds > 0 && c.Seconds <= 1e6):
		return program.Usage(fmt.Errorf("--seconds %g: want more than 0, at most a million", c.Seconds))
	case c.Rounds < 0 || c.Players < 0 || c.StartIn < 0 || c.Notice < 0:
		return program.Usage(errors.New("--rounds, --players, --start-in and --notice are not negative"))
	case c.Practice < 1 || c.Practice > 1e6:
		return program.Usage(fmt.Errorf("--practice %d: want 1 to a million", c.Practice))
	case c.HistoryMB < 1 || c.HistoryMB > 1<<30:
		return program.Usage(fmt.Errorf("--history-mb %d: want 1 to %d", c.HistoryMB, 1<<30))
	}
	list, err := teams.ReadFile(c.Teams)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return program.Usage(err)
	}
	if len(list) == 0 {
		return program.Usage(fmt.Errorf("%s: no teams; --add NAME adds one", c.Teams))
	}
	l, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return err
	}
	all := &totals{tournament.Tournament{Config: tournament.Config{Rules: dropblox.Game, Format: "rounds"}}}
	for _, team := range list {
		all.Entrants = append(all.Entrants, &tournament.Entrant{Name: team.Name})
	}
	config := server.Config{
		Teams: teams.NewGuard(list), Clock: time.Duration(c.Seconds * float64(time.Second)), History: c.History,
		Rounds: c.Rounds, Players: cmp.Or(c.Players, len(list)), Notice: c.Notice,
		Practice: c.Practice, HistoryBytes: int64(c.HistoryMB) << 20,
		Names: c.Flags.Names, Log: c.Logger(con.Err),
	}
	config.Round = func(r server.Round) {
		_ = con.Print(c.JSON, r)
		if err := all.add(r, c.Page); err != nil {
			config.Log.Warn("the page is not written", "err", err)
		}
	}
	if c.StartIn > 0 {
		config.Start = time.Now().Add(c.StartIn)
	}
	s := server.New(config)
	site, err := c.Start(config.Log, contestMetrics(s))
	if err != nil {
		return errors.Join(err, l.Close())
	}
	defer site.Close()
	site.Ready() // before the line that says so: whoever reads it may ask at once
	if !c.JSON {
		fmt.Fprintf(con.Out, "Dropblox for %d teams at http://%s\n", len(list), l.Addr())
	}
	defer context.AfterFunc(ctx, func() { site.Unready("stopping") })()
	err = s.Serve(ctx, l)
	all.Over = true
	if err = errors.Join(err, all.show(c.Page)); !c.JSON && len(all.Played) > 0 {
		err = errors.Join(err, con.Print(false, all.Report()))
	}
	return err
}

// totals are a tournament with a game for every round, which all teams of the round play.
type totals struct{ tournament.Tournament }

// add adds a round, and writes the page to a folder, if there is one.
func (t *totals) add(r server.Round, page string) error {
	g := match.Played{Number: len(t.Played), Unit: len(t.Played), Stage: fmt.Sprint("round ", r.Number), Seed: r.Seed}
	for _, s := range r.Ranks {
		g.Seats = append(g.Seats, slices.IndexFunc(t.Entrants, func(e *tournament.Entrant) bool { return e.Name == s.Team }))
		g.Points, g.Ranks, g.Rounds = append(g.Points, s.Score), append(g.Ranks, s.Rank), max(g.Rounds, s.Turns)
	}
	if len(g.Seats) > 0 {
		t.Played = append(t.Played, g)
	}
	return t.show(page)
}

func (t *totals) show(page string) error {
	if page == "" {
		return nil
	}
	return t.WritePage(page)
}

func (c *Dropblox) add(con *program.Console) error {
	if err := teams.CheckName(*c.Add); err != nil {
		return program.Usage(err)
	}
	password, err := readPassword(con)
	if err != nil {
		return err
	}
	switch err := teams.Put(c.Teams, *c.Add, password); {
	case errors.As(err, new(*fs.PathError)):
		return err
	case err != nil:
		return program.Usage(err)
	}
	fmt.Fprintf(con.Out, "%s: team %s saved\n", c.Teams, *c.Add)
	return nil
}

// readPassword reads a password; a terminal does not show it.
func readPassword(con *program.Console) (string, error) {
	if program.Terminal(con.In) {
		fmt.Fprint(con.Err, "Password: ")
		text, err := term.ReadPassword(int(con.In.(*os.File).Fd()))
		fmt.Fprintln(con.Err)
		return string(bytes.TrimSpace(text)), err
	}
	line, err := bufio.NewReader(io.LimitReader(con.In, 4096)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	return strings.TrimSpace(line), nil
}

func contestMetrics(s *server.Server) ops.Collector {
	return ops.Metrics("blockyard_contest_", func(m *ops.Scrape) {
		c := s.Counts()
		m.Add("teams", "Teams that may play.", c.Teams)
		m.Add("running_games", "Games that are not over.", c.Running)
		m.Add("games_total", "Games begun, by kind.", c.Practice, "kind", "practice")
		m.Add("games_total", "Games begun, by kind.", c.Competition, "kind", "competition")
		m.Add("turns_total", "Turns played.", c.Turns)
		m.Add("rounds_total", "Rounds of the competition that are over.", c.Rounds)
		for status, n := range c.Requests {
			m.Add("requests_total", "Requests of clients, by HTTP status.", n, "status", strconv.Itoa(status))
		}
		m.Add("history_errors_total", "Games whose history could not be written.", c.HistoryErrors)
	})
}
