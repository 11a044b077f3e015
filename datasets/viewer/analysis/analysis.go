// Package analysis has the types of an analysis: what seats could have played, and how good their choices were.
package analysis

import (
	"context"

	"blockyard/datasets/record"
	"blockyard/env"
)

// A Position is the analysis of one position of a recorded game, as JSON and for the page.
type Position struct {
	Game  string `json:"game"`
	Turn  int    `json:"turn"`  // number of the position in its record, from 0
	Agent string `json:"agent"` // spec of the agent whose search gave the values
	Unit  string `json:"unit"`  // what a value means, in words
	Seats []Seat `json:"seats"` // those that had to choose
}

// A Seat is the analysis of one seat that had to choose.
type Seat struct {
	Seat   int    `json:"seat"`           // from 0
	Player string `json:"player"`         // its name in the record
	Legal  int    `json:"legal"`          // number of legal actions
	Ranked int    `json:"ranked"`         // of those, the ones that the search has valued
	Moves  []Move `json:"moves"`          // the best ones, best first
	Played *Move  `json:"played"`         // the action played; null if there is none in the record
	Note   string `json:"note,omitempty"` // why there are no moves or no action played
}

// A Move is an action that the seat could have played.
type Move struct {
	Rank   int        `json:"rank"`   // 1 for the best; 0 for an action without a value
	Action env.Action `json:"action"` // its id
	Text   string     `json:"text"`   // the action for people
	Value  float64    `json:"value"`  // in the units of Position.Unit; 2,000,000 or close to that is a win
	Loss   float64    `json:"loss"`   // value of the best action less this one's, 0 or more
	Worth  string     `json:"worth"`  // Value for people: a number, a chance of winning, or how the game ends
	Lost   string     `json:"lost"`   // Loss for people; empty for the best action
	Line   []Ply      `json:"line"`   // what the search expects next: the principal variation, without the move itself
}

// A Ply is an action in the line of play that a search expects.
type Ply struct {
	Seat   int        `json:"seat"`
	Action env.Action `json:"action"`
	Text   string     `json:"text"`
}

// A Request asks for the analysis of one position of a record.
type Request struct {
	Record *record.Record
	Turn   int       // number of the position
	State  env.State // the position; it is not changed
	Moves  env.Moves // played from it; env.NoMoves if none are recorded
	Agent  string    // spec; empty for the analyst's default
}

// An Analyst analyses positions. It may be used by several goroutines at once.
type Analyst interface {
	// Analyse values the actions of the position. It returns an error that says so if no agent of the game can.
	Analyse(ctx context.Context, r Request) (*Position, error)
	// Agents lists the agents of a game that an analysis can use, the default first.
	Agents(game string) []string
}

// A Game is the analysis of a whole recorded game: what each decision lost.
type Game struct {
	Game      string     `json:"game"`
	Agent     string     `json:"agent"` // see Position
	Unit      string     `json:"unit"`
	Turns     int        `json:"turns"` // that were analysed
	Players   []Player   `json:"players"`
	Decisions []Decision `json:"decisions"`         // with a value, in order of play
	Stopped   bool       `json:"stopped,omitempty"` // the analysis was stopped early
}

// A Player is how well one seat of a game chose.
type Player struct {
	Seat      int     `json:"seat"`
	Player    string  `json:"player"`
	Decisions int     `json:"decisions"`
	Best      int     `json:"best"`      // decisions in which the action played was worth as much as the best one
	MeanLoss  float64 `json:"mean_loss"` // without decisions that end the game
}

// A Decision is one choice of a seat, and what it lost against the best one by the search.
type Decision struct {
	Turn   int     `json:"turn"`
	Seat   int     `json:"seat"`
	Player string  `json:"player"`
	Legal  int     `json:"legal"` // number of legal actions
	Rank   int     `json:"rank"`  // of the action played; see Move
	Played string  `json:"played"`
	Best   string  `json:"best"`
	Value  float64 `json:"value"`
	Loss   float64 `json:"loss"`
	Worth  string  `json:"worth"`
	Lost   string  `json:"lost"`
}
