package dropblox

// A Command moves or turns a block (rules §3).
type Command uint8

// The five commands.
const (
	Left Command = iota
	Right
	Up
	Down
	Rotate
)

var commandWords = [...]string{"left", "right", "up", "down", "rotate"}

// String returns the command's word.
func (c Command) String() string { return commandWords[c] }

// ParseCommand reads the word of a command. Case and spaces matter.
func ParseCommand(word string) (c Command, ok bool) {
	for k, w := range commandWords {
		if w == word {
			return Command(k), true
		}
	}
	return 0, false
}

// Carry carries out a command on a block (rules §3) and reports whether it was legal. If not, the
// block does not change.
func (c Command) Carry(b *Block, taken *Field) bool {
	moved := *b
	switch c {
	case Left:
		moved.Center.J--
	case Right:
		moved.Center.J++
	case Up:
		moved.Center.I--
	case Down:
		moved.Center.I++
	case Rotate:
		moved.rotate()
	}
	if !moved.Fits(taken) {
		return false
	}
	*b = moved
	return true
}

// rotate turns the block clockwise by a quarter.
func (b *Block) rotate() {
	for k, o := range b.Cells() {
		b.Offsets[k] = o.Turned()
	}
}

// Fits reports whether the block is in a legal position (rules §2).
func (b *Block) Fits(taken *Field) bool {
	for _, o := range b.Cells() {
		i, j := int(b.Center.I)+int(o.I), int(b.Center.J)+int(o.J)
		if i < 0 || i >= Rows || j < 0 || j >= Cols || taken[j]>>uint(i)&1 != 0 {
			return false
		}
	}
	return true
}

// Drop moves the block down as far as possible and returns the number of rows.
func (b *Block) Drop(taken *Field) (rows int) {
	for Down.Carry(b, taken) {
		rows++
	}
	return rows
}
