// Train trains networks that evaluate positions and choices, by self-play or from recorded games.
package main

import (
	"os"

	"blockyard/train/commands"
)

func main() { os.Exit(commands.Main()) }
