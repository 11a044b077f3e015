// Package dropbloxlog compares transcripts of the original engine of Dropblox with the rules
// of package dropblox. A file has JSON lines of these kinds, which differ in their keys:
//
//	game, turn, end   whole games, line after line: "kind"
//	case              one turn from a given position
//	rng               the first uniform numbers of a seed
//	blocks            the types drawn from a seed at given scores: a "trajectory"
//	block             a block of the table: "type", "center" and "offsets" and no "kind"
//	history           a game as files: the output of the program and the text of every file
//
// A replay takes seeds, commands and the program's output from the transcript, and in a case also
// the board and two blocks. It compares every other value, and the files of a history byte by byte.
//
// Boards are lists of rows without the empty rows at the top. Points are [row, column].
package dropbloxlog

import (
	"errors"
	"fmt"
	"strings"

	"blockyard/datasets/conform"
	"blockyard/env/dropblox"
)

// A replay holds the open game.
type replay struct{ conform.Series[game] }

// New returns a checker of Dropblox transcripts.
func New() *conform.Checker {
	r := new(replay)
	return &conform.Checker{Tag: "kind", Kinds: []conform.Kind{
		conform.Tagged("game", "game", r.begin),
		conform.Tagged("turn", "turn", r.turn),
		conform.Tagged("end", "end", r.end),
		conform.Tagged("case", "case", checkCase),
		conform.Tagged("seed", "rng", checkUniform),
		conform.Tagged("draw list", "blocks", checkDraws),
		conform.Tagged("folder", "history", checkHistory),
		conform.Keyed("block", "offsets", checkBlock),
	}}
}

// A seed is a whole number of any size, written as a number or as text.
type seed string

// UnmarshalJSON implements json.Unmarshaler.
func (s *seed) UnmarshalJSON(text []byte) error {
	*s = seed(strings.Trim(string(text), `"`))
	return nil
}

// blockRecord is a block of the table.
type blockRecord struct {
	Type    int      `json:"type"`
	Center  *[2]int  `json:"center"`
	Offsets [][2]int `json:"offsets"`
}

func checkBlock(t *conform.Tally, r *blockRecord) error {
	if err := known(r.Type); err != nil {
		return err
	}
	if r.Center == nil {
		return errors.New(`no "center"`)
	}
	b := dropblox.BlockOf(r.Type)
	t.At("block %d", r.Type)
	conform.Same(t, "center", *r.Center, point(b.Center))
	conform.Same(t, "offsets", fmt.Sprint(r.Offsets), fmt.Sprint(offsets(&b)))
	return nil
}

// known returns an error for a type that is not in the table.
func known(types ...int) error {
	for _, n := range types {
		if n < 0 || n >= dropblox.Types {
			return fmt.Errorf("type %d: want 0 to %d", n, dropblox.Types-1)
		}
	}
	return nil
}

func point(c dropblox.Cell) [2]int { return [2]int{int(c.I), int(c.J)} }

// offsets are the cells of a block as [row, column] relative to its center.
func offsets(b *dropblox.Block) (out [][2]int) {
	for _, c := range b.Cells() {
		out = append(out, point(c))
	}
	return out
}

// status is the contest's word for whether a game goes on.
func status(s *dropblox.State) string {
	if s.Failed {
		return "failed"
	}
	return "playing"
}
