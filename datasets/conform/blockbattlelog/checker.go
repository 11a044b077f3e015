// Package blockbattlelog compares transcripts of the original engines of AI Block Battle with the rules
// of package blockbattle. A file has JSON lines of three kinds, which differ in their keys:
//
//	game       a whole game of the classic engine or the port: "rounds"
//	round      a single round of the classic engine from a given position: "in" and "res"
//	log        the lines that one bot and its host exchanged: "log"
//
// A replay takes the pieces, the answers and the hole columns from the transcript and compares every
// other value. If a transcript of the classic engine also states the outcome of the same answers by the
// published rules, that is compared too.
//
// For a log, every line that the host sent is compared with the line that our side would have sent. The
// bot's own board, points, combo and skips follow from its answers. The opponent's answers are not in
// the log, so there must be an answer that explains the change of its board and counters, and the number
// of garbage rows and their holes must follow from its points. If the game of the log is in one of the
// files too, all lines are also compared with that game.
package blockbattlelog

import (
	"errors"

	"blockyard/datasets/conform"
)

// games are the whole games found in any file, by id: the logs of their bots are compared with them.
type games map[string]*seen

// New returns a checker of AI Block Battle transcripts.
func New() *conform.Checker {
	all := games{}
	return &conform.Checker{Index: all.index, Kinds: []conform.Kind{
		conform.Keyed("log", "log", comparing(all.checkLog)),
		conform.Keyed("game", "rounds", comparing(checkGame)),
		conform.Keyed("round", "res", comparing(checkSingle)),
	}}
}

// comparing makes check return an error for a record that states no value to compare.
func comparing[T any](check func(*conform.Tally, *T) error) func(*conform.Tally, *T) error {
	return func(t *conform.Tally, rec *T) error {
		before := t.Compared
		err := check(t, rec)
		if err == nil && t.Compared == before {
			err = errors.New("no value to compare, want at least one")
		}
		return err
	}
}
