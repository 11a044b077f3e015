package dropblox

import (
	"encoding/json"
	"strconv"
	"strings"
)

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
	block := p.Block.toJSON()
	out := jsonPosition{State: &status, Score: &p.Score, Block: &block}
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

// AppendMoves appends the text of a move file (rules §10): the commands of a turn as a JSON list.
func AppendMoves(dst []byte, commands []Command) []byte {
	words := make([]string, len(commands))
	for k, c := range commands {
		words[k] = strconv.Quote(c.String())
	}
	return append(dst, "["+strings.Join(words, ", ")+"]"...)
}
