// Agents plays the games: matches with statistics, single games to watch, and contests. It also analyses
// recorded games, makes contest bots (bundle), and shows changes of play (sign).
package main

import (
	"os"

	"blockyard/agents/commands"
)

func main() { os.Exit(commands.Main()) }
