package submit

import (
	"fmt"
	"sort"
	"strings"

	"blockyard/agents/blockbattlebot"
	"blockyard/agents/blockingbot"
	"blockyard/agents/dropbloxbot"
	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/agents/tetrisduelbot"
	"blockyard/env"
	"blockyard/env/games"
)

// A Contest is what one game's contest asks of a bot.
type Contest struct {
	// LoadNet reads a network for the game from a safetensors file, or the shipped one if path is empty.
	LoadNet func(g *env.Game, path string) (*mlp.Net, error)
	// MaxPly is the greatest search depth; 0 if the program has one search only.
	MaxPly int
	// Protocol says, in the file's header, how the contest talks to the bot.
	Protocol string
	// script tests the executable.
	script script
}

const lines = "It talks to the contest on standard input and output, in lines."

// contests has one line per game whose contest takes a source file.
var contests = map[string]*Contest{
	"blockbattle": {blockbattlebot.Entry.LoadNet, 4, lines, blockBattleScript(0)},
	"blocking":    {blockingbot.Entry.LoadNet, search.MaxPly, lines, blockingScript(blockingSlack)},
	"tetrisduel":  {tetrisduelbot.Entry.LoadNet, search.MaxPly, lines, duelScript(tetrisduelbot.DefaultTime)},
	"dropblox": {dropbloxbot.Entry.LoadNet, 0,
		"It is started for every block, with state and seconds left as arguments, as dropblox_ai.", dropbloxScript("60")},
}

// other says how the bot of a game is made that is not one source file.
var other = map[string]string{
	"wintetris": "its contest loads a shared library: " +
		"go build -buildmode=c-shared -o libwintetris_solver.so ./agents/wintetrisabi/lib",
}

// Lookup finds the contest of a game.
func Lookup(game string) (*Contest, error) {
	if c := contests[game]; c != nil {
		return c, nil
	}
	g, err := games.Lookup(game)
	if err != nil {
		return nil, err
	}
	if how := other[g.Name]; how != "" {
		return nil, fmt.Errorf("%s has no bot in one file: %s", g.Name, how)
	}
	return nil, fmt.Errorf("%s has no bot in one file: want %s", g.Name, strings.Join(names(), ", "))
}

// names lists the games that have a contest.
func names() []string {
	var out []string
	for name := range contests {
		out = append(out, name)
	}
	sort.Strings(out)
	return out
}

// ply checks a search depth and replaces 0 by the default.
func (c *Contest) ply(n int) (int, error) {
	switch {
	case n == 0:
		return 2, nil
	case c.MaxPly == 0:
		return 0, fmt.Errorf("ply %d, but its bot searches in one way only: leave the ply out", n)
	case n < 2 || n > c.MaxPly:
		return 0, fmt.Errorf("ply %d, want 2 to %d", n, c.MaxPly)
	}
	return n, nil
}
