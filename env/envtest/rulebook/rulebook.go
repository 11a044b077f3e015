// Package rulebook reads the rules of a game, its RULES.md, for the tests that compare them with the
// code. A comment before a table or a fenced block names it:
//
//	<!-- points -->
//	| rows | points |
//	|---|---|
//	| 1 | 0 |
package rulebook

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A Book is a RULES.md.
type Book struct {
	Path     string
	Text     string
	Sections []Section // in order; the text before the first heading is not part of any
}

// A Section is a numbered heading, such as "4. Moves" or "4.2 Tokens", and what follows it.
type Section struct {
	Number, Title string
	Text          string // up to the next section of the same or a higher level
}

var heading = regexp.MustCompile(`^(##|###) (\d+(?:\.\d+)?)\.? (.+)$`)

// Parse reads the text of a RULES.md.
func Parse(path, text string) *Book {
	b := &Book{Path: path, Text: text}
	lines := strings.Split(text, "\n")
	var open []int // indices of Sections that the current line belongs to
	for _, line := range lines {
		if m := heading.FindStringSubmatch(line); m != nil {
			if len(m[1]) == 2 || len(open) == 0 {
				open = open[:0]
			} else {
				open = open[:1]
			}
			open = append(open, len(b.Sections))
			b.Sections = append(b.Sections, Section{Number: m[2], Title: m[3]})
		}
		for _, k := range open {
			b.Sections[k].Text += line + "\n"
		}
	}
	return b
}

// Open reads the RULES.md in a folder.
func Open(t testing.TB, folder string) *Book {
	t.Helper()
	path := filepath.Join(folder, "RULES.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return Parse(path, string(text))
}

// Section returns the section with a number such as "4" or "4.2", or nil.
func (b *Book) Section(number string) *Section {
	for k := range b.Sections {
		if b.Sections[k].Number == number {
			return &b.Sections[k]
		}
	}
	return nil
}

// after returns the lines that follow every comment with a name.
func (b *Book) after(t testing.TB, name string) (found [][]string) {
	t.Helper()
	parts := strings.Split(b.Text, "<!-- "+name+" -->\n")
	for _, part := range parts[1:] {
		found = append(found, strings.Split(part, "\n"))
	}
	if len(found) == 0 {
		t.Fatalf("%s has nothing named %q: want a comment <!-- %s --> before a table or a fenced block", b.Path, name, name)
	}
	return found
}

// Table returns the rows of the table with a name: the text of each cell, without code marks, by the
// text of its column's head.
func (b *Book) Table(t testing.TB, name string) (rows []map[string]string) {
	t.Helper()
	var head []string
	for k, line := range b.after(t, name)[0] {
		if !strings.HasPrefix(line, "|") {
			break
		}
		cells := strings.Split(strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|"), "|")
		for i := range cells {
			cells[i] = strings.ReplaceAll(strings.TrimSpace(cells[i]), "`", "")
		}
		switch k {
		case 0:
			head = cells
			continue
		case 1:
			continue // the rule under the head
		}
		if len(cells) != len(head) {
			t.Fatalf("%s, table %q: %d cells in %q, want %d", b.Path, name, len(cells), line, len(head))
		}
		row := map[string]string{}
		for i, c := range cells {
			row[head[i]] = c
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		t.Fatalf("%s: the table %q has no rows", b.Path, name)
	}
	return rows
}

// Number reads a number.
func Number(t testing.TB, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Words reads words, some of which stand for several: "left down*2" are left, down and down.
func Words(t testing.TB, text string) (words []string) {
	t.Helper()
	for _, part := range strings.Fields(text) {
		word, times, many := strings.Cut(part, "*")
		if !many {
			times = "1"
		}
		words = append(words, slices.Repeat([]string{word}, Number(t, times))...)
	}
	return words
}

// Board reads the lowest rows of a board from the top down, each of so many characters. It calls set for all that are
// not '.', with the column and the row, counted from the lowest one.
func Board(t testing.TB, text string, width int, set func(x, up int, c byte)) {
	t.Helper()
	rows := strings.Fields(text)
	for k, row := range rows {
		if len(row) != width {
			t.Fatalf("%q: want rows of %d characters", row, width)
		}
		for x := range width {
			if row[x] != '.' {
				set(x, len(rows)-1-k, row[x])
			}
		}
	}
}

// Blocks returns the lines of every fenced block with a name.
func (b *Book) Blocks(t testing.TB, name string) (blocks [][]string) {
	t.Helper()
	for _, lines := range b.after(t, name) {
		if !strings.HasPrefix(lines[0], "```") {
			t.Fatalf("%s: %q stands before %q, want a fenced block", b.Path, name, lines[0])
		}
		end := 1
		for end < len(lines) && lines[end] != "```" {
			end++
		}
		blocks = append(blocks, lines[1:end])
	}
	return blocks
}
