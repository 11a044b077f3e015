package dropblox

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A Position is a state as the contest shows it to a program (rules §8.2), without the random generator.
type Position struct {
	Failed  bool
	Score   int
	Bitmap  [Rows][Cols]uint16
	Block   Block
	Preview [Preview]Block
}

// Position returns the position as the contest shows it.
func (s *State) Position() Position {
	p := Position{Failed: s.Failed, Score: int(s.Points), Bitmap: s.Cells, Block: s.Block(0)}
	for k := range p.Preview {
		p.Preview[k] = s.Block(k + 1)
	}
	return p
}

// Restore sets s to the position, after which nobody knows which blocks come; its Turns are the fewest that Check wants
// for the score. If only the time is up in it, the game goes on in s. It returns an error for a position that the rules
// do not have, such as one with a block of another table.
func (p *Position) Restore(s *State) error {
	*s = State{Veiled: true, Points: int32(p.Score), Turns: int32(max(0, p.Score-1) / mostEarned), Cells: p.Bitmap,
		Taken: p.Field()}
	for k := range s.Blocks {
		b := &p.Block
		if k > 0 {
			b = &p.Preview[k-1]
		}
		if b.Type >= Types {
			return fmt.Errorf("dropblox: block of type %d, want 0 to %d", b.Type, Types-1)
		}
		s.Blocks[k] = uint16(b.Type)
	}
	b := s.Block(0)
	s.Failed = !b.Fits(&s.Taken)
	now := s.Position()
	if now.Failed = p.Failed; now != *p || s.Failed && !p.Failed {
		return errors.New("dropblox: want every block as the table has it, where it appears, and with room for it")
	}
	return s.Check()
}

// AppendJSON appends the position exactly as the contest writes it (rules §8.2): one line of ASCII without a line end.
func (p *Position) AppendJSON(dst []byte) []byte {
	status := "playing"
	if p.Failed {
		status = "failed"
	}
	out := jsonPosition{State: status, Score: &p.Score, Block: p.Block.toJSON()}
	for k := range p.Preview {
		out.Preview = append(out.Preview, p.Preview[k].toJSON())
	}
	for i := range p.Bitmap {
		out.Bitmap = append(out.Bitmap, p.Bitmap[i][:])
	}
	text, err := json.Marshal(out)
	if err != nil {
		panic(err) // numbers and one word always have a JSON form
	}
	// The contest's keys are in lower case, with a space after every comma and colon.
	return append(dst, strings.NewReplacer(",", ", ", ":", ": ").Replace(strings.ToLower(string(text)))...)
}

func (b *Block) toJSON() jsonBlock {
	out := jsonBlock{Type: &b.Type, Center: &jsonCell{&b.Center.I, &b.Center.J}}
	for k := range b.Cells() {
		out.Offsets = append(out.Offsets, jsonCell{&b.Offsets[k].I, &b.Offsets[k].J})
	}
	return out
}

// AppendMoves appends the text of a move file (rules §13): the commands of a turn as a JSON list.
func AppendMoves(dst []byte, commands []Command) []byte {
	words := make([]string, len(commands))
	for k, c := range commands {
		words[k] = strconv.Quote(c.String())
	}
	return append(dst, "["+strings.Join(words, ", ")+"]"...)
}

// The contest's form of a position (rules §8.2), with the keys in its order. A nil pointer is a missing key.
type (
	jsonPosition struct {
		State   string
		Preview []jsonBlock
		Score   *int
		Block   jsonBlock
		Bitmap  [][]uint16
	}
	jsonBlock struct {
		Type    *int32
		Center  *jsonCell
		Offsets []jsonCell
	}
	jsonCell struct{ I, J *int8 }
)

