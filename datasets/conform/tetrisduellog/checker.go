package tetrisduellog

import (
	"strings"

	"blockyard/datasets/conform"
	"blockyard/env/tetrisduel"
)

// A replay holds the open game.
type replay struct{ conform.Series[game] }

// New returns a checker of Tetris duel transcripts.
func New() *conform.Checker {
	r := new(replay)
	return &conform.Checker{Tag: "type", Kinds: []conform.Kind{
		conform.Tagged("game", "game", r.begin),
		conform.Tagged("turn", "turn", r.turn),
		conform.Tagged("end", "end", r.end),
		conform.Keyed("list", "valid", checkList),
		conform.Keyed("clear", "before", checkClear),
	}}
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
	t.At("block %c on %s", tetrisduel.Letters[k], r.Board)
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
	t.At("board %s", r.Before)
	peace, battle := tetrisduel.Clear(&board)
	conform.Same(t, "after", strings.ToLower(r.After), boardText(&board))
	conform.Given(t, "peace", r.Peace, peace)
	conform.Given(t, "battle", r.Battle, battle)
	return nil
}
