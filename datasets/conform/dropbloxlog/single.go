package dropbloxlog

import (
	"fmt"
	"strconv"

	"blockyard/datasets/conform"
	"blockyard/env/dropblox"
)

// A caseRecord is one turn from a given position, and the board after it.
type caseRecord struct {
	turnRecord
	Type  *int    `json:"type"`
	Next  *int    `json:"next"`
	After [][]int `json:"after"`
}

func checkCase(t *conform.Tally, v conform.Values, r *caseRecord) {
	if r.Type == nil || r.Next == nil {
		conform.Malformed(`no "type" or no "next"`)
	}
	mustBeKnown(*r.Type, *r.Next)
	var s dropblox.State
	s.Reset(0)
	s.Blocks[0], s.Blocks[1] = uint16(*r.Type), uint16(*r.Next)
	stack(&s, r.Stack)
	if b := s.Block(0); !b.Fits(&s.Taken) {
		conform.Malformed("the block has no room where it appears: want a board with room for it")
	}
	t.At("case %s", v.ID())
	t.Note(fmt.Sprintf("commands: %q", r.Commands))
	compare(t, v, &s, r.Commands)
	v.Given(t, "gained", int(s.Points))
	if r.After != nil {
		conform.Same(t, "after", fmt.Sprint(r.After), stackText(&s))
	}
}

// stack fills the lowest rows of an empty board.
func stack(s *dropblox.State, rows [][]int) {
	if len(rows) > dropblox.Rows {
		conform.Malformed("a board of %d rows, want at most %d", len(rows), dropblox.Rows)
	}
	for k, row := range rows {
		if len(row) != dropblox.Cols {
			conform.Malformed("row %d has %d squares, want %d", k, len(row), dropblox.Cols)
		}
		i := dropblox.Rows - len(rows) + k
		for j, v := range row {
			if v < 0 || v > dropblox.Types {
				conform.Malformed("row %d: square %d, want 0 to %d", k, v, dropblox.Types)
			}
			if s.Cells[i][j] = uint16(v); v != 0 {
				s.Taken[j] |= 1 << uint(i)
			}
		}
	}
	if s.Taken.Full(dropblox.Cols) != 0 {
		conform.Malformed("a full row on the board, want none")
	}
}

// stackText is a board as text, without its empty rows on top.
func stackText(s *dropblox.State) string {
	top := 0
	for top < dropblox.Rows && s.Cells[top] == [dropblox.Cols]uint16{} {
		top++
	}
	return fmt.Sprint(s.Cells[top:])
}

// A historyRecord is a game as its history files, which are compared byte by byte (rules §13).
type historyRecord struct {
	Seed   seed              `json:"seed"`
	Mode   string            `json:"mode"`
	Output []string          `json:"ai_stdout"`
	Files  map[string]string `json:"files"`
}

// firstSeconds is the second argument of the program in the first turn (rules §9): the limit less the margin.
const firstSeconds = "299"

func checkHistory(t *conform.Tally, v conform.Values, r *historyRecord) {
	var s dropblox.State
	conform.Valid(s.ResetSeed(string(r.Seed)))
	compared := 0
	same := func(name string, text []byte) {
		recorded, ok := r.Files[name]
		if !ok {
			recorded = "(no such file)"
		}
		compared++
		conform.Same(t, name, recorded, string(text))
	}
	state := func(n int) {
		p := s.Position()
		same("state"+strconv.Itoa(n), p.AppendJSON(nil))
	}
	turns := 0
	for _, text := range r.Output {
		t.At("history of seed %s, turn %d", r.Seed, turns)
		t.Note(fmt.Sprintf("output: %q", text))
		if s.Failed {
			break
		}
		state(turns)
		commands, _ := dropblox.ReadOutput(text)
		same("move"+strconv.Itoa(turns), dropblox.AppendMoves(nil, commands))
		s.Play(commands)
		turns++
	}
	t.At("history of seed %s, end", r.Seed)
	state(turns)
	conform.Same(t, "number of outputs", len(r.Output), turns)
	conform.Same(t, "number of files", len(r.Files), compared)
	conform.Same(t, "the game is over", true, s.Failed)
	v.Given(t, "turns", turns, "result", int(s.Points), "result_time", turns-1, "first_arg2", firstSeconds)
}