// ParsePosition reads a position in the contest's form. Keys may be in any order, and unknown keys are ignored. Every
// block must have 1 to MaxSize squares in a box of at most MaxSize rows and columns that contains its centre.
// ParsePosition does not look the block up in the table, so that a program can play blocks that it does not know.
func ParsePosition(text []byte) (*Position, error) {
	var in jsonPosition
	p := &Position{}
	err := json.Unmarshal(text, &in)
	if err == nil {
		err = in.read(p)
	}
	if err != nil {
		return nil, fmt.Errorf("dropblox: state: %w", err)
	}
	return p, nil
}

func (in *jsonPosition) read(p *Position) error {
	switch {
	case in.State != "playing" && in.State != "failed":
		return fmt.Errorf(`state is %.20q, want "playing" or "failed"`, in.State)
	case in.Score == nil:
		return errors.New(`no "score"`)
	case *in.Score < 0 || *in.Score > maxPoints:
		return fmt.Errorf("score is %d, want 0 to %d", *in.Score, maxPoints)
	case len(in.Bitmap) != Rows:
		return fmt.Errorf("bitmap has %d rows, want %d", len(in.Bitmap), Rows)
	case len(in.Preview) != Preview:
		return fmt.Errorf("preview has %d blocks, want %d", len(in.Preview), Preview)
	}
	p.Failed, p.Score = in.State == "failed", *in.Score
	for i, row := range in.Bitmap {
		if len(row) != Cols {
			return fmt.Errorf("bitmap row %d has %d squares, want %d", i, len(row), Cols)
		}
		for j, v := range row {
			if v > Types {
				return fmt.Errorf("bitmap row %d, column %d is %d, want 0 to %d", i, j, v, Types)
			}
			p.Bitmap[i][j] = v
		}
	}
	for k := range in.Preview {
		if err := in.Preview[k].read(&p.Preview[k]); err != nil {
			return fmt.Errorf("preview block %d: %w", k, err)
		}
	}
	if err := in.Block.read(&p.Block); err != nil {
		return fmt.Errorf("block: %w", err)
	}
	return nil
}

func (in *jsonBlock) read(b *Block) error {
	if in.Type == nil || in.Center == nil || len(in.Offsets) < 1 || len(in.Offsets) > MaxSize {
		return fmt.Errorf(`want "type", "center" and 1 to %d "offsets"`, MaxSize)
	}
	if *in.Type < 0 || *in.Type > maxPoints {
		return fmt.Errorf("type is %d, want 0 to %d", *in.Type, maxPoints)
	}
	b.Type, b.Size = *in.Type, int8(len(in.Offsets))
	if err := in.Center.read(&b.Center, 0, Rows-1); err != nil {
		return fmt.Errorf("center: %w", err)
	}
	for k := range in.Offsets {
		if err := in.Offsets[k].read(&b.Offsets[k], -MaxSize, MaxSize); err != nil {
			return fmt.Errorf("offset %d: %w", k, err)
		}
	}
	box := Turn{Offsets: b.Offsets}
	box.box(int(b.Size))
	if box.Low.I > 0 || box.Low.J > 0 || box.High.I < 0 || box.High.J < 0 ||
		box.High.I-box.Low.I >= MaxSize || box.High.J-box.Low.J >= MaxSize {
		return fmt.Errorf("offsets from %v to %v, want a box of at most %d rows and columns around the centre",
			box.Low, box.High, MaxSize)
	}
	return nil
}

func (in *jsonCell) read(c *Cell, low, high int8) error {
	if in.I == nil || in.J == nil {
		return fmt.Errorf(`a point lacks a coordinate, want "i" and "j"`)
	}
	*c = Cell{*in.I, *in.J}
	if c.I < low || c.I > high || c.J < low || c.J > high {
		return fmt.Errorf("i %d and j %d, want %d to %d", c.I, c.J, low, high)
	}
	return nil
}

// Field returns the position's taken squares.
func (p *Position) Field() (taken Field) {
	for i := range p.Bitmap {
		for j, v := range p.Bitmap[i] {
			if v != 0 {
				taken[j] |= 1 << uint(i)
			}
		}
	}
	return taken
}
