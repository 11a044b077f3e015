// Package games lists every game, and finds them by name. Programs import it. Games and their bots do not,
// so that a bot contains a single game.
package games

import (
	"fmt"
	"strings"

	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/blocking"
	"blockyard/env/dropblox"
	"blockyard/env/tetrisduel"
	"blockyard/env/wintetris"
)

// All holds every game and variant, each game before its variants. The variants with a table of their own,
// such as "blocking:shapes=HASH", are not among them: see Open and Recorded.
var All = []*env.Game{
	blockbattle.Game,
	blockbattle.ClassicGame,
	blockbattle.PortGame,
	tetrisduel.Game,
	blocking.Game,
	wintetris.Game,
	wintetris.InstantGame,
	wintetris.TickGame,
	dropblox.Game,
}

// Lookup finds a game by name ("blockbattle", "blockbattle:classic") or by Gymnasium id
// ("BlockBattle-v0", with or without "blockyard/"). It also finds the games that Open and Recorded
// have returned. It opens no file, whatever the name is.
func Lookup(name string) (*env.Game, error) {
	if g := Find(All, name); g != nil {
		return g, nil
	}
	if g, ok := tabled.Load(name); ok {
		return g.(*env.Game), nil
	}
	return nil, fmt.Errorf("no game %q; there are %s", name, strings.Join(Names(All), ", "))
}

// Find finds one of some games by its name or id, as Lookup does; nil if it is not among them.
func Find(list []*env.Game, name string) *env.Game {
	for _, g := range list {
		if name == g.Name || strings.TrimPrefix(name, "blockyard/") == g.ID {
			return g
		}
	}
	return nil
}

// Names are the names of games.
func Names(list []*env.Game) (names []string) {
	for _, g := range list {
		names = append(names, g.Name)
	}
	return names
}
