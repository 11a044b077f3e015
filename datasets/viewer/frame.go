package viewer

import (
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"blockyard/datasets/record/gamelog"
	"blockyard/datasets/record/playback"
	"blockyard/datasets/viewer/analysis"
	"blockyard/env"
	"blockyard/env/dropblox"
	"blockyard/env/games"
	"blockyard/env/paint"
)

// A replay is a game as a row of frames, which may still grow.
type replay interface {
	// advance reads until deadline, and checks whether a game that is being written has grown.
	advance(deadline time.Time)
	info() info
	// frame paints frame n, below info().Frames.
	frame(n int) Frame
	// position returns turn n of a record, to be analysed.
	position(n int) (analysis.Request, error)
	// marked paints turn n, at which position has just been, with a legal action of a seat instead of those played.
	marked(n, seat int, a env.Action) (Frame, error)
}

// An info is what is known about a replay so far.
type info struct {
	Frames  int     `json:"frames"`
	Turns   int     `json:"turns"`
	Starts  []int   `json:"starts,omitempty"` // first frame of each turn; nil if every turn has one frame
	Reading bool    `json:"reading"`          // there are more frames: ask again
	Live    bool    `json:"live"`             // the game is being written
	Error   string  `json:"error,omitempty"`  // the error that ends the replay
	Pace    int     `json:"pace"`             // milliseconds per frame
	Scores  [][]int `json:"scores,omitempty"` // of each seat, sampled at equal distances
}

// A Frame is one picture of a game, and all that the page shows beside it.
type Frame struct {
	Label  string   `json:"label"`           // "Turn 3"
	Moves  []string `json:"moves,omitempty"` // commands of the turn, around the current one
	First  int      `json:"first,omitempty"` // number of commands before Moves
	Of     int      `json:"of,omitempty"`    // number of commands of the turn
	Made   int      `json:"made,omitempty"`  // number of commands executed
	Turn   int      `json:"turn"`
	Seats  []Seat   `json:"seats"`
	Boards []Board  `json:"boards"`
	Trays  []Tray   `json:"trays,omitempty"`
	Notes  []string `json:"notes,omitempty"` // lines of text, of a game that has no facts
	Facts  []Fact   `json:"facts,omitempty"` // about no single seat
	Over   string   `json:"over,omitempty"`  // how the game ended, in the last frame
	Red    bool     `json:"red,omitempty"`   // tint the boards
}

// A Seat is what the page shows of one seat in a Frame.
type Seat struct {
	Score  int      `json:"score"`
	Act    string   `json:"act,omitempty"`    // the action about to be played
	Answer string   `json:"answer,omitempty"` // how a bot of the contest writes Act, if in other words
	Turn   bool     `json:"turn,omitempty"`
	Result *float32 `json:"result,omitempty"`
	Value  *float32 `json:"value,omitempty"` // what the player's own search expected of Act
	Facts  []Fact   `json:"facts,omitempty"`

	Said *gamelog.Said `json:"said,omitempty"` // in the turn, by the contest's log
}

// A Fact is a named value about a position, as text.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// A Board is a grid with a glyph and an ink, a hexadecimal digit, for each cell.
type Board struct {
	Name  string `json:"name,omitempty"`
	W     int    `json:"w"`
	H     int    `json:"h"`
	Cells string `json:"cells"`
	Ink   string `json:"ink"`
}

// A Tray is a row of pieces beside the boards; Seat is -1 if no seat owns it.
type Tray struct {
	Name   string  `json:"name"`
	Seat   int     `json:"seat"`
	Pieces []Board `json:"pieces"`
}

const digits = "0123456789abcdef"

// board converts b without the rows above top.
func board(b *env.Board, top int) Board {
	var ink strings.Builder
	for _, c := range b.Cells[top*b.W:] {
		ink.WriteByte(digits[c.Ink&15])
	}
	return Board{Name: b.Name, W: b.W, H: b.H - top, Cells: string(b.Glyphs()[top*b.W:]), Ink: ink.String()}
}

// frameOf is the frame of a position that f shows, without what is played there.
func frameOf(f *env.Frame, s env.State, turn int) Frame {
	out := Frame{Label: fmt.Sprintf("Turn %d", turn), Turn: turn}
	out.paint(f)
	acting := s.Acting()
	for seat := range s.SeatCount() {
		p := Seat{Score: s.Score(seat), Turn: acting.Has(seat)}
		if acting == 0 {
			p.Result = new(s.Result(seat))
		}
		out.Seats = append(out.Seats, p)
	}
	if len(f.Facts) == 0 {
		out.Notes = slices.Clone(f.Notes)
	}
	for _, fact := range f.Facts {
		if into := (Fact{fact.Name, fact.Value}); fact.Seat == env.Everybody {
			out.Facts = append(out.Facts, into)
		} else {
			out.Seats[fact.Seat].Facts = append(out.Seats[fact.Seat].Facts, into)
		}
	}
	return out
}

// paint converts f but for notes and facts.
func (out *Frame) paint(f *env.Frame) {
	boards, trays, _ := paint.Arrange(f)
	for _, b := range boards {
		out.Boards = append(out.Boards, board(b, 0))
	}
	for _, t := range trays {
		tray := Tray{Name: t.Name, Seat: t.Seat, Pieces: []Board{}}
		for k := range t.Pieces {
			tray.Pieces = append(tray.Pieces, board(&t.Pieces[k], 0))
		}
		out.Trays = append(out.Trays, tray)
	}
}

// actions adds to the players of r's current position what they play, and what the search thought of it.
func (out *Frame) actions(r *playback.Timeline) {
	for seat := range out.Seats {
		p := &out.Seats[seat]
		if a := r.Moves()[seat]; p.Turn && a != env.None {
			p.Act, p.Answer = r.Game.Text(a), Answer(r.State(), seat, a)
		} else if p.Turn && !r.Last() {
			p.Act = "no action"
		}
		if v, ok := r.Value(seat); ok {
			p.Value = &v
		}
	}
}

// A kind is what the page shows of a game's name, from the game itself, so that a new one needs nothing here.
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
	if err != nil {
		g, err = games.Lookup(base)
	}
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

// sign is the piece beside a position's boards with the most cells for its longer side; nil if there is none.
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
