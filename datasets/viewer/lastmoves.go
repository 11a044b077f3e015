package viewer

import (
	"slices"
	"strings"

	"blockyard/datasets/record/playback"
	"blockyard/env"
)

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
			l.painter.show(s)
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
	l.painter.show(s)
	f := &l.painter.frame
	for k := range f.Boards {
		if isTray(f, k) {
			continue
		}
		b := &f.Boards[k]
		rows := make([]string, b.H)
		for y := range rows {
			row := make([]byte, b.W)
			for x := range row {
				switch b.Cells[y*b.W+x].Kind {
				case env.CellSettled, env.CellSeat, env.CellWall:
					row[x] = 'x'
				case env.CellPiece:
					row[x] = '?'
				default:
					row[x] = '.'
				}
			}
			rows[y] = string(row)
		}
		out = append(out, rows)
	}
	return out
}
