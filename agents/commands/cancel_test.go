package commands

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"
)

// TestSearchesHearASignal: commands whose next decision alone would take minutes, or hours, end when their context does,
// as a signal ends it. The time-out only catches one that goes on.
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
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			silent, in := io.Pipe() // of a contest that says nothing
			defer in.Close()
			var out, errs bytes.Buffer
			ended := make(chan int)
			go func() { ended <- run(ctx, strings.Fields(line), &console{In: silent, Out: &out, Err: &errs}) }()
			select {
			case <-ended:
				t.Fatalf("it ended by itself: %s%s", &out, &errs)
			case <-time.After(300 * time.Millisecond):
			}
			cancel()
			begun := time.Now()
			select {
			case <-ended:
				t.Log("ended after", time.Since(begun))
			case <-time.After(5 * time.Minute):
				t.Fatal("it does not hear the end of its context")
			}
		})
	}
}
