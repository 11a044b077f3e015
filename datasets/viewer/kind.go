package viewer

import (
	"hash/crc32"
	"strings"
	"unicode"
	"unicode/utf8"

	"blockyard/env"
	"blockyard/env/dropblox"
	"blockyard/env/games"
)

// A kind is what the page shows of a game's name in the list and above the boards. All of it
// follows from the game itself, so that a new game needs nothing here.
type kind struct {
	Title string `json:"title"`          // "Block Battle, classic"
	Unit  string `json:"unit"`           // what a game's length counts: "move" or "turn"
	Sign  *Board `json:"sign,omitempty"` // a piece of the game as its little picture, if it shows pieces
}

// kindOf returns the kind of games of that name, which need not be a game of ours.
func kindOf(name string) kind {
	base, variant, _ := strings.Cut(name, ":")
	out := kind{Title: base, Unit: "move"}
	if first, size := utf8.DecodeRuneInString(base); size > 0 {
		out.Title = string(unicode.ToUpper(first)) + base[size:]
	}
	g, err := games.Lookup(name)
	if err == nil {
		if g.Title != "" {
			out.Title = g.Title
		}
		s := g.New(g.MinSeats)
		s.Reset(uint64(crc32.ChecksumIEEE([]byte(base)))) // games with the same pieces get different signs
		out.Sign = sign(s)
		if _, ok := s.(*dropblox.State); ok {
			out.Unit = "turn"
		}
	}
	if variant != "" {
		out.Title += ", " + variant
	}
	return out
}

// sign is the piece with the most cells for its longer side of those that a position shows beside
// its boards; nil if it shows none.
func sign(s env.State) (best *Board) {
	var f env.Frame
	s.Show(&f)
	var out Frame
	out.paint(&f)
	most := 0.0
	for _, tray := range out.Trays {
		for _, piece := range tray.Pieces {
			cells := len(piece.Cells) - strings.Count(piece.Cells, ".")
			if n := float64(cells) / float64(max(piece.W, piece.H)); n > most {
				best, most = &piece, n
			}
		}
	}
	return best
}

// kinds are the kinds of the games listed, each made once.
type kinds map[string]kind

func (k kinds) of(name string) kind {
	got, ok := k[name]
	if !ok {
		got = kindOf(name)
		k[name] = got
	}
	return got
}
