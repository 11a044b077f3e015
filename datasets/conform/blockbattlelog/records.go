package blockbattlelog

import (
	"encoding/json"
	"errors"
	"fmt"

	"blockyard/datasets/conform"
	"blockyard/env/blockbattle"
)

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

// UnmarshalJSON implements json.Unmarshaler.
func (r *roundRecord) UnmarshalJSON(text []byte) error {
	type plain roundRecord
	return errors.Join(json.Unmarshal(text, (*plain)(r)), json.Unmarshal(text, &r.Values))
}

// UnmarshalJSON implements json.Unmarshaler.
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
