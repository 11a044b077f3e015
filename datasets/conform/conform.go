// Package conform compares the rules of the games with transcripts of other engines, above all the original ones of the
// contests: files of JSON lines, whose every value is compared with what the rules compute. The packages below have a
// Checker for each game that has transcripts; package datasets/commands lists them.
package conform

import (
	"fmt"
	"sort"
	"strings"

	"blockyard/datasets/record/jsonl"
)

// Index lets c read a file before the first check, for checks that need lines of other files. It ignores errors, which
// File reports, and reads no more than most bytes. Standard input can only be read once, so it is not indexed.
func Index(c *Checker, path string, most int64) {
	if c.Index == nil || path == "-" {
		return
	}
	in, err := open(path, most)
	if err != nil {
		return
	}
	defer in.Close()
	for line, err := range in.All() {
		if err == nil {
			c.Index(line)
		}
	}
}

func open(path string, most int64) (*jsonl.Reader, error) {
	in, err := jsonl.Open(path)
	if err == nil {
		in.Limit(most, "raise --max-bytes")
	}
	return in, err
}

// A Report is the outcome of checking one file.
type Report struct {
	File  string
	Kinds map[string]int // lines by kind
	Tally
}

// File checks the file at path; "-" is standard input. It fails if the file has more than most bytes, uncompressed.
func File(c *Checker, path string, most int64) (*Report, error) {
	in, err := open(path, most)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return Read(c, in)
}

// Read checks the lines of in. At a malformed line it stops with an error that names file and line.
func Read(c *Checker, in *jsonl.Reader) (*Report, error) {
	rep := &Report{File: in.Name(), Kinds: map[string]int{}}
	for line, err := range in.All() {
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
	return rep, nil
}

// parts are the kinds of lines that follow a game's first line.
var parts = map[string]bool{"turn": true, "skip": true, "end": true}

// String returns "FILE: N games, M values compared, K differ" and the first difference. Parts of games are left out.
func (r *Report) String() string {
	var kinds []string
	for kind, n := range r.Kinds {
		if r.Kinds["game"] == 0 || !parts[kind] {
			kinds = append(kinds, fmt.Sprintf("%d %ss", n, kind))
		}
	}
	sort.Strings(kinds)
	if len(kinds) == 0 {
		kinds = []string{"0 games"}
	}
	return fmt.Sprintf("%s: %s, %d values compared, %d differ\n%s",
		r.File, strings.Join(kinds, ", "), r.Compared, r.Differ, r.First)
}
