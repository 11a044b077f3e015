package dropblox

import (
	"errors"
	"fmt"
)

// ParsePosition reads a position in the contest's form (rules §7): an object with keys in
// any order, unknown ones ignored. Every block has 1 to MaxSize squares in a box of no more
// rows and columns, the centre in it; that its type is in the table, or its squares are the
// table's, is not asked, so that a program can play blocks it does not know.
func ParsePosition(text []byte) (*Position, error) {
	p, err := parsePosition(text)
	if err != nil {
		return nil, fmt.Errorf("dropblox: state: %w", err)
	}
	return p, nil
}

func parsePosition(text []byte) (*Position, error) {
	p, s := &Position{}, &scanner{text: text}
	var seen struct{ state, score, bitmap, block, preview bool }
	s.object(func(key string) {
		switch key {
		case "state":
			p.Failed, seen.state = s.status(), true
		case "score":
			p.Score, seen.score = s.integer("score", 0, maxPoints), true
		case "bitmap":
			s.bitmap(&p.Bitmap)
			seen.bitmap = true
		case "block":
			s.block(&p.Block)
			seen.block = true
		case "preview":
			s.preview(&p.Preview)
			seen.preview = true
		default:
			s.skip(0)
		}
	})
	if s.err == nil && s.peek() != 0 {
		s.fail("more after the end")
	}
	if s.err != nil {
		return nil, s.err
	}
	for _, need := range []struct {
		name string
		seen bool
	}{{"state", seen.state}, {"score", seen.score}, {"bitmap", seen.bitmap}, {"block", seen.block}, {"preview", seen.preview}} {
		if !need.seen {
			return nil, fmt.Errorf("no %q", need.name)
		}
	}
	return p, nil
}

func (s *scanner) status() (failed bool) {
	switch word := s.str(); word {
	case "playing":
	case "failed":
		failed = true
	default:
		s.fail(`state is %.20q, want "playing" or "failed"`, word)
	}
	return failed
}

func (s *scanner) bitmap(b *[Rows][Cols]uint16) {
	rows := 0
	s.array(func(i int) {
		cols := 0
		s.array(func(j int) {
			v := s.integer("a square", 0, Types)
			if i < Rows && j < Cols {
				b[i][j] = uint16(v)
			}
			cols++
		})
		if cols != Cols {
			s.fail("row %d has %d squares, want %d", i, cols, Cols)
		}
		rows++
	})
	if rows != Rows {
		s.fail("bitmap has %d rows, want %d", rows, Rows)
	}
}

func (s *scanner) preview(p *[Preview]Block) {
	n := 0
	s.array(func(k int) {
		var b Block
		s.block(&b)
		if k < Preview {
			p[k] = b
		}
		n++
	})
	if n != Preview {
		s.fail("%d preview blocks, want %d", n, Preview)
	}
}

func (s *scanner) block(b *Block) {
	*b = Block{}
	var seen struct{ kind, center bool }
	s.object(func(key string) {
		switch key {
		case "type":
			b.Type, seen.kind = int32(s.integer("type", 0, maxPoints)), true
		case "center":
			b.Center, seen.center = s.cell(0, Rows-1), true
		case "offsets":
			b.Size = 0
			s.array(func(k int) {
				c := s.cell(-MaxSize, MaxSize)
				if k < MaxSize {
					b.Offsets[k] = c
					b.Size = int8(k + 1)
				} else {
					s.fail("more than %d offsets", MaxSize)
				}
			})
		default:
			s.skip(0)
		}
	})
	if !seen.kind || !seen.center || b.Size == 0 {
		s.fail(`a block wants "type", "center" and "offsets"`)
		return
	}
	box := Turn{Offsets: b.Offsets}
	box.box(int(b.Size))
	if box.Low.I > 0 || box.Low.J > 0 || box.High.I < 0 || box.High.J < 0 ||
		box.High.I-box.Low.I >= MaxSize || box.High.J-box.Low.J >= MaxSize {
		s.fail("a block in a box of more than %d rows or columns, or away from its centre", MaxSize)
	}
}

func (s *scanner) cell(lo, hi int) (c Cell) {
	var i, j bool
	s.object(func(key string) {
		switch key {
		case "i":
			c.I, i = int8(s.integer("i", lo, hi)), true
		case "j":
			c.J, j = int8(s.integer("j", lo, hi)), true
		default:
			s.skip(0)
		}
	})
	if !i || !j {
		s.fail(`a point wants "i" and "j"`)
	}
	return c
}

// Adopt makes the game stand at a position from elsewhere, with nothing known of its
// generator: blocks to come are drawn from seed. It refuses, and changes nothing, a
// position that no game of the table's blocks has.
func (s *State) Adopt(p *Position, seed uint64) error {
	next := State{Veiled: true, Failed: p.Failed, Points: int32(p.Score), Cells: p.Bitmap}
	next.Seed(seed)
	for k := range next.Blocks {
		b := &p.Block
		if k > 0 {
			b = &p.Preview[k-1]
		}
		if b.Type < 0 || b.Type >= Types || BlockOf(int(b.Type)) != *b {
			return fmt.Errorf("dropblox: block %d, of type %d, is not the table's where it appears", k, b.Type)
		}
		next.Blocks[k] = uint16(b.Type)
	}
	if p.Score < 0 || p.Score > maxPoints {
		return errors.New("dropblox: score out of range")
	}
	next.Taken = p.Field()
	if err := next.Check(); err != nil {
		return err
	}
	*s = next
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
