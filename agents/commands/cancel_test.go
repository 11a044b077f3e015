package commands

import (
	"io"
	"testing"
	"time"
)

// TestSearchesHearASignal: commands whose next decision alone would take minutes, or hours, end when their context does,
// as a signal ends it.
func TestSearchesHearASignal(t *testing.T) {
	for _, line := range []string{
		"arena dropblox --a learned:width=20000 --games 1000 -q",
		"arena blocking --a hand:ply=6,width=10000 --b hand:ply=6,width=10000 --games 1000 -q",
		"arena blockbattle --a learned:ply=4,width=10000 --b learned:ply=4,width=10000 --games 1000 -q",
		"play tetrisduel -a hand:ply=6,width=10000 -a first",
		"analyze ../../datasets/games/dropblox.jsonl --agent learned:width=20000 -q",
		"analyze ../../datasets/games/blockbattle.jsonl --agent hand:ply=4,width=10000 -q",
		"analyze ../../datasets/games/blocking.jsonl#3 --agent hand:ply=6,width=10000",
		"bot blockbattle --agent hand",
		"tune dropblox --with width=20000 -q --out none.json",
	} {
		t.Run(line, func(t *testing.T) {
			silent, in := io.Pipe() // of a contest that says nothing
			defer in.Close()
			r := begin(t, silent, line)
			select {
			case <-r.ended:
				t.Fatalf("it ended by itself: %s%s", &r.out, &r.errs)
			case <-time.After(300 * time.Millisecond):
			}
			r.stop(t)
		})
	}
}
