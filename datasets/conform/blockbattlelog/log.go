package blockbattlelog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"blockyard/datasets/conform"
	"blockyard/env/blockbattle"
)

// A dialogue is the content of a log: the settings, and the lines of every turn.
type dialogue struct {
	port     bool
	dialect  blockbattle.Dialect
	rules    blockbattle.Rules // of the engine that wrote the log
	me       int               // the receiver's seat
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
	late    bool     // the host noted a time-out
}

// engines are the rules of the engines, by their names in transcripts.
var engines = map[string]blockbattle.Rules{"classic": blockbattle.Classic, "port": blockbattle.Port}

var noTurn = turn{piece: -1, next: -1} // a turn before its first line

// parseLog reads a log. Wrong lines are not an error here: the comparison finds them.
func parseLog(rec *logRecord) *dialogue {
	rules, ok := engines[rec.Dialect]
	d := &dialogue{name: id(rec.Game), port: rec.Dialect == "port", rules: rules, bank: 10000, perMove: 500}
	if !ok {
		conform.Malformed("log of %s: dialect %q, want classic or port", d.name, rec.Dialect)
	}
	if d.port {
		d.dialect = blockbattle.PortDialect
	}
	names := d.dialect.Names()
	if d.me = slices.Index(names, rec.Player); d.me < 0 {
		conform.Malformed("log of %s: player %q, want one of %v", d.name, rec.Player, names)
	}
	now := noTurn
	for _, entry := range rec.Log {
		switch who, text := entry[0], entry[1]; {
		case who == "host" && strings.HasPrefix(text, "settings "):
			d.settings = append(d.settings, text)
			fmt.Sscanf(text, "settings timebank %d", &d.bank)
			fmt.Sscanf(text, "settings time_per_move %d", &d.perMove)
		case who == "host":
			now.lines = append(now.lines, text)
			if d.read(&now, text) {
				d.turns = append(d.turns, now)
				now = noTurn
			}
		case len(d.turns) > 0:
			last := &d.turns[len(d.turns)-1]
			if who == "bot" {
				last.answers = append(last.answers, text)
			} else if who == "note" && (strings.Contains(text, "timed out") || strings.Contains(text, "before the time-out")) {
				last.late = true
			}
		}
	}
	if len(d.turns) == 0 {
		conform.Malformed("log of %s: no request to the bot, want at least one", d.name)
	}
	if len(now.lines) > 0 { // updates without a request
		d.turns = append(d.turns, now)
	}
	return d
}

// read sets the values of t that a line states, and reports whether the line is the request.
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
			t.piece, _ = pieceOf(words[3])
		case "next_piece_type":
			t.next, _ = pieceOf(words[3])
		}
		return false
	}
	for seat, name := range d.dialect.Names() {
		if name != words[1] {
			continue
		}
		side := &t.sides[seat]
		count := int32(min(max(n, 0), greatest))
		switch words[2] {
		case "row_points":
			side.Points = count
		case "combo":
			side.Combo = count
		case "skips":
			side.Skips = count
		case "field":
			t.bad[seat] = side.ReadField(words[3])
		}
	}
	return false
}

// checkLog compares a log with the rules and, if its game is known, with the game.
func (all games) checkLog(t *conform.Tally, _ conform.Values, rec *logRecord) {
	d := parseLog(rec)
	d.checkSettings(t)
	d.checkTimes(t)
	d.checkTurns(t)
	if g := all[d.name]; g != nil {
		d.checkGame(t, g)
	}
}

// checkTimes compares the time banks with their bounds: the time that a bot used is not in the log.
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
	t.At("log of %s, %s, round %d%s", d.name, d.dialect.Names()[d.me], now.round, what)
	for _, a := range now.answers {
		t.Note(fmt.Sprintf("answer %q", a))
	}
}

// checkSettings compares the settings, whose order is the dialect's.
func (d *dialogue) checkSettings(t *conform.Tally) {
	got := d.settings
	if d.port {
		got = slices.DeleteFunc(got, func(line string) bool { // sent only if there is a limit
			return strings.HasPrefix(line, "settings max_rounds ")
		})
	}
	t.At("log of %s, settings", d.name)
	sameLines(t, got, d.dialect.Settings(d.me, int64(d.bank), int64(d.perMove)))
}

// expect returns the lines of a turn that our side would send, in the dialect's order.
func (d *dialogue) expect(s *blockbattle.State, time int) []string {
	shown := *s
	if d.port { // it sends the receiver's own values for both players
		shown.Sides[1-d.me] = s.Sides[d.me]
	}
	return d.dialect.Request(&shown, d.me, int64(time))
}

func sameLines(t *conform.Tally, recorded, ours []string) {
	for i := range max(len(recorded), len(ours)) {
		a, b := "(no line)", "(no line)"
		if i < len(recorded) {
			a = recorded[i]
		}
		if i < len(ours) {
			b = ours[i]
		}
		conform.Same(t, fmt.Sprintf("line %d", i+1), a, b)
	}
}
