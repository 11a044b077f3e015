// Package handles has the WinTetris library without its C interface. A caller in C opens a solver and gets a number,
// its handle; a Table checks all arguments, and turns errors and panics into codes.
package handles

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"blockyard/agents/bots/wintetrisbot"
	"blockyard/agents/mlp"
	"blockyard/datasets/program/capi"
	"blockyard/env/wintetris"
)

// The error codes for the caller; 0 is none.
const (
	BadHandle   int32 = -1 // no such solver, or it has been closed
	BadArgument int32 = -2
	Internal    int32 = -3 // the solver failed; it may be called again
)

// MaxOpen is how many solvers a table can hold at the same time.
const MaxOpen = 4096

// A Table maps handles to solvers. Its methods are safe for concurrent use; calls of the same
// solver wait for each other. No method panics.
type Table struct {
	new func(options string) (wintetris.Solver, error)
	capi.Table[entry]
}

// An entry is one open solver of the table, and the options to open it again with.
type entry struct {
	solver  wintetris.Solver // nil after a failure, until the next call
	options string
}

// NewTable returns an empty table, which creates solvers with newSolver. After a panic of either, only the call fails.
func NewTable(newSolver func(options string) (wintetris.Solver, error)) *Table {
	return &Table{newSolver, capi.Table[entry]{What: "solver", Most: MaxOpen}}
}

// Open creates a solver and returns its handle, or 0; LastError(0) then says why. Handles are never reused.
func (t *Table) Open(options func() string) int64 {
	return t.Table.Open(func() (e entry, err error) {
		if err = capi.Guard("options", func() error { e.options = options(); return nil }); err == nil {
			e.solver, err = t.new(e.options)
		}
		return e, err
	})
}

// A Request holds the arguments of Update, in the engine's terms.
type Request struct {
	Field         wintetris.Field
	Current, Next wintetris.Block
	NewPiece      bool
}

// Update returns a solver's bits, or a negative code: BadArgument if read fails.
func (t *Table) Update(handle int64, read func(*Request) error) (answer int32) {
	failure := BadArgument
	err := t.Use(handle, func(e *entry) (err error) {
		var q Request
		if err = capi.Guard("reading the arguments", func() error { return read(&q) }); err != nil {
			return err
		}
		s := e.solver
		failure, e.solver = Internal, nil // if what follows fails
		if s == nil {
			if s, err = t.new(e.options); err != nil {
				return err
			}
		}
		answer = int32(s.Update(&q.Field, q.Current, q.Next, q.NewPiece))
		e.solver = s
		return nil
	})
	return code(err, answer, failure)
}

// code returns the answer of a call, or the code of its error.
func code(err error, answer, failure int32) int32 {
	switch {
	case err == nil:
		return answer
	case errors.Is(err, capi.ErrNotOpen):
		return BadHandle
	}
	return failure
}

// Close closes a solver, after a call in progress. It returns 0 or a code.
func (t *Table) Close(handle int64) int32 {
	return code(t.Table.Close(handle, func(entry) error { return nil }), 0, Internal)
}

// Field converts the settled cells of a caller, row by row from the top one on, 0 for empty.
func Field(cells *[wintetris.Width * wintetris.Height]uint8) (f wintetris.Field) {
	for i, c := range cells {
		if c != 0 {
			f.Set(i%wintetris.Width, wintetris.Height-1-i/wintetris.Width)
		}
	}
	return f
}

// Block converts a piece of a caller, by the left column and the top row of its box, where rows count from the top. It
// must be within the walls and the floor, and at most the height of its box above the field.
func Block(name string, kind, rotation, x, y int32) (b wintetris.Block, err error) {
	var empty wintetris.Field
	switch {
	case kind < 0 || kind >= wintetris.Kinds:
		return b, fmt.Errorf("%s: kind %d: want 0 to %d", name, kind, wintetris.Kinds-1)
	case rotation < 0 || rotation >= wintetris.Rotations:
		return b, fmt.Errorf("%s: rotation %d: want 0 to %d", name, rotation, wintetris.Rotations-1)
	}
	size := int32(wintetris.Size(uint8(kind)))
	if x < -size || x > wintetris.Width || y < -size || y > wintetris.Height {
		return b, fmt.Errorf("%s: x %d, y %d: outside the field", name, x, y)
	}
	b = wintetris.Block{Kind: uint8(kind), Rot: uint8(rotation), X: int8(x), Y: int8(wintetris.Height - y - size)}
	if !empty.Fits(b) {
		return b, fmt.Errorf("%s: kind %d, rotation %d, x %d, y %d reaches through a wall or the floor",
			name, kind, rotation, x, y)
	}
	return b, nil
}

