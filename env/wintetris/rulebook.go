package wintetris

import _ "embed"

// Rulebook is the rules of the game for people, as Markdown.
//
//go:embed RULES.md
var Rulebook string
