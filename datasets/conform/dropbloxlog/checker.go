package dropbloxlog

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"blockyard/datasets/conform"
	"blockyard/env/dropblox"
)

// A Checker checks transcripts of Dropblox, line by line.
type Checker struct{ game *game }

// New returns a Checker that has seen no file.
func New() *Checker { return &Checker{} }

var _ conform.Checker = (*Checker)(nil)

// Index implements conform.Checker: no line needs another file.
func (*Checker) Index([]byte) {}

// kind tells the kinds of records apart.
type kind struct {
	Kind    string          `json:"kind"`
	Offsets json.RawMessage `json:"offsets"`
}

// Check implements conform.Checker.
func (c *Checker) Check(t *conform.Tally, line []byte) (string, error) {
	var k kind
	if err := json.Unmarshal(line, &k); err != nil {
		return "", fmt.Errorf("malformed record: %w", err)
	}
	switch k.Kind {
	case "game":
		return read(t, line, "game", c.begin)
	case "turn":
		return read(t, line, "turn", c.turn)
	case "end":
		return read(t, line, "end", c.end)
	case "case":
		return read(t, line, "case", checkCase)
	case "rng":
		return read(t, line, "seed", checkUniform)
	case "blocks":
		return read(t, line, "draw list", checkDraws)
	case "history":
		return read(t, line, "folder", checkHistory)
	case "":
		if k.Offsets != nil {
			return read(t, line, "block", checkBlock)
		}
	}
	return "", errors.New(`malformed record: want a "kind" of game, turn, end, case, rng, blocks or history, or a block's "offsets"`)
}

func read[T any](t *conform.Tally, line []byte, name string, check func(*conform.Tally, *T) error) (string, error) {
	var rec T
	err := json.Unmarshal(line, &rec)
	if err == nil {
		err = check(t, &rec)
	}
	if err != nil {
		return name, fmt.Errorf("malformed %s: %w", name, err)
	}
	return name, nil
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
	t.At(func() string { return fmt.Sprintf("block %d", r.Type) })
	conform.Same(t, "center", *r.Center, point(b.Center))
	conform.Same(t, "offsets", fmt.Sprint(r.Offsets), offsets(&b))
	return nil
}

// known refuses types that are not in the table.
func known(types ...int) error {
	for _, n := range types {
		if n < 0 || n >= dropblox.Types {
			return fmt.Errorf("type %d: want 0 to %d", n, dropblox.Types-1)
		}
	}
	return nil
}

func point(c dropblox.Cell) [2]int { return [2]int{int(c.I), int(c.J)} }

// offsets is a block's offsets as text.
func offsets(b *dropblox.Block) string {
	var out [][2]int
	for _, c := range b.Cells() {
		out = append(out, point(c))
	}
	return fmt.Sprint(out)
}

// status is the contest's word for whether a game goes on.
func status(s *dropblox.State) string {
	if s.Failed {
		return "failed"
	}
	return "playing"
}
