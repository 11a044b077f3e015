// Package games lists every game. Programs import it. Games and their bots do not, so that a bot
// contains a single game.
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

// All holds every game and variant, each game before its variants.
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
// ("BlockBattle-v0", with or without "blockyard/").
func Lookup(name string) (*env.Game, error) {
	var known []string
	for _, g := range All {
		if name == g.Name || strings.TrimPrefix(name, "blockyard/") == g.ID {
			return g, nil
		}
		known = append(known, g.Name)
	}
	return nil, fmt.Errorf("no game %q; there are %s", name, strings.Join(known, ", "))
}
