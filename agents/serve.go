package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"blockyard/agents/dropbloxcontest/server"
	"blockyard/agents/dropbloxcontest/teams"
)

// serveTable is what can be served.
type serveTable struct {
	Dropblox serveDropbloxCmd `cmd:"" help:"Hold a Dropblox contest: practice games at any time, and rounds in which all teams play the same blocks at once."`
}

type serveDropbloxCmd struct {
	Teams   string        `required:"" placeholder:"FILE" help:"File of the teams and their hashed passwords."`
	Add     string        `placeholder:"NAME" help:"Only add this team to the file, or change its password, which is read from the terminal or the first line of standard input."`
	Listen  string        `default:"127.0.0.1:8888" placeholder:"HOST:PORT" help:"Where to listen; port 0 is any free one. Default ${default}."`
	Seconds float64       `default:"300" help:"Clock of a game. Default ${default}."`
	Rounds  int           `help:"Rounds of the competition, after which the server ends; 0 is no end. Default 0."`
	Players int           `help:"A round begins when so many teams wait for it; by default all."`
	StartIn time.Duration `help:"Begin the first round after this time, whoever waits."`
	Notice  time.Duration `default:"2s" help:"Time between the last team's coming and the round. Default ${default}."`
	History string        `default:"history" placeholder:"DIR" help:"Folder for the games' folders; empty for none. Default ${default}."`
	JSON    bool          `name:"json" help:"Print every round as a line of JSON and nothing else."`
}

// Help tells more about the command.
func (*serveDropbloxCmd) Help() string {
	return `Teams are added first:

  agents serve dropblox --teams teams.txt --add "Blue Whales"

Clients play with agents host dropblox practice|compete --server http://HOST:PORT. A
round is closed when all are through or its clock has run out; its ranking is printed,
and teams wait for the next one. Passwords travel as they are: beyond this machine, put
a proxy that speaks TLS in front. Ctrl-C ends all games, their histories whole.`
}

// Run holds the contest.
func (c *serveDropbloxCmd) Run(ctx context.Context, con *console) error {
	if c.Add != "" {
		return c.add(con)
	}
	switch {
	case !(c.Seconds > 0 && c.Seconds <= 1e6):
		return usage{fmt.Errorf("--seconds %g: want more than 0, at most a million", c.Seconds)}
	case c.Rounds < 0 || c.Players < 0 || c.StartIn < 0 || c.Notice < 0:
		return usage{errors.New("--rounds, --players, --start-in and --notice are not negative")}
	}
	list, err := readTeams(c.Teams)
	if err != nil {
		return usage{err}
	}
	if len(list) == 0 {
		return usage{fmt.Errorf("%s: no teams; --add NAME adds one", c.Teams)}
	}
	l, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return err
	}
	config := server.Config{
		Teams: teams.NewGuard(list), Clock: time.Duration(c.Seconds * float64(time.Second)), History: c.History,
		Rounds: c.Rounds, Players: cmp.Or(c.Players, len(list)), Notice: c.Notice,
		Round: func(r server.Round) { c.tell(con.out, &r) },
	}
	if c.StartIn > 0 {
		config.Start = time.Now().Add(c.StartIn)
	}
	if !c.JSON {
		config.Log = func(text string) { fmt.Fprintln(con.out, time.Now().Format(time.TimeOnly), text) }
		fmt.Fprintf(con.out, "Dropblox for %d teams at http://%s\n", len(list), l.Addr())
	}
	return server.New(config).Serve(ctx, l)
}

// tell prints a round's ranking.
func (c *serveDropbloxCmd) tell(w io.Writer, r *server.Round) {
	if c.JSON {
		_ = json.NewEncoder(w).Encode(r)
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "round %d, seed %s\nrank  score  turns  end      game          team\n", r.Number, r.Seed)
	for _, s := range r.Ranks {
		fmt.Fprintf(&b, "%4d  %5d  %5d  %-7s  %-12s  %s\n", s.Rank, s.Score, s.Turns, s.Reason, s.Game, s.Team)
	}
	_, _ = io.WriteString(w, b.String())
}

func readTeams(path string) ([]teams.Team, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return teams.Read(path, f)
}

// add adds a team to the file, or changes its password. Comments in the file are kept.
func (c *serveDropbloxCmd) add(con *console) error {
	if err := teams.CheckName(c.Add); err != nil {
		return usage{err}
	}
	if _, err := readTeams(c.Teams); err != nil && !errors.Is(err, os.ErrNotExist) {
		return usage{err}
	}
	text, err := os.ReadFile(c.Teams)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	password, err := readPassword(con)
	if err != nil {
		return err
	}
	t, err := teams.New(c.Add, password)
	if err != nil {
		return usage{err}
	}
	lines := strings.SplitAfter(string(text), "\n")
	lines = slices.DeleteFunc(lines, func(l string) bool { return l == "" || strings.HasPrefix(l, c.Add+":") })
	if n := len(lines); n > 0 && !strings.HasSuffix(lines[n-1], "\n") {
		lines[n-1] += "\n"
	}
	return replaceFile(c.Teams, []byte(strings.Join(append(lines, t.String()+"\n"), "")))
}

// replaceFile writes a file that only its owner may read, whole or not at all.
func replaceFile(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// readPassword reads a password, unseen where there is a terminal.
func readPassword(con *console) (string, error) {
	if f, ok := con.in.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		fmt.Fprint(con.err, "Password: ")
		text, err := term.ReadPassword(int(f.Fd()))
		fmt.Fprintln(con.err)
		return string(bytes.TrimSpace(text)), err
	}
	line, err := bufio.NewReader(io.LimitReader(con.in, 4096)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	return strings.TrimSpace(line), nil
}
