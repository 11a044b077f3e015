// Package record reads and writes recorded games. A Record holds the seed of a game (or its random draws, if it was
// played elsewhere) and the action of every acting seat; a Replay recomputes everything else from them. A file of
// records has one JSON object per line, plain or compressed with gzip. The example shows the whole life of a record.
package record

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"blockyard/env"
)

// A Record is one recorded game, as one line of JSON: what is needed to replay it, and how it ended.
type Record struct {
	Game    string       `json:"game"`              // Game.Name, with its variant
	Rules   int          `json:"rules"`             // Game.Rules when it was played
	Seed    uint64       `json:"seed,string"`       // of Reset; a string, as many JSON readers keep only 53 bits
	Seats   int          `json:"seats"`             // number of seats
	Agents  []string     `json:"agents"`            // one name per seat, by convention the spec of the agent
	Choices []env.Action `json:"choices"`           // in order of play, within a step by seat; env.None is 65535
	Scores  []int        `json:"scores"`            // one per seat, at the end
	Results []float32    `json:"results"`           // one per seat, -1 to 1, at the end; all 0 if Stopped
	Stopped bool         `json:"stopped,omitempty"` // the game was stopped before its end

	// Draws are the random draws of a game played elsewhere, of Reset and of each Step; others follow from Seed.
	Draws [][]uint16 `json:"draws,omitempty"`
	// Start is the first position, by env.Encode, of a game that did not start with Reset; Draws[0] is then ignored.
	Start []byte `json:"start,omitempty"`
	// Table is Game.Table: what Game is a hash of, if anything.
	Table []string `json:"table,omitempty"`
	// Values are the search's evaluations of the actions, one per action, or none.
	Values []float32 `json:"values,omitempty"`
	// Meta is for any other data, such as the name of a match. Replay does not use it.
	Meta map[string]string `json:"meta,omitempty"`

	// A long game has several lines. All but the last set More. All but the first set Part (1, 2, ...)
	// and omit the fields that the first line has. Reader.Read joins the lines.
	Part int  `json:"part,omitempty"`
	More bool `json:"more,omitempty"`
}

var ErrInvalid = errors.New("invalid record") // wrapped by the errors for malformed records

// New returns the record of a game of g that starts with Reset(seed), with one agent's name per seat.
func New(g *env.Game, seed uint64, agents []string) *Record {
	return &Record{Game: g.Name, Table: g.Table, Rules: g.Rules, Seed: seed, Seats: len(agents), Agents: agents}
}

// Add appends the actions of the acting seats in m. Call it before Step.
func (rec *Record) Add(acting env.Seats, m env.Moves) {
	for ; acting != 0; acting = acting.Rest() {
		rec.Choices = append(rec.Choices, m[acting.First()])
	}
}

// AddDraws appends the draws of the last Reset or Step of s. With those of all steps, replaying needs no Seed.
func (rec *Record) AddDraws(s env.State) {
	rec.Draws = append(rec.Draws, s.Draws([]uint16{}))
}

// End sets the scores and results to those of the last position s, and Stopped if the game is not over.
func (rec *Record) End(s env.State) {
	rec.Scores, rec.Results = rec.Scores[:0], rec.Results[:0]
	rec.Stopped = s.Acting() != 0
	for seat := range rec.Seats {
		rec.Scores = append(rec.Scores, s.Score(seat))
		rec.Results = append(rec.Results, s.Result(seat))
	}
}

// Names are the agents for people: of one that is a program, without the word that says so.
func (rec *Record) Names() (names []string) {
	for _, a := range rec.Agents {
		names = append(names, strings.TrimPrefix(a, "exec:"))
	}
	return names
}

// Decided says what decided a game, as far as its host has noted it: why it ended, and the faults of the seats, in the
// contest's words.
func (rec *Record) Decided() string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(rec.Meta)) {
		if seat, ok := strings.CutPrefix(key, Fault); ok {
			out = append(out, seat+": "+rec.Meta[key])
		}
	}
	for _, key := range []string{TieBreak, Reason} {
		if text := rec.Meta[key]; text != "" {
			out = slices.Insert(out, 0, text)
		}
	}
	return strings.Join(out, ", ")
}

// Keys of Meta that hosts set.
const (
	Reason   = "reason"    // why the game was over
	TieBreak = "tie break" // what decided between equal players
	Fault    = "fault of " // and the contest's name of a seat: what its bot was ended for or lost by
)

