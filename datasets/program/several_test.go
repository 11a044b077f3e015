package program

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/datasets/program/named"
)

// Each command line goes to the program that has the command, with the program's name taken away.
func TestSeveral(t *testing.T) {
	was := os.Args
	t.Cleanup(func() { os.Args = was })
	type run struct {
		Games int `default:"1"`
	}
	var started string
	part := func(name string, commands any) Part {
		return Part{&Program{Name: name, About: name + " does it.\nAnd more.", Commands: commands}, func() int {
			started = name
			return Done
		}}
	}
	several := &Several{Name: "all", About: "Everything.", Parts: []Part{
		part("server", &struct {
			Serve run `cmd:"" help:"Serve games."`
		}{}),
		part("games", &struct {
			Play  run `cmd:"" help:"Play a game."`
			Debug run `cmd:"" hidden:"" help:"Look inside."`
			Serve struct {
				Contest run `cmd:"" help:"Serve a contest."`
			} `cmd:""`
			Look struct {
				Far run `cmd:"" help:"Look far."`
			} `cmd:""`
		}{}),
	}}
	for _, c := range []struct {
		line   []string
		status int
		part   string
		left   []string // of the command line for the part
	}{
		{[]string{"serve", "--games", "2"}, Done, "server", []string{"serve", "--games", "2"}},
		{[]string{"serve", "contest"}, Done, "games", []string{"serve", "contest"}},
		{[]string{"play"}, Done, "games", []string{"play"}},
		{[]string{"debug"}, Done, "games", []string{"debug"}},
		{[]string{"games", "serve", "contest"}, Done, "games", []string{"serve", "contest"}},
		{[]string{"look"}, Done, "games", []string{"look"}},
		{[]string{"--version"}, Done, "server", []string{"--version"}},
		{[]string{"help", "serve", "contest"}, Done, "games", []string{"serve", "contest", "--help"}},
		{[]string{"help"}, Done, "", nil},
		{[]string{"help", "sing"}, Wrong, "", nil},
		{[]string{"sing"}, Wrong, "", nil},
		{nil, Wrong, "", nil},
	} {
		os.Args, started = append([]string{"all"}, c.line...), ""
		require.Equal(t, c.status, several.Main(), "%q", c.line)
		require.Equal(t, c.part, started, "%q", c.line)
		if c.part != "" {
			require.Equal(t, c.left, os.Args[1:], "%q", c.line)
		}
	}
	var out bytes.Buffer
	several.list(&out)
	require.Contains(t, out.String(), "games: games does it.\n  play               Play a game.\n  serve contest      Serve a contest.")
	require.NotContains(t, out.String(), "debug")
	require.NotContains(t, out.String(), "python")
	several.Outside = "understand\t" + strings.Repeat("It takes long. ", 10) + "\ndemo\tA policy learns.\nbench\tSteps per second."
	several.list(&out)
	require.Contains(t, out.String(), "  demo               A policy learns.\n  bench              Steps per second.\n")
	require.Equal(t, `, did you mean "play"?`, several.guess("paly"))
	require.True(t, strings.HasSuffix(out.String(), "To begin: all demo, then all docs first.\n"))
	require.Equal(t, `, did you mean "demo"?`, several.guess("dmeo"))
	require.Equal(t, `, did you mean "help"?`, several.guess("hlep"))
	several.Outside = "plan\tMake a plan."
	require.Equal(t, `, did you mean one of "plan", "play"?`, several.guess("pla"), "of whatever program")
	for line := range strings.Lines(out.String()) {
		require.LessOrEqual(t, len(line), 81, line)
	}
	require.Equal(t, "all play X, `all serve`; “all play --web”, games playing, x/games play", Named(
		"games play X, `server serve`; “games play --web”, games playing, x/games play"), "of who reads it")
	named.In = func(text string) string { return text }
	require.Empty(t, several.guess("sing"))
}
