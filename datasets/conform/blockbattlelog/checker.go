package blockbattlelog

import (
	"encoding/json"
	"fmt"

	"blockyard/datasets/conform"
)

// A Checker checks transcripts of AI Block Battle, line by line.
type Checker struct {
	games map[string]*seen // those indexed, by id, for the logs of them
}

// New returns a Checker that has seen no file.
func New() *Checker { return &Checker{games: map[string]*seen{}} }

var _ conform.Checker = (*Checker)(nil)

// kind tells the kinds of records apart.
type kind struct {
	Rounds json.RawMessage `json:"rounds"`
	In     json.RawMessage `json:"in"`
	Res    json.RawMessage `json:"res"`
	Log    json.RawMessage `json:"log"`
}

// Check implements conform.Checker.
func (c *Checker) Check(t *conform.Tally, line []byte) (string, error) {
	var k kind
	if err := json.Unmarshal(line, &k); err != nil {
		return "", fmt.Errorf("malformed record: %w", err)
	}
	switch {
	case k.Log != nil:
		return record(t, line, "log", func(t *conform.Tally, rec *logRecord) error { return checkLog(t, rec, c.games) })
	case k.Rounds != nil:
		return record(t, line, "game", checkGame)
	case k.In != nil && k.Res != nil:
		return record(t, line, "round", checkSingle)
	}
	return "", errKind
}

func record[T any](t *conform.Tally, line []byte, name string, check func(*conform.Tally, *T) error) (string, error) {
	var rec T
	if err := json.Unmarshal(line, &rec); err != nil {
		return name, fmt.Errorf("malformed %s: %w", name, err)
	}
	before := t.Compared
	err := check(t, &rec)
	if err == nil && t.Compared == before {
		err = fmt.Errorf("the %s gives no value to compare", name)
	}
	return name, err
}
