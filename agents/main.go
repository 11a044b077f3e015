// Agents plays the games: matches with statistics, single games to watch, contests, and the
// tools that make players: tune, sign and bundle.
package main

import (
	"os"

	"blockyard/agents/commands"
)

func main() { os.Exit(commands.Main()) }
