// Package blockbattlelog compares transcripts of the original engines of AI Block Battle with package blockbattle. A
// file has JSON lines of three kinds: whole games ("rounds"), single rounds of the classic engine from a position ("in"
// and "res"), and logs of what a bot and its host exchanged ("log").
//
// A replay takes the pieces, the answers and the hole columns from the transcript, and compares every other value, also
// by the published rules where they are stated. Of a log, every line of the host is compared with ours. The opponent's
// answers are not in it: there must be one that explains its board and counters, and the garbage. A log whose game is
// in one of the files is compared with that too.
package blockbattlelog

import (
	"encoding/json"
	"errors"
	"fmt"

	"blockyard/datasets/conform"
	"blockyard/env/blockbattle"
)

// games are the whole games found in any file, by id: the logs of their bots are compared with them.
type games map[string]*seen

// New returns a checker of transcripts of AI Block Battle, as the original engine and its tests wrote them.
func New() *conform.Checker {
	all := games{}
	return &conform.Checker{Index: all.index, Kinds: []conform.Kind{
		conform.Keyed("log", "log", comparing(all.checkLog)),
		conform.Keyed("game", "rounds", comparing(checkGame)),
		conform.Keyed("round", "res", comparing(checkSingle)),
	}}
}

// comparing is a check that refuses a record which states no value to compare.
func comparing[T any](check func(*conform.Tally, conform.Values, *T)) func(*conform.Tally, conform.Values, *T) {
	return func(t *conform.Tally, v conform.Values, rec *T) {
		before := t.Compared
		check(t, v, rec)
		if t.Compared == before {
			conform.Malformed("no value to compare, want at least one")
		}
	}
}

// A seen is a game in another file, as far as logs are compared with it: the positions and the answers of its rounds.
type seen struct {
	port   bool
	rounds []blockbattle.State
	outs   [][2]string
}

// index notes a game for the logs of its bots. It ignores a malformed one: the check reports that.
func (all games) index(line []byte) {
	var rec gameRecord
	if json.Unmarshal(line, &rec) != nil || len(rec.Rounds) == 0 {
		return
	}
	g := &seen{port: rec.Rules == "port"}
	for i := range rec.Rounds {
		r := &rec.Rounds[i]
		if r.check() != nil {
			return
		}
		s, outs := blockbattle.State{Round: int32(r.Round), Piece: uint8(r.piece), Next: uint8(r.next)}, [2]string{}
		for seat := range r.P {
			p := &r.P[seat]
			if p.Start == nil || p.Out == nil || p.Pts0 == nil || p.Combo0 == nil || p.Skips0 == nil {
				continue
			}
			side, err := parseField(*p.Start)
			if err != nil {
				return
			}
			side.Points, side.Combo, side.Skips = int32(*p.Pts0), int32(*p.Combo0), int32(*p.Skips0)
			s.Sides[seat], outs[seat] = side, *p.Out
		}
		if r.played() {
			g.rounds, g.outs = append(g.rounds, s), append(g.outs, outs)
		}
	}
	all[id(rec.ID)] = g
}

// checkGame compares the lines and the answers of a log with its game.
func (d *dialogue) checkGame(t *conform.Tally, g *seen) {
	t.At("log of %s", d.name)
	conform.Same(t, "the game of that name is the port's", d.port, g.port)
	for i := range d.turns {
		now := &d.turns[i]
		d.at(t, now, ", as in the game")
		if i >= len(g.rounds) {
			conform.Same(t, "the game has the round", true, false)
			return
		}
		sameLines(t, now.lines, d.expect(&g.rounds[i], now.time))
		if len(now.answers) == 1 && !now.late && !d.lateBefore(i) {
			answer, played := tokens(now.answers[0], d.rules), tokens(g.outs[i][d.me], d.rules)
			conform.Same(t, "answer", fmt.Sprint(answer), fmt.Sprint(played))
		}
	}
}

