package tetrisduellog

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"blockyard/datasets/conform"
	"blockyard/env"
	"blockyard/env/tetrisduel"
)

// A game is the state of the game that is being replayed, and its statistics (rules §13).
type game struct {
	state tetrisduel.State
	stats stats
	fault string // why a player made no placement; "" so far
}

func begin(t *conform.Tally, g *game, _ conform.Values, r *struct{ Blocks []int }) {
	if len(r.Blocks) != tetrisduel.HalfTurns {
		conform.Malformed("%d blocks, want %d", len(r.Blocks), tetrisduel.HalfTurns)
	}
	blocks := make([]uint8, len(r.Blocks))
	for i, b := range r.Blocks {
		k, err := kindOf(b)
		if err != nil {
			conform.Malformed("half-turn %d: %w", i+1, err)
		}
		blocks[i] = uint8(k)
	}
	draws, ok := tetrisduel.Draws(blocks)
	conform.Require(t, "blocks come in packages of seven", true, ok)
	g.state.Force(draws)
	g.state.Reset(0)
}

// A turnRecord is the line of a half-turn: its number, player and block, what the player saw, and what it did.
type turnRecord struct {
	T     int            `json:"t"`
	P     int            `json:"p"`
	Block int            `json:"block"`
	Valid []string       `json:"valid"`
	Seen  conform.Values `json:"seen"` // what the mover was shown
	Act   []int          `json:"act"`
	Steal int            `json:"steal"`
	Bad   *string        `json:"bad"`
}

func turn(t *conform.Tally, g *game, v conform.Values, r *turnRecord) {
	if r.Act == nil && r.Bad == nil {
		conform.Malformed(`neither "act" nor "bad", want one of them`)
	}
	s := &g.state
	t.At("half-turn %d", r.T)
	// The state is over when there is no placement, but the transcript has a half-turn: the list is the board's.
	over := s.Reason == tetrisduel.Limit || g.fault != ""
	conform.Require(t, "the game goes on", true, !over)
	seat := s.Mover()
	conform.Same(t, "t", r.T, int(s.Turn))
	conform.Same(t, "p", r.P, seat+1)
	conform.Same(t, "block", r.Block, s.Block(int(s.Turn))+1)
	board := s.Board(seat)
	list := tetrisduel.Placements(&board, s.Block(int(s.Turn)), false, nil)
	v.Given(t, "n", len(list))
	conform.Same(t, "valid", strings.Join(r.Valid, " "), listText(list))
	conform.Same(t, "the mover was asked", r.Seen != nil, len(list) > 0)
	if r.Seen != nil {
		g.seen(t, r.Seen)
	}
	if r.Act == nil {
		g.bad(t, *r.Bad, list)
		return
	}
	g.act(t, v, r, list)
}

func (g *game) seen(t *conform.Tally, v conform.Values) {
	defer t.Under("seen ")()
	s := &g.state
	seat := s.Mover()
	v.Given(t,
		"round", int(s.Turn+1)/2, "mine", s.Score(seat), "opp", s.Score(1-seat), "combo", int(s.Combo),
		"cleared", seat == 1 && s.Flag)
	var act []int
	v.Read("last", &act)
	last, board := "none", s.Board(seat)
	if act != nil {
		last = fmt.Sprint(act)
	}
	conform.Same(t, "last", last, placementText(s.Last[1-seat]))
	v.Given(t, "board", textOf(&board))
}

func (g *game) act(t *conform.Tally, v conform.Values, r *turnRecord, list []env.Action) {
	p, err := parsePlacement(r.Act)
	conform.Valid(err)
	s := &g.state
	conform.Require(t, "act is in the list", true, slices.Contains(list, p.Action()))
	steal := g.stats.place(s, p)
	peace, battle := s.Place(p.Action())
	g.stats.count(s, steal)
	v.Given(t,
		"peace", peace, "battle", battle, "board", textOf(&s.Cells), "s1", s.Score(0),
		"s2", s.Score(1), "combo", int(s.Combo), "flag", s.Flag)
	conform.Same(t, "steal", r.Steal, steal)
}

// bad derives the fault of a mover who made no placement from the answer.
func (g *game) bad(t *conform.Tally, answer string, list []env.Action) {
	p, tuple := parseTuple(answer)
	switch {
	case answer == "no legal placement":
		g.fault = "overflow"
	case answer == "exception":
		g.fault = "exception"
	case tuple && slices.Contains(list, p.Action()):
		g.fault = "timeout" // there was nothing else wrong with it
	default:
		g.fault = "illegal"
	}
	conform.Same(t, "there was no placement", g.fault == "overflow", len(list) == 0)
}

var tuple = regexp.MustCompile(`^\(\s*([+-]?\d+)\s*,\s*([+-]?\d+)\s*,\s*([+-]?\d+)\s*\)$`)

// parseTuple reads "(y, x, d)"; ok is false for anything else, "[y, x, d]" included.
func parseTuple(text string) (p tetrisduel.Placement, ok bool) {
	var v []int
	for _, part := range tuple.FindStringSubmatch(text) {
		n, _ := strconv.Atoi(part) // the first part is the whole text; a number that is too large is no placement
		v = append(v, n)
	}
	p, err := parsePlacement(v[min(1, len(v)):])
	return p, err == nil
}

// end compares the end of a game. state is the original engine's text for it.
func end(t *conform.Tally, g *game, v conform.Values, r *struct{ State string }) {
	s := &g.state
	reason, winner := g.fault, 2-s.Mover() // whoever is to move has lost
	switch {
	case s.Reason == tetrisduel.Limit:
		reason, winner = "limit", int(s.Winner)+1
	case reason == "":
		reason, winner = "none: the game is not over", 0
	}
	v.Given(t, "reason", reason, "winner", winner)
	if want, known := endings[r.State]; known {
		got := ending{reason: reason}
		if want.loser != 0 {
			got.loser = 3 - winner
		}
		conform.Same(t, "state", want, got)
	}
	v.Given(t,
		"s1", s.Score(0), "s2", s.Score(1), "turns", int(s.Turn), "maxcombo", g.stats.maxCombo,
		"steals", g.stats.steals, "overtakes", g.stats.overtakes)
}

// An ending is our reason for the end of a game and the player who lost; 0 if the text names nobody.
type ending struct {
	reason string
	loser  int
}

// endings are the meanings of the original engine's texts for the end of a game.
var endings = map[string]ending{
	"round limit":  {"limit", 0},
	"judge to end": {"illegal", 0},
	"p1 overflow":  {"overflow", 1}, "p2 overflow": {"overflow", 2},
	"p1 error": {"exception", 1}, "p2 error": {"exception", 2},
	"p1 overtime": {"timeout", 1}, "p2 overtime": {"timeout", 2},
}
