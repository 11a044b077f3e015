// Package record keeps games as their choices: a seed, or draws dealt elsewhere, and what
// every acting seat chose. Replay gives everything else. A file of records is JSON, one
// record a line, plain or compressed with gzip.
package record

import (
	"errors"
	"fmt"
	"math"

	"blockyard/env"
)

// A Record is one game as its choices.
type Record struct {
	Game    string       `json:"game"`              // Game.Name, with its variant
	Rules   int          `json:"rules"`             // Game.Rules when it was played
	Seed    uint64       `json:"seed,string"`       // given to Reset; a string, because JSON numbers hold 53 bits
	Seats   int          `json:"seats"`             // how many played
	Agents  []string     `json:"agents"`            // who played: one spec per seat, in any words
	Choices []env.Action `json:"choices"`           // of the acting seats, lowest first, in order of play; None is 65535
	Scores  []int        `json:"scores"`            // one per seat, at the end
	Results []float32    `json:"results"`           // one per seat, -1 to 1, at the end; all 0 if Stopped
	Stopped bool         `json:"stopped,omitempty"` // the game was broken off before it was over

	// Draws are forced draws, for a game dealt elsewhere: Draws[0] those of Reset, Draws[k]
	// those of the k-th Step. Draws that are not listed follow from Seed.
	Draws [][]uint16 `json:"draws,omitempty"`
	// Start is env.Encode of the first position of a game that did not begin with Reset;
	// Draws[0] then counts for nothing.
	Start []byte `json:"start,omitempty"`
	// Values are what the search thought of each choice, one per choice, if it told.
	Values []float32 `json:"values,omitempty"`
	// Meta is anything else worth keeping, such as a match's name. Replay does not read it.
	Meta map[string]string `json:"meta,omitempty"`

	// A long game goes over several lines: all but the last say More, all but the first
	// say which Part they are (1, 2, ...) and leave out what stands in the first. Reader.Read
	// puts the parts together.
	Part int  `json:"part,omitempty"`
	More bool `json:"more,omitempty"`
}

// ErrInvalid is wrapped by every complaint about a record that is not well formed.
var ErrInvalid = errors.New("invalid record")

// New begins the record of a game of g from Reset(seed), with one agent's name per seat.
func New(g *env.Game, seed uint64, agents []string) *Record {
	return &Record{Game: g.Name, Rules: g.Rules, Seed: seed, Seats: len(agents), Agents: agents}
}

// Add notes the joint move m of the acting seats. It is to be called before Step.
func (rec *Record) Add(acting env.Seats, m env.Moves) {
	for ; acting != 0; acting = acting.Rest() {
		rec.Choices = append(rec.Choices, m[acting.First()])
	}
}

// Join appends the next part of a long game, which also says how the game ends.
func (rec *Record) Join(part *Record) {
	rec.Choices = append(rec.Choices, part.Choices...)
	rec.Draws = append(rec.Draws, part.Draws...)
	rec.Values = append(rec.Values, part.Values...)
	rec.More, rec.Scores, rec.Results, rec.Stopped = part.More, part.Scores, part.Results, part.Stopped
}

// AddDraws notes what the last Reset or Step of s drew. Called after Reset and every Step,
// it makes a record that replays under any random generator.
func (rec *Record) AddDraws(s env.State) {
	rec.Draws = append(rec.Draws, s.Draws([]uint16{}))
}

// End notes the scores and results of the last position s, and that the game was broken
// off if it is not over.
func (rec *Record) End(s env.State) {
	rec.Scores, rec.Results = rec.Scores[:0], rec.Results[:0]
	rec.Stopped = s.Acting() != 0
	for seat := range rec.Seats {
		rec.Scores = append(rec.Scores, s.Score(seat))
		rec.Results = append(rec.Results, s.Result(seat))
	}
}

// Validate reports the first thing wrong with a whole record as such, without knowing the
// game's rules. The error wraps ErrInvalid.
func (rec *Record) Validate() error {
	switch {
	case rec.More || rec.Part != 0:
		return fmt.Errorf("%w: a part of a long game alone", ErrInvalid)
	case len(rec.Scores) != rec.Seats:
		return fmt.Errorf("%w: %d scores for %d seats", ErrInvalid, len(rec.Scores), rec.Seats)
	case len(rec.Results) != rec.Seats:
		return fmt.Errorf("%w: %d results for %d seats", ErrInvalid, len(rec.Results), rec.Seats)
	case len(rec.Values) != 0 && len(rec.Values) != len(rec.Choices):
		return fmt.Errorf("%w: %d values for %d choices", ErrInvalid, len(rec.Values), len(rec.Choices))
	}
	for _, r := range rec.Results {
		if !(r >= -1 && r <= 1) {
			return fmt.Errorf("%w: result %v is not from -1 to 1", ErrInvalid, r)
		}
	}
	for _, v := range rec.Values {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return fmt.Errorf("%w: value %v", ErrInvalid, v)
		}
	}
	return rec.validHead()
}

// validHead checks what the first line of a game must say.
func (rec *Record) validHead() error {
	switch {
	case rec.Game == "":
		return fmt.Errorf("%w: no game named", ErrInvalid)
	case rec.Seats < 1 || rec.Seats > env.MaxSeats:
		return fmt.Errorf("%w: %d seats, want 1 to %d", ErrInvalid, rec.Seats, env.MaxSeats)
	case len(rec.Agents) != rec.Seats:
		return fmt.Errorf("%w: %d agents for %d seats", ErrInvalid, len(rec.Agents), rec.Seats)
	}
	for i, d := range rec.Draws {
		if len(d) > env.MaxDraws {
			return fmt.Errorf("%w: %d draws in step %d, at most %d can be forced", ErrInvalid, len(d), i, env.MaxDraws)
		}
	}
	return nil
}
