// Dropblox is the program for the Dropblox contest. The contest starts it under the name dropblox_ai for every block,
// with the state of the game and the seconds left as arguments, and reads commands from its standard output. Package
// agents/submit turns it into the single file that the contest takes.
package main

import (
	"fmt"
	"os"
	"time"

	"blockyard/agents/bots/dropbloxbot"
	"blockyard/agents/submit/programs/program"
)

func main() {
	begun := time.Now()
	if err := dropbloxbot.Answer(dropbloxbot.NewBeam(rater()), os.Args[1:], begun, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err) // the block drops where it appeared, and the game continues
	}
}

// rater is the network that is built in, or the baseline.
func rater() dropbloxbot.Rater {
	if program.NetText == "" {
		return &dropbloxbot.Hand{Weights: dropbloxbot.Classic}
	}
	return dropbloxbot.NewLearned(program.Network())
}
