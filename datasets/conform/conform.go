// Package conform replays transcripts of the programs that first ran these contests, and
// compares every value that a transcript states with the value our rules compute.
//
// A transcript is a file of JSON lines. The checker of a game (one package below this one for
// each contest whose own engine left transcripts) says what its lines are; see Checker.
// This package reads the files, counts the comparisons and keeps the first difference.
//
// A game without such a package has no transcripts to check, which is no fault: the table of
// checkers in the program datasets is separate from the list of games, and since this layer may
// not import agents it cannot stand in the registry of agents either.
package conform

import (
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"

	"blockyard/datasets/jsonl"
)

// Index lets c read a file for checks that need records of other files. It ignores what cannot be
// read: File reports that.
func Index(c *Checker, path string) {
	if c.Index == nil {
		return
	}
	in, err := jsonl.Open(path)
	if err != nil {
		return
	}
	defer in.Close()
	for {
		line, err := in.Next()
		if err != nil {
			return
		}
		c.Index(line)
	}
}

// A Report is the outcome of checking one file.
type Report struct {
	File  string
	Kinds map[string]int // lines by kind
	Tally
}

// File checks one file. At a malformed line it stops with an error that names file and line.
func File(c *Checker, path string) (*Report, error) {
	in, err := jsonl.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return read(c, in)
}

// Read is File for an open file; errors call it name.
func Read(c *Checker, name string, r io.Reader) (*Report, error) {
	in, err := jsonl.New(name, r)
	if err != nil {
		return nil, err
	}
	return read(c, in)
}

func read(c *Checker, in *jsonl.Reader) (*Report, error) {
	rep := &Report{File: in.Name(), Kinds: map[string]int{}}
	for {
		line, err := in.Next()
		if errors.Is(err, io.EOF) {
			return rep, nil
		}
		if err != nil {
			return rep, err
		}
		before := rep.Differ
		kind, err := c.Check(&rep.Tally, line)
		if before == 0 && rep.Differ > 0 {
			rep.First = fmt.Sprintf("%s:%d: %s", in.Name(), in.Line(), rep.First)
		}
		if err != nil {
			if in.Cut() {
				err = fmt.Errorf("%w (%w)", err, jsonl.ErrCut)
			}
			return rep, in.Errorf("%w", err)
		}
		rep.Kinds[kind]++
	}
}

// parts are the kinds of lines that follow a game's first line.
var parts = map[string]bool{"turn": true, "skip": true, "end": true}

// String returns the line "FILE: N games, M values compared, K differ" and the first difference
// below it. Lines that belong to a game are not counted beside the games.
func (r *Report) String() string {
	var kinds []string
	for kind, n := range r.Kinds {
		if r.Kinds["game"] > 0 && parts[kind] {
			continue
		}
		kinds = append(kinds, fmt.Sprintf("%d %ss", n, kind))
	}
	sort.Strings(kinds)
	if len(kinds) == 0 {
		kinds = []string{"0 games"}
	}
	return fmt.Sprintf("%s: %s, %d values compared, %d differ\n%s", r.File, strings.Join(kinds, ", "), r.Compared, r.Differ, r.First)
}
