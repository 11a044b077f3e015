// Train trains the networks of the agent learned, by self-play or from recorded games.
package main

import (
	"os"

	"blockyard/train/commands"
)

func main() { os.Exit(commands.Main()) }
