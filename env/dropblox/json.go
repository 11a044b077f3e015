package dropblox

import "strconv"

// A Position is a state as the contest shows it to a program (rules §7), without the random
// generator.
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

// AppendJSON appends the position exactly as the contest writes it (rules §7): one line of ASCII
// without a line end.
func (p *Position) AppendJSON(dst []byte) []byte {
	status := "playing"
	if p.Failed {
		status = "failed"
	}
	dst = append(append(append(dst, `{"state": "`...), status...), `", "preview": [`...)
	for k := range p.Preview {
		if k > 0 {
			dst = append(dst, ", "...)
		}
		dst = p.Preview[k].appendJSON(dst)
	}
	dst = append(dst, `], "score": `...)
	dst = strconv.AppendInt(dst, int64(p.Score), 10)
	dst = append(dst, `, "block": `...)
	dst = p.Block.appendJSON(dst)
	dst = append(dst, `, "bitmap": [`...)
	for i := range p.Bitmap {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(dst, '[')
		for j, v := range p.Bitmap[i] {
			if j > 0 {
				dst = append(dst, ", "...)
			}
			dst = strconv.AppendUint(dst, uint64(v), 10)
		}
		dst = append(dst, ']')
	}
	return append(dst, "]}"...)
}

func (b *Block) appendJSON(dst []byte) []byte {
	dst = append(dst, `{"type": `...)
	dst = strconv.AppendInt(dst, int64(b.Type), 10)
	dst = append(dst, `, "center": `...)
	dst = b.Center.appendJSON(dst)
	dst = append(dst, `, "offsets": [`...)
	for k, c := range b.Cells() {
		if k > 0 {
			dst = append(dst, ", "...)
		}
		dst = c.appendJSON(dst)
	}
	return append(dst, "]}"...)
}

func (c Cell) appendJSON(dst []byte) []byte {
	dst = append(dst, `{"i": `...)
	dst = strconv.AppendInt(dst, int64(c.I), 10)
	dst = append(dst, `, "j": `...)
	dst = strconv.AppendInt(dst, int64(c.J), 10)
	return append(dst, '}')
}

// AppendMoves appends the text of a move file (rules §10): the commands of a turn as a JSON list.
func AppendMoves(dst []byte, commands []Command) []byte {
	dst = append(dst, '[')
	for k, c := range commands {
		if k > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(append(append(dst, '"'), c.String()...), '"')
	}
	return append(dst, ']')
}
