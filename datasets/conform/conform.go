// Package conform holds the rules of a game against transcripts of the engines that first
// played it: it counts the values compared and keeps the first that differs.
package conform

import (
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"

	"blockyard/datasets/jsonl"
)

// A Tally counts comparisons.
type Tally struct {
	Compared, Differ int
	First            string // the first difference in full, with its place
	place            func() string
	noted            []string
}

// At names the place of the comparisons to come. It is called only for a difference.
func (t *Tally) At(place func() string) { t.place, t.noted = place, t.noted[:0] }

// Note adds a line, such as the input at this place, to be shown with a difference there.
func (t *Tally) Note(line string) { t.noted = append(t.noted, line) }

// Same compares one value.
func Same[T comparable](t *Tally, key string, recorded, replayed T) bool {
	t.Compared++
	if recorded == replayed {
		return true
	}
	t.differs(key, fmt.Sprint(recorded), fmt.Sprint(replayed))
	return false
}

// Given compares one value if the transcript gives it.
func Given[T comparable](t *Tally, key string, recorded *T, replayed T) bool {
	return recorded == nil || Same(t, key, *recorded, replayed)
}

func (t *Tally) differs(key, recorded, replayed string) {
	if t.Differ++; t.Differ > 1 {
		return
	}
	place := ""
	if t.place != nil {
		place = t.place() + ", "
	}
	t.First = fmt.Sprintf("%s%s\n  recorded: %s\n  replayed: %s\n", place, key, recorded, replayed)
	for _, n := range t.noted {
		t.First += "  " + n + "\n"
	}
}

// A Checker compares the records of one game's transcripts.
type Checker interface {
	// Index takes note of a line of any of the files before the first Check, for checks
	// that need records of other files. It passes over lines that it has no use for.
	Index(line []byte)
	// Check compares one line, in the order of the files, and says what it held: a word
	// for one ("game"), which the report counts. Its error is of a malformed line.
	Check(t *Tally, line []byte) (kind string, err error)
}

// Index lets c take note of a file. What cannot be read is left for Files to report.
func Index(c Checker, path string) {
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

// A Report is what checking one file came to.
type Report struct {
	File  string
	Kinds map[string]int
	Tally
}

// File checks one file. A malformed line ends it with an error that names file and line.
func File(c Checker, path string) (*Report, error) {
	in, err := jsonl.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return read(c, in)
}

// Read is File for a file already open; name stands for it.
func Read(c Checker, name string, r io.Reader) (*Report, error) {
	in, err := jsonl.New(name, r)
	if err != nil {
		return nil, err
	}
	return read(c, in)
}

func read(c Checker, in *jsonl.Reader) (*Report, error) {
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

// parts are the kinds of lines that a game is told in.
var parts = map[string]bool{"turn": true, "skip": true, "end": true}

// String is the report's line, "FILE: N games, M values compared, K differ", and under it
// the first difference. The lines that a game is told in are not counted beside it.
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