// MaxOptions is the length of the longest option text in bytes.
const MaxOptions = 4096

const maxWeight = 1e6

// NewSolver creates a demo solver from options:
//
//	evaluator=hand|learned    the evaluator; by default hand
//	weights=FILE              weights instead of the shipped ones
//	parts=4                   number of ticks over which the work is split
//	holes=-500;slots=0;row=200;rows=500;top=-150;bottom=-75;chasms=400
//	                          weights of hand
//
// separated by semicolons, in any order, each at most once. Spaces around them are ignored.
func NewSolver(options string) (wintetris.Solver, error) {
	given, err := parse(options)
	if err != nil {
		return nil, err
	}
	var rater wintetrisbot.Rater
	switch evaluator := cmp.Or(given["evaluator"], "hand"); evaluator {
	case "hand":
		rater, err = hand(given)
	case "learned":
		rater, err = learned(given)
	default:
		err = fmt.Errorf("option evaluator: %.80q: want hand or learned", evaluator)
	}
	if err != nil {
		return nil, err
	}
	parts := cmp.Or(given["parts"], strconv.Itoa(wintetris.Parts))
	n, err := strconv.Atoi(parts)
	if err != nil || n < 1 || n > wintetrisbot.MaxParts {
		return nil, fmt.Errorf("option parts: %.80q: want 1 to %d", parts, wintetrisbot.MaxParts)
	}
	return wintetrisbot.NewSolver(rater, n), nil
}

// parse returns the values of options by their names.
func parse(options string) (map[string]string, error) {
	if len(options) > MaxOptions {
		return nil, fmt.Errorf("options: longer than %d bytes", MaxOptions)
	}
	known, given := append([]string{"evaluator", "weights", "parts"}, wintetrisbot.TermNames[:]...), map[string]string{}
	for _, part := range strings.Split(options, ";") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		switch {
		case value == "":
			return nil, fmt.Errorf("option %.80q: want NAME=VALUE", part)
		case given[name] != "":
			return nil, fmt.Errorf("option %.80q is given twice", name)
		case !slices.Contains(known, name):
			return nil, fmt.Errorf("option %.80s: unknown; want %s", name, strings.Join(known, ", "))
		}
		given[name] = value
	}
	return given, nil
}

func hand(given map[string]string) (wintetrisbot.Rater, error) {
	w, err := wintetrisbot.Entry.Baseline.Load(given["weights"])
	for t, name := range wintetrisbot.TermNames {
		if text := given[name]; text != "" && err == nil {
			v, wrong := strconv.ParseFloat(text, 32)
			if wrong != nil || !(math.Abs(v) <= maxWeight) {
				return nil, fmt.Errorf("option %s: %.80q: want a number within ±%d", name, text, int(maxWeight))
			}
			w[t] = float32(v)
		}
	}
	if err != nil {
		return nil, err
	}
	return wintetrisbot.NewHand(wintetrisbot.Weights(w)), nil
}

func learned(given map[string]string) (wintetrisbot.Rater, error) {
	if slices.ContainsFunc(wintetrisbot.TermNames[:], func(name string) bool { return given[name] != "" }) {
		return nil, errors.New("evaluator learned has no single weights")
	}
	net, facts, err := wintetrisbot.Entry.ReadNet(wintetris.Game, mlp.ReadFile, given["weights"])
	if err != nil {
		return nil, err
	}
	e, err := wintetrisbot.Entry.Learned.Over(net, facts)
	if err != nil {
		return nil, err
	}
	return e.(wintetrisbot.Rater), nil
}
