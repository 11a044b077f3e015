package viewer

import (
	"slices"
	"strings"

	"blockyard/datasets/record/playback"
	"blockyard/env"
	"blockyard/env/paint"
)

// A Painter paints positions, recorded or not, for the stage of pages. It is not safe for concurrent use.
type Painter struct {
	Colours playback.Paint // of pieces that have landed, if somebody tells it what is played
	frame   env.Frame
}

// Position returns the frame of a position. names has the player of every seat, turn is the number of the position.
// Without ghosts, the page can draw those of Marks.
func (p *Painter) Position(s env.State, names []string, turn int, ghosts bool) Frame {
	p.show(s, ghosts)
	p.Colours.Colour(&p.frame)
	out := frameOf(&p.frame, s, turn)
	if s.Acting() == 0 {
		out.Over = verdict(s, names)
	}
	return out
}

// show draws the position, with its ghosts or without.
func (p *Painter) show(s env.State, ghosts bool) {
	p.frame.Reset()
	s.Show(&p.frame)
	for k := 0; k < len(p.frame.Boards) && !ghosts; k++ {
		p.frame.Boards[k].Unghost()
	}
}

// A Mark is what an action fills on a board of Frame.Boards: the numbers of the cells, row by row from the top, and the
// glyph and the ink that all of them have. An action that fills nothing, such as a pass, has no cells.
type Mark struct {
	Action env.Action `json:"action"`
	Text   string     `json:"text"`
	Answer string     `json:"answer,omitempty"` // how a bot of the contest writes it, if in other words
	Board  int        `json:"board"`
	Cells  []int      `json:"cells"`
	Glyph  string     `json:"glyph,omitempty"`
	Ink    string     `json:"ink,omitempty"`
}

// Marks returns what each legal action of an acting seat fills, in ascending order of the actions. If the game does not
// draw effects of actions, no mark has cells.
func (p *Painter) Marks(g *env.Game, s env.State, seat int) []Mark {
	p.show(s, false)
	drawn := make([][]env.Cell, len(p.frame.Boards))
	for k, b := range p.frame.Boards {
		drawn[k] = slices.Clone(b.Cells)
	}
	out := []Mark{}
	for _, a := range s.Legal(seat, nil) {
		for k, b := range p.frame.Boards {
			copy(b.Cells, drawn[k])
		}
		out = append(out, p.mark(g, s, seat, a))
	}
	return out
}

// mark returns what a legal action fills in s, which show has drawn.
func (p *Painter) mark(g *env.Game, s env.State, seat int, a env.Action) Mark {
	m := Mark{Action: a, Text: g.Text(a), Answer: Answer(s, seat, a), Cells: []int{}}
	if marker, ok := s.(env.Marker); ok {
		marker.Mark(&p.frame, seat, a)
		m.find(&p.frame)
	}
	return m
}

// Answer returns what a bot of the contest writes to play a legal action, empty if that is the text of the action.
func Answer(s env.State, seat int, a env.Action) string {
	if s, ok := s.(env.Answerer); ok {
		return s.Answer(seat, a)
	}
	return ""
}

// find sets what the ghost on the boards fills.
func (m *Mark) find(f *env.Frame) {
	boards, _, _ := paint.Arrange(f)
	for board, b := range boards {
		for n, c := range b.Cells {
			if c.Kind == env.CellGhost {
				m.Board, m.Glyph, m.Ink = board, string(c.Glyph()), string(digits[c.Ink&15])
				m.Cells = append(m.Cells, n)
			}
		}
	}
}

// LastMoves finds the cells that the last action of each seat filled, also after rows were removed or pushed up. Play
// takes every joint move, and Follow a position in which Marks is asked for. Its zero value is ready for use.
type LastMoves struct {
	painter Painter
	rows    [][]string // of each board: a row of '.' and 'x' for filled cells; after Play, what it fills is included
	marks   [env.MaxSeats]Mark
}

// Follow finds the cells in s, the position that follows the last joint move.
func (l *LastMoves) Follow(s env.State) {
	now := l.filled(s)
	for seat := range l.marks {
		m := &l.marks[seat]
		if len(m.Cells) == 0 {
			continue
		}
		if m.Board >= len(now) || m.Board >= len(l.rows) || len(now[m.Board]) != len(l.rows[m.Board]) {
			m.Cells = nil
			continue
		}
		width, cells := len(now[m.Board][0]), []int(nil)
		for y, from := range playback.Align(l.rows[m.Board], now[m.Board]) {
			for x := range width {
				if from >= 0 && now[m.Board][y][x] == 'x' && slices.Contains(m.Cells, from*width+x) {
					cells = append(cells, y*width+x)
				}
			}
		}
		m.Cells = cells
	}
	for _, rows := range now {
		for y := range rows {
			rows[y] = strings.ReplaceAll(rows[y], "?", ".") // the piece in play moves on
		}
	}
	l.rows = now
}

// Play notes what the joint move m fills in s. The mark of a seat lasts until its next action.
func (l *LastMoves) Play(g *env.Game, s env.State, m env.Moves) {
	l.Follow(s)
	for set := s.Acting(); set != 0; set = set.Rest() {
		seat := set.First()
		mark := Mark{}
		if slices.Contains(s.Legal(seat, nil), m[seat]) {
			l.painter.show(s, false)
			mark = l.painter.mark(g, s, seat, m[seat])
		}
		l.marks[seat] = mark
		for _, k := range mark.Cells {
			rows := l.rows[mark.Board]
			row := []byte(rows[k/len(rows[0])])
			row[k%len(row)] = 'x'
			rows[k/len(row)] = string(row)
		}
	}
}

// Marks returns the cells of each seat's last action in the position that was last followed.
func (l *LastMoves) Marks() []Mark {
	return slices.Clone(l.marks[:])
}

// filled are the rows of each of Frame.Boards.
func (l *LastMoves) filled(s env.State) (out [][]string) {
	l.painter.show(s, false)
	boards, _, _ := paint.Arrange(&l.painter.frame)
	for _, b := range boards {
		out = append(out, playback.Rows(b.W, b.H, func(n int) byte {
			switch b.Cells[n].Kind {
			case env.CellSettled, env.CellSeat, env.CellWall:
				return 'x'
			case env.CellPiece:
				return '?'
			}
			return '.'
		}))
	}
	return out
}