// The records of a transcript, with the inputs of a replay and, in an object within a line, all its values.
type (
	gameRecord struct {
		ID       json.RawMessage `json:"id"`
		Rules    string          `json:"rules"`
		Seed     *string         `json:"seed"`
		Rounds   []roundRecord   `json:"rounds"`
		Document struct {        // in which round the published rules first have another outcome, if any, and why
			Round int      `json:"round"`
			Why   []string `json:"why"`
		} `json:"document_differs"`
	}
	roundRecord struct {
		conform.Values `json:"-"`

		Round  int            `json:"round"`
		Piece  string         `json:"piece"`
		Next   string         `json:"next"`
		P      []playerRecord `json:"p"`
		Losses [][2]string    `json:"losses"`
		Why    []string       `json:"why"`

		piece, next int // set by check
	}
	playerRecord struct {
		conform.Values `json:"-"`

		Start  *string `json:"start"`
		Pts0   *int    `json:"pts0"`
		Combo0 *int    `json:"combo0"`
		Skips0 *int    `json:"skips0"`
		Out    *string `json:"out"`
		Holes  [][]int `json:"holes"`
	}
	singleRecord struct {
		ID    json.RawMessage `json:"id"`
		Round int             `json:"round"`
		Piece string          `json:"piece"`
		In    []struct {
			Field string `json:"field"`
			Solid *int   `json:"solid"`
			Pts   int    `json:"pts"`
			Combo int    `json:"combo"`
			Skips int    `json:"skips"`
			Out   string `json:"out"`
		} `json:"in"`
		Res      roundRecord  `json:"res"`
		Document *roundRecord `json:"document"` // the outcome by the published rules, if that differs
	}
	logRecord struct {
		Dialect string          `json:"dialect"`
		Game    json.RawMessage `json:"game"`
		Player  string          `json:"player"`
		Log     [][2]string     `json:"log"`
	}
)

func (r *roundRecord) UnmarshalJSON(text []byte) error {
	type plain roundRecord
	return errors.Join(json.Unmarshal(text, (*plain)(r)), json.Unmarshal(text, &r.Values))
}

func (r *playerRecord) UnmarshalJSON(text []byte) error {
	type plain playerRecord
	return errors.Join(json.Unmarshal(text, (*plain)(r)), json.Unmarshal(text, &r.Values))
}

// sameWinner compares the name of the player who won, null for nobody, if the transcript states it.
func sameWinner(t *conform.Tally, v conform.Values, replayed string) {
	if string(v["winner"]) == "null" {
		conform.Same(t, "winner", "none", replayed)
	}
	v.Given(t, "winner", replayed)
}

// check returns an error for a round that cannot be replayed.
func (r *roundRecord) check() (err error) {
	if r.piece, err = pieceOf(r.Piece); err != nil {
		return fmt.Errorf("round %d: %w", r.Round, err)
	}
	if r.next, err = pieceOf(r.Next); err != nil {
		return fmt.Errorf("round %d: next: %w", r.Round, err)
	}
	return r.checkPlayers()
}

// played reports whether the round has answers. Without them, a failed spawn has ended the game.
func (r *roundRecord) played() bool { return r.P[0].Out != nil && r.P[1].Out != nil }

func (r *roundRecord) holes() [2][][]int { return [2][][]int{r.P[0].Holes, r.P[1].Holes} }

func (r *roundRecord) checkPlayers() error {
	if len(r.P) != 2 {
		return fmt.Errorf("round %d: %d players, want 2", r.Round, len(r.P))
	}
	for i := range r.P {
		for _, row := range r.P[i].Holes {
			if len(row) < 1 || len(row) > 2 || row[0] == row[len(row)-1] && len(row) == 2 {
				return fmt.Errorf("round %d, %s: holes %v, want one column or two", r.Round, player(i), row)
			}
			for _, x := range row {
				if x < 0 || x >= blockbattle.Width {
					return fmt.Errorf("round %d, %s: hole in column %d, want 0 to %d", r.Round, player(i), x, blockbattle.Width-1)
				}
			}
		}
	}
	return nil
}

func id(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}
