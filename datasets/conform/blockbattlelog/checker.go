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
