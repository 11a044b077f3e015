package blockbattlebot

import (
	"io"
	"time"

	"blockyard/agents/contest"
	"blockyard/env"
	"blockyard/env/blockbattle"
)

// A Dialect is how the lines look: the contest's own, or those of the port (rules §16).
// The game behind them is the same.
type Dialect int

// The dialects.
const (
	ClassicDialect Dialect = iota
	PortDialect
)

// A Codec is Block Battle's dialogue, both ends (rules §13, §16), an agents/contest.Codec.
// The bot's end finds out which dialect is spoken. It belongs to one game.
type Codec struct {
	// Dialect is what the referee's end speaks, and the bot's end has recognised.
	Dialect Dialect
	// Notes gets a line about everything the bot's end did not understand; nil for none.
	Notes io.Writer

	told   told
	opened bool // the referee's end has sent the settings
}

var _ contest.Codec = (*Codec)(nil)

// told is what the bot's end has heard so far.
type told struct {
	names   [2]string // by seat
	me      string
	perMove time.Duration

	round       int32
	piece, next int // -1 before they were told
	sides       [2]blockbattle.Side
	fields      [2]bool // whether the board came in this round
	odd         string  // the first thing in this round that made no sense
}

// NewCodec returns a codec whose referee's end speaks d.
func NewCodec(d Dialect, notes io.Writer) *Codec {
	return &Codec{Dialect: d, Notes: notes, told: told{piece: -1, next: -1}}
}

// Answer implements contest.Codec: the shortest tokens that play a, "no_moves" for None.
func (c *Codec) Answer(s env.State, seat int, a env.Action) string {
	tokens, _ := s.(*blockbattle.State).Answer(seat, a, nil)
	return blockbattle.Write(tokens)
}
