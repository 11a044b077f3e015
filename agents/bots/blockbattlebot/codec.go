package blockbattlebot

import (
	"fmt"
	"io"
	"strings"

	"blockyard/agents/contest"
	"blockyard/env"
	"blockyard/env/blockbattle"
)

// A Codec is both ends of the dialogue (rules §8, §13.2) for one game. The bot's end finds out the dialect.
type Codec struct {
	// Dialect is what the referee's end speaks, and the bot's end has recognised.
	Dialect blockbattle.Dialect
	// Notes gets a line about everything the bot's end did not understand; nil for none.
	Notes io.Writer

	received received
	opened   bool // the referee's end has sent the settings
}

// A received is what the bot's end has read of the game so far.
type received struct {
	names   [2]string // by seat
	me      string
	perMove int32 // milliseconds

	round       int32
	piece, next int // -1 before they were received
	sides       [2]blockbattle.Side
	fields      [2]bool // whether the board came in this round
	odd         string  // the first thing in this round that made no sense
}

// NewCodec returns a Codec whose referee's end speaks d. notes gets remarks of the bot's end; it may be nil.
func NewCodec(d blockbattle.Dialect, notes io.Writer) *Codec {
	return &Codec{Dialect: d, Notes: notes, received: received{piece: -1, next: -1}}
}

// Answer implements contest.Codec: the shortest tokens that play a, "no_moves" for None.
func (c *Codec) Answer(s env.State, seat int, a env.Action) string {
	return s.(*blockbattle.State).Answer(seat, a)
}

// Judge reads seat's answer line in position s, which stays as it is: the action it comes to, and what is odd about it.
func Judge(d blockbattle.Dialect, s *blockbattle.State, seat int, line string) (a env.Action, remarks []string) {
	land, remarks := readAnswer(d, s, seat, line)
	return blockbattle.ActionOf(land), remarks
}

// readAnswer returns where the tokens of a line bring the piece of seat, whose board stays as it is (rules §4.3, §4.4).
func readAnswer(d blockbattle.Dialect, s *blockbattle.State, seat int, line string) (
	land blockbattle.Landing, remarks []string,
) {
	remark := func(format string, args ...interface{}) { remarks = append(remarks, fmt.Sprintf(format, args...)) }
	var buf [blockbattle.MaxTokens]blockbattle.Token
	tokens, odd := parse(d, line, buf[:0])
	blank := false
	for _, part := range odd {
		if blank = part == ""; blank {
			remark("an empty part ends the answer")
		} else {
			remark("unknown token %.40q", part)
		}
	}
	if d == blockbattle.PortDialect && len(odd) > 0 {
		remark("the whole answer is void")
	}
	if d != blockbattle.PortDialect && len(odd) < blockbattle.MaxTokens && parts(line) > blockbattle.MaxTokens && !blank {
		remark("more than %d tokens: the rest is not read", blockbattle.MaxTokens)
	}
	land, _ = blockbattle.Execute(&s.Sides[seat], int(s.Piece), tokens, s.Rules)
	used := land.Played
	switch {
	case used > 0 && tokens[used-1] == blockbattle.Skip && !land.Skipped:
		remark("skip, with none in stock")
	case used < len(tokens) && !land.Skipped:
		remark("the piece has come to rest: the rest of the tokens is not played")
	case land.Loose:
		remark("the piece was left in the air: it falls")
	}
	return land, remarks
}

func parse(d blockbattle.Dialect, line string, into []blockbattle.Token) (tokens []blockbattle.Token, odd []string) {
	if d == blockbattle.PortDialect {
		return blockbattle.ParsePortAnswer(line, into)
	}
	return blockbattle.ParseAnswer(line, into)
}

// parts counts the parts of an answer line, empty ones at its end left out.
func parts(line string) int { return strings.Count(strings.TrimRight(line, ","), ",") + 1 }

// Request implements contest.Codec. The first request begins with the settings (rules §8.1).
func (c *Codec) Request(s env.State, t contest.Turn) (lines []string) {
	if !c.opened {
		c.opened = true
		lines = c.Dialect.Settings(t.Seat, t.Budget.Milliseconds(), t.PerMove.Milliseconds())
	}
	return append(lines, c.Dialect.Request(s.(*blockbattle.State), t.Seat, t.Budget.Milliseconds())...)
}

// Speak implements contest.Linguist: from now on the codec has that dialect for all seats.
func (c *Codec) Speak(_ int, dialect string) (err error) {
	c.Dialect, err = dialectOf(dialect)
	return err
}

// Judge implements contest.Codec. An answer is never refused: the rules make a move of every line.
func (c *Codec) Judge(s env.State, seat int, answer string) env.Action {
	a, _ := Judge(c.Dialect, s.(*blockbattle.State), seat, answer)
	return a
}