// Validate checks a complete record without knowing the rules of the game. Its error wraps ErrInvalid.
func (rec *Record) Validate() error {
	switch {
	case rec.More || rec.Part != 0:
		return fmt.Errorf("%w: one line of a game with several lines, want all of them", ErrInvalid)
	case len(rec.Scores) != rec.Seats:
		return fmt.Errorf("%w: %d scores, want one for each of the %d seats", ErrInvalid, len(rec.Scores), rec.Seats)
	case len(rec.Results) != rec.Seats:
		return fmt.Errorf("%w: %d results, want one for each of the %d seats", ErrInvalid, len(rec.Results), rec.Seats)
	}
	if err := rec.validValues(); err != nil {
		return err
	}
	for _, r := range rec.Results {
		if !(r >= -1 && r <= 1) {
			return fmt.Errorf("%w: result %v, want -1 to 1", ErrInvalid, r)
		}
	}
	for _, v := range rec.Values {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return fmt.Errorf("%w: value %v, want a finite number", ErrInvalid, v)
		}
	}
	return rec.validHead()
}

// validValues checks what every line of a game must have.
func (rec *Record) validValues() error {
	if len(rec.Values) != 0 && len(rec.Values) != len(rec.Choices) {
		return fmt.Errorf("%w: %d values, want none or one for each of the %d choices",
			ErrInvalid, len(rec.Values), len(rec.Choices))
	}
	return nil
}

// validHead checks what the first line of a game must have.
func (rec *Record) validHead() error {
	switch {
	case rec.Game == "":
		return fmt.Errorf("%w: game is empty, want a name", ErrInvalid)
	case rec.Seats < 1 || rec.Seats > env.MaxSeats:
		return fmt.Errorf("%w: %d seats, want 1 to %d", ErrInvalid, rec.Seats, env.MaxSeats)
	case len(rec.Agents) != rec.Seats:
		return fmt.Errorf("%w: %d agents, want one for each of the %d seats", ErrInvalid, len(rec.Agents), rec.Seats)
	}
	for i, d := range rec.Draws {
		if len(d) > env.MaxDraws {
			return fmt.Errorf("%w: draws[%d] has %d entries, want at most %d", ErrInvalid, i, len(d), env.MaxDraws)
		}
	}
	return nil
}

// ErrDiffers is wrapped by the error of Check for a game that does not replay as recorded.
var ErrDiffers = errors.New("the replayed game differs from the record")

// Check replays rec by g's rules and checks that its actions are legal and its end is as recorded.
func Check(g *env.Game, rec *Record) error { return NewReplay(g, rec).check() }

// CheckNext is Check for the next game of r, which need not fit into memory. lookup is games.Recorded. The Record has
// the game's first line and its end. After io.EOF, and other errors than ErrDiffers, r must not be used.
func CheckNext(r *Reader, lookup func(name string, table []string) (*env.Game, error)) (*Record, error) {
	head := new(Record)
	if err := r.ReadPart(head); err != nil {
		return nil, err
	}
	rp := &Replay{from: r, rest: *head}
	g, err := lookup(head.Game, head.Table)
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrDiffers, err)
	} else {
		rp = r.Replay(g, head)
		err = rp.check()
	}
	for rp.more() { // a game that ended early is read to its end
		if rest := r.ReadPart(&rp.rest); rest != nil {
			if errors.Is(rest, io.EOF) {
				rest = ErrPartial
			}
			return head, errors.Join(err, rest)
		}
	}
	head.Scores, head.Results, head.Stopped = rp.rest.Scores, rp.rest.Results, rp.rest.Stopped
	return head, err
}

func (rp *Replay) check() error {
	for range rp.All() {
	}
	if rp.err != nil {
		return fmt.Errorf("%w: %w", ErrDiffers, rp.err)
	}
	return rp.Compare()
}

// Compare compares the position reached with the recorded end; an error wraps ErrDiffers.
func (rp *Replay) Compare() error {
	differs := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s", ErrDiffers, fmt.Sprintf(format, args...))
	}
	end := Record{Seats: rp.rest.Seats}
	end.End(rp.state)
	switch {
	case len(rp.rest.Choices) > 0 || rp.rest.More:
		return differs("the game is over after %d choices, the record goes on", rp.ply)
	case len(rp.rest.Draws) > 0:
		return differs("draws are listed for %d steps too many", len(rp.rest.Draws))
	case rp.rest.Stopped && !end.Stopped:
		return differs("the game is over, the record says it was stopped")
	case end.Stopped && !rp.rest.Stopped:
		return differs("the choices end after %d, the game is not over", rp.ply)
	case !slices.Equal(end.Scores, rp.rest.Scores):
		return differs("scores %v, recorded %v", end.Scores, rp.rest.Scores)
	case !slices.Equal(end.Results, rp.rest.Results):
		return differs("results %v, recorded %v", end.Results, rp.rest.Results)
	}
	return nil
}
