// Package relabel gives a game other names, so that what a language model knows of it by heart does not help.
package relabel

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"blockyard/env"
)

// Names are a bijection between the names of a game and others: of pieces, coordinates and the words of moves, and of
// the directions of a drawing. The game stays the same. A nil Names are those of the game itself, for Kind only.
type Names struct {
	words        map[string]string // of moves; numbers are words too
	letters      [26]byte          // of pieces
	flipX, flipY bool              // drawings are mirrored
	turned       bool              // and then their rows are columns
	example      [2]string         // a move in both
}

var (
	moveWord  = regexp.MustCompile(`-?\d+|[a-z]+|[A-Z]`)
	pieceRun  = regexp.MustCompile(`\b[A-Z]+\b`)
	direction = regexp.MustCompile(`\b(up|down|left|right)\b`)
	shapeRows = regexp.MustCompile(`\s*\S*#\S*`) // a piece as rows of #, which the drawing has too
)

// New draws names for a game.
func New(g *env.Game, seed uint64) *Names {
	random := env.Rand{Word: env.Derive(seed, 0x72656c61)}
	shuffled := func(n int) []int {
		out := make([]int, n)
		for k := range out {
			at := int(random.Draw(uint32(k + 1)))
			out[k], out[at] = out[at], k
		}
		return out
	}
	r := &Names{words: map[string]string{}}
	for k, to := range shuffled(26) {
		r.letters[k] = 'A' + byte(to)
	}
	mirrored := random.Draw(8)
	r.flipX, r.flipY, r.turned = mirrored&1 != 0, mirrored&2 != 0, mirrored&4 != 0
	for a := range g.Actions {
		for _, w := range moveWord.FindAllString(g.Text(env.Action(a)), -1) {
			r.words[w] = ""
		}
	}
	const consonants, vowels = "bdfgklmnprstvz", "aeiou"
	syllables := len(consonants) * len(vowels)
	syllable := func(k int) string {
		return string([]byte{consonants[k/len(vowels)], vowels[k%len(vowels)]})
	}
	names := shuffled(syllables * syllables)
	for k, w := range slices.Sorted(maps.Keys(r.words)) {
		if r.words[w] = syllable(names[k]/syllables) + syllable(names[k]%syllables); pieceRun.MatchString(w) {
			r.words[w] = r.pieces(w)
		}
	}
	r.example[0] = g.Text(env.Action(g.Actions / 3))
	r.example[1] = r.Move(r.example[0])
	return r
}

// Kind is what clients call rules with other names.
const Kind = "relabelled"

// Kind is what clients call the rules with these names: "" for those of the game.
func (r *Names) Kind() string {
	if r == nil {
		return ""
	}
	return Kind
}

// Move is the text of a move with the other names.
func (r *Names) Move(text string) string {
	all := moveWord.FindAllString(text, -1)
	for k, w := range all {
		all[k] = r.words[w]
	}
	return strings.Join(all, " ")
}

// pieces renames the letters of pieces.
func (r *Names) pieces(letters string) string {
	return strings.Map(r.piece, letters)
}

func (r *Names) piece(letter rune) rune {
	if letter < 'A' || letter > 'Z' {
		return letter
	}
	return rune(r.letters[letter-'A'])
}

// note is a line of notes with the other names.
func (r *Names) note(line string) string {
	line = pieceRun.ReplaceAllStringFunc(shapeRows.ReplaceAllString(line, ""), r.pieces)
	return direction.ReplaceAllStringFunc(line, r.towards)
}

// towards is where in a drawing lies what the rules call up, down, left or right.
func (r *Names) towards(word string) string {
	all := []string{"up", "right", "down", "left"}
	k := slices.Index(all, word)
	if k%2 == 1 && r.flipX || k%2 == 0 && r.flipY {
		k = (k + 2) % 4
	}
	if r.turned { // columns become rows: right becomes down
		k = 3 - k
	}
	return all[k]
}

// Redraw gives a drawing the other names and directions.
func (r *Names) Redraw(f *env.Frame) {
	for k := range f.Boards {
		r.board(&f.Boards[k])
	}
	for k := range f.Trays {
		for i := range f.Trays[k].Pieces {
			r.board(&f.Trays[k].Pieces[i])
		}
	}
	for k, line := range f.Notes {
		f.Notes[k] = r.note(line)
	}
}

func (r *Names) board(b *env.Board) {
	was := *b
	b.Name, b.Cells = r.note(b.Name), make([]env.Cell, len(was.Cells))
	if r.turned {
		b.W, b.H = was.H, was.W
	}
	for k, c := range was.Cells {
		x, y := k%was.W, k/was.W
		if r.flipX {
			x = was.W - 1 - x
		}
		if r.flipY {
			y = was.H - 1 - y
		}
		if r.turned {
			x, y = y, x
		}
		c.Letter = byte(r.piece(rune(c.Letter)))
		b.Set(x, y, c)
	}
}

// Explain says what the other names are.
func (r *Names) Explain() string {
	var out strings.Builder
	fmt.Fprintf(&out, "This episode has names of its own, which take the place of those in the rules. In drawings, "+
		"what the rules call up is %s, down is %s, left is %s and right is %s. Pieces:", r.towards("up"), r.towards("down"),
		r.towards("left"), r.towards("right"))
	for k, c := range r.letters {
		fmt.Fprintf(&out, " %c is %c;", 'A'+k, c)
	}
	out.WriteString(" words and numbers of moves:")
	for _, w := range slices.Sorted(maps.Keys(r.words)) {
		if !pieceRun.MatchString(w) {
			fmt.Fprintf(&out, " %s is %s;", w, r.words[w])
		}
	}
	fmt.Fprintf(&out, " so the move %q is written %q. ", r.example[0], r.example[1])
	return out.String()
}
