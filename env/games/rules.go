package games

import (
	"strings"

	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/blocking"
	"blockyard/env/dropblox"
	"blockyard/env/tetrisduel"
	"blockyard/env/wintetris"
)

// Rules returns the rules of a game for people, as Markdown: the RULES.md of its folder, which also describes the
// variants. It returns "" for a game that is not part of this repository.
func Rules(g *env.Game) string {
	name, _, _ := strings.Cut(g.Name, ":")
	return map[string]string{
		blockbattle.Game.Name: blockbattle.Rulebook, tetrisduel.Game.Name: tetrisduel.Rulebook,
		blocking.Game.Name: blocking.Rulebook, wintetris.Game.Name: wintetris.Rulebook,
		dropblox.Game.Name: dropblox.Rulebook,
	}[name]
}
