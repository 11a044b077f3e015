package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"blockyard/datasets/record/jsonl"
	"blockyard/env"
)

// Limits of a game that Read returns: choices, and steps with draws. Reader.Replay replays longer games.
const (
	MaxChoices = 64 << 20
	MaxDraws   = 16 << 20
)

// noRecords is what the error about another file says, such as a log or a transcript.
const noRecords = "this is no file of records: agents host, arena and play write one with --record FILE"

// ErrPartial means that a file ends in the middle of a record.
var ErrPartial = jsonl.ErrCut

// A Reader reads the records of a file. Its errors name the file and the line.
type Reader struct {
	// AllowPartial makes the Reader ignore an incomplete record at the end of the file.
	AllowPartial bool

	*jsonl.Reader
	open bool // in the middle of a long game
	part int
}

// Open opens a file of records; "-" is standard input.
func Open(path string) (*Reader, error) { return reader(jsonl.Open(path)) }

// NewReader returns a Reader for r; errors call it name.
func NewReader(name string, r io.Reader) (*Reader, error) { return reader(jsonl.New(name, r)) }

// ReadLines returns a Reader of the records in lines, which it takes over.
func ReadLines(lines *jsonl.Reader) *Reader { return &Reader{Reader: lines} }

func reader(lines *jsonl.Reader, err error) (*Reader, error) {
	if err != nil {
		return nil, err
	}
	return ReadLines(lines), nil
}

// Read returns the next game, with all lines of a long one joined and its fields validated. It returns io.EOF after
// the last game; other errors begin with the file and the line.
func (r *Reader) Read() (*Record, error) {
	rec := new(Record)
	if err := r.ReadPart(rec); err != nil {
		return nil, err
	}
	for r.open {
		if err := r.Extend(rec); err != nil {
			return nil, err
		}
	}
	if err := rec.Validate(); err != nil {
		return nil, r.Errorf("%w", err)
	}
	return rec, nil
}

// Extend reads the next part of a long game, which also says how the game ends, and appends it to rec.
func (r *Reader) Extend(rec *Record) error {
	var part Record
	if err := r.ReadPart(&part); err != nil {
		return err
	}
	rec.Choices = append(rec.Choices, part.Choices...)
	rec.Draws = append(rec.Draws, part.Draws...)
	rec.Values = append(rec.Values, part.Values...)
	rec.More, rec.Scores, rec.Results, rec.Stopped = part.More, part.Scores, part.Results, part.Stopped
	if err := fits(rec.Choices, rec.Draws); err != nil {
		return r.Errorf("%w", err)
	}
	return nil
}

// fits returns an error for more than may be kept in memory.
func fits(choices []env.Action, draws [][]uint16) error {
	switch {
	case len(choices) > MaxChoices:
		return fmt.Errorf("the game has %d choices or more, want at most %d", len(choices), MaxChoices)
	case len(draws) > MaxDraws:
		return fmt.Errorf("the game has draws of %d steps or more, want at most %d", len(draws), MaxDraws)
	}
	return nil
}

// ReadPart reads the next line into rec, a game or a part of a long one, with More unless it is the last; or io.EOF.
func (r *Reader) ReadPart(rec *Record) error {
	line, err := r.Next()
	if err != nil {
		return r.end(err)
	}
	*rec = Record{}
	if err := json.Unmarshal(line, rec); err != nil {
		switch {
		case r.Line() == 1 && (!r.Cut() || !bytes.HasPrefix(line, []byte("{"))):
			err = fmt.Errorf("%w; %s", err, noRecords)
		case r.Cut():
			err = fmt.Errorf("%w: %w", ErrPartial, err)
		}
		return r.end(r.Errorf("%w", err))
	}
	if r.open {
		if rec.Part != r.part+1 {
			return r.Errorf("%w: part %d of a long game, want part %d", ErrInvalid, rec.Part, r.part+1)
		}
	} else if rec.Part != 0 {
		return r.Errorf("%w: part %d of a long game without the parts before it", ErrInvalid, rec.Part)
	} else if err := rec.validHead(); err != nil {
		if r.Line() == 1 && len(rec.Agents) == 0 {
			err = fmt.Errorf("%w; %s", err, noRecords)
		}
		return r.Errorf("%w", err)
	}
	if err := rec.validValues(); err != nil {
		return r.Errorf("%w", err)
	}
	r.open, r.part = rec.More, rec.Part
	return nil
}

func (r *Reader) end(err error) error {
	if errors.Is(err, io.EOF) && r.open {
		err = r.Errorf("%w: the rest of a long game is missing", ErrPartial)
	}
	if r.AllowPartial && errors.Is(err, ErrPartial) {
		return io.EOF
	}
	return err
}

// All yields the remaining games. It ends after an error.
func (r *Reader) All() iter.Seq2[*Record, error] { return jsonl.All(r.Read) }
