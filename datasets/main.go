// Datasets works with recorded games. It checks that they replay as recorded, shows them in a terminal or browser,
// summarises them, exports them for training, and compares the rules with transcripts of the original contest engines.
package main

import (
	"os"

	"blockyard/datasets/commands"
)

func main() { os.Exit(commands.Main()) }
