package blockbattlelog

import (
	"fmt"
	"strconv"
	"strings"

	"blockyard/datasets/conform"
	"blockyard/env/blockbattle"
)

// A dialogue is a log taken apart: what was said once, and turn by turn.
type dialogue struct {
	port     bool
	me       int // the receiver's seat
	name     string
	settings []string
	turns    []turn
	bank     int // the settings' timebank and time_per_move
	perMove  int
}

// A turn is one request: the lines up to it, what they say, and what came back.
type turn struct {
	lines   []string // the last is the request
	round   int
	piece   int // -1 if the line is missing or names none
	next    int
	sides   [2]blockbattle.Side
	bad     [2]error // why a side's board cannot be read
	time    int
	answers []string // lines from the bot before the next update
	late    bool     // the host remarked a time-out
}

// names are the players' names in the dialect.
func (d *dialogue) names() [2]string {
	if d.port {
		return [2]string{"player0", "player1"}
	}
	return [2]string{"player1", "player2"}
}

// takeApart reads a log. Only what makes it no log at all is an error; lines that are not
// as they should be are left for the comparison.
func takeApart(rec *logRecord) (*dialogue, error) {
	d := &dialogue{name: id(rec.Game), me: -1, bank: 10000, perMove: 500}
	switch rec.Dialect {
	case "classic":
	case "port":
		d.port = true
	default:
		return nil, fmt.Errorf("log of %s: dialect %q, want classic or port", d.name, rec.Dialect)
	}
	for i, n := range d.names() {
		if n == rec.Player {
			d.me = i
		}
	}
	if d.me < 0 {
		return nil, fmt.Errorf("log of %s: player %q, want one of %v", d.name, rec.Player, d.names())
	}
	var now turn
	now.clear()
	for _, entry := range rec.Log {
		switch who, text := entry[0], entry[1]; {
		case who == "host" && strings.HasPrefix(text, "settings "):
			d.setting(text)
		case who == "host":
			now.lines = append(now.lines, text)
			if d.read(&now, text) {
				d.turns = append(d.turns, now)
				now.clear()
			}
		case len(d.turns) == 0:
		case who == "bot":
			last := &d.turns[len(d.turns)-1]
			last.answers = append(last.answers, text)
		case who == "note":
			last := &d.turns[len(d.turns)-1]
			last.late = last.late || strings.Contains(text, "timed out") || strings.Contains(text, "before the time-out")
		}
	}
	if len(d.turns) == 0 {
		return nil, fmt.Errorf("log of %s: no request to the bot", d.name)
	}
	if len(now.lines) > 0 { // updates without a request
		d.turns = append(d.turns, now)
	}
	return d, nil
}

func (t *turn) clear() { *t = turn{piece: -1, next: -1} }

func (d *dialogue) setting(text string) {
	d.settings = append(d.settings, text)
	fmt.Sscanf(text, "settings timebank %d", &d.bank)
	fmt.Sscanf(text, "settings time_per_move %d", &d.perMove)
}

// read takes what a line says into t and reports whether it is the request.
func (d *dialogue) read(t *turn, text string) (request bool) {
	words := strings.Split(text, " ")
	if len(words) == 3 && words[0] == "action" {
		t.time, _ = strconv.Atoi(words[2])
		return true
	}
	if len(words) != 4 || words[0] != "update" {
		return false
	}
	n, _ := strconv.Atoi(words[3])
	if words[1] == "game" {
		switch words[2] {
		case "round":
			t.round = n
		case "this_piece_type":
			t.piece = letter(words[3])
		case "next_piece_type":
			t.next = letter(words[3])
		}
		return false
	}
	for seat, name := range d.names() {
		if name != words[1] {
			continue
		}
		side := &t.sides[seat]
		switch words[2] {
		case "row_points":
			side.Points = int32(min(max(n, 0), greatest))
		case "combo":
			side.Combo = int32(min(max(n, 0), greatest))
		case "skips":
			side.Skips = int32(min(max(n, 0), greatest))
		case "field":
			var board blockbattle.Side
			board, t.bad[seat] = parseProtocolField(words[3])
			side.Cells, side.Solid = board.Cells, board.Solid
		}
	}
	return false
}

func letter(s string) int {
	if p, err := pieceOf(s); err == nil {
		return p
	}
	return -1
}

// checkLog compares a log, and if its game is known, holds it against the game.
func (all games) checkLog(t *conform.Tally, rec *logRecord) error {
	d, err := takeApart(rec)
	if err != nil {
		return err
	}
	d.checkSettings(t)
	d.checkTimes(t)
	d.checkTurns(t)
	if g := all[d.name]; g != nil {
		d.checkGame(t, g)
	}
	return nil
}

// checkTimes holds the time banks against the rule: what an answer takes is its own
// affair, so a bank can lie between two bounds.
func (d *dialogue) checkTimes(t *conform.Tally) {
	for i := range d.turns {
		now := &d.turns[i]
		low, high := d.bank, d.bank
		if i > 0 {
			before := &d.turns[i-1]
			low, high = min(d.perMove, d.bank), min(before.time+d.perMove, d.bank)
			if before.late {
				high = low
			}
		}
		d.at(t, now, "")
		conform.Same(t, "time bank", now.time, min(max(now.time, low), high))
	}
}

func (d *dialogue) at(t *conform.Tally, now *turn, what string) {
	t.At(func() string {
		return fmt.Sprintf("log of %s, %s, round %d%s", d.name, d.names()[d.me], now.round, what)
	})
	for _, a := range now.answers {
		t.Note(fmt.Sprintf("answer %q", a))
	}
}
