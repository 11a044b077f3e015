package tetrisduellog

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"blockyard/datasets/conform"
	"blockyard/env/tetrisduel"
)

// A Checker checks transcripts of the Tetris duel, line by line.
type Checker struct{ game *game }

// New returns a Checker that has seen no file.
func New() *Checker { return &Checker{} }

var _ conform.Checker = (*Checker)(nil)

// Index implements conform.Checker: no line needs another file.
func (*Checker) Index([]byte) {}

// kind tells the kinds of records apart.
type kind struct {
	Type   string          `json:"type"`
	Valid  json.RawMessage `json:"valid"`
	Before json.RawMessage `json:"before"`
}

// Check implements conform.Checker.
func (c *Checker) Check(t *conform.Tally, line []byte) (string, error) {
	var k kind
	if err := json.Unmarshal(line, &k); err != nil {
		return "", fmt.Errorf("malformed record: %w", err)
	}
	switch {
	case k.Type == "game":
		return read(t, line, "game", c.begin)
	case k.Type == "turn":
		return read(t, line, "turn", c.turn)
	case k.Type == "end":
		return read(t, line, "end", c.end)
	case k.Type == "" && k.Valid != nil:
		return read(t, line, "list", checkList)
	case k.Type == "" && k.Before != nil:
		return read(t, line, "clear", checkClear)
	}
	return "", errors.New(`malformed record: want a "type" of game, turn or end, or a "valid" list, or a board "before"`)
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

// listRecord is a board in the mover's frame and the placements of a block on it.
type listRecord struct {
	Board string   `json:"board"`
	Block int      `json:"block"`
	All   []string `json:"all"`
	Valid []string `json:"valid"`
}

func checkList(t *conform.Tally, r *listRecord) error {
	board, err := parseBoard(r.Board)
	if err != nil {
		return err
	}
	k, err := kindOf(r.Block)
	if err != nil {
		return err
	}
	t.At(func() string { return fmt.Sprintf("block %c on %s", tetrisduel.Letters[k], r.Board) })
	conform.Same(t, "valid", strings.Join(r.Valid, " "), listText(tetrisduel.Placements(&board, k, false, nil)))
	if r.All != nil {
		conform.Same(t, "all", strings.Join(r.All, " "), listText(tetrisduel.Placements(&board, k, true, nil)))
	}
	return nil
}

// clearRecord is a board in the mover's frame before and after clearing.
type clearRecord struct {
	Before string `json:"before"`
	After  string `json:"after"`
	Peace  *int   `json:"peace"`
	Battle *int   `json:"battle"`
}

func checkClear(t *conform.Tally, r *clearRecord) error {
	board, err := parseBoard(r.Before)
	if err != nil {
		return err
	}
	if _, err := parseBoard(r.After); err != nil {
		return err
	}
	t.At(func() string { return "board " + r.Before })
	peace, battle := tetrisduel.Clear(&board)
	conform.Same(t, "after", strings.ToLower(r.After), boardText(&board))
	conform.Given(t, "peace", r.Peace, peace)
	conform.Given(t, "battle", r.Battle, battle)
	return nil
}
