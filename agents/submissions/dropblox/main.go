// Dropblox is the bot for Dropblox: started anew for every block with the state and the
// seconds left as arguments, it writes commands to standard output. The contest wants it
// under the name dropblox_ai.
package main

import (
	"fmt"
	"os"
	"time"

	"blockyard/agents/dropbloxbot"
	"blockyard/agents/mlp"
	"blockyard/agents/submissions/netpack"
)

func main() {
	begun := time.Now()
	r, err := rater()
	if err == nil {
		err = dropbloxbot.Answer(dropbloxbot.NewBeam(r), os.Args[1:], begun, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err) // the block drops where it appeared, and the game goes on
	}
}

// rater is the net that is built in, or the classic weights.
func rater() (dropbloxbot.Rater, error) {
	if netText == "" {
		return &dropbloxbot.Hand{Weights: dropbloxbot.Classic}, nil
	}
	layers, err := netpack.Parse(netText)
	if err != nil {
		return nil, err
	}
	net, err := mlp.New(layers)
	if err != nil {
		return nil, err
	}
	return dropbloxbot.NewLearned(net)
}
