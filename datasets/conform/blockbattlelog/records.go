package blockbattlelog

import (
	"encoding/json"
	"fmt"

	"blockyard/datasets/conform"
	"blockyard/env/blockbattle"
)

// The records of a transcript. A nil pointer or slice means that the value is not given.
type (
	gameRecord struct {
		ID       json.RawMessage `json:"id"`
		Rules    string          `json:"rules"`
		Pieces   *string         `json:"pieces"`
		Seed     *string         `json:"seed"`
		Winner   winner          `json:"winner"`
		Rounds   []roundRecord   `json:"rounds"`
		NRounds  *int            `json:"nrounds"`
		Document documentDiffers `json:"document_differs"`
	}
	roundRecord struct {
		Round  int            `json:"round"`
		Piece  string         `json:"piece"`
		Next   string         `json:"next"`
		P      []playerRecord `json:"p"`
		Losses [][2]string    `json:"losses"`
		Over   *bool          `json:"over"`
		Winner winner         `json:"winner"`
	}
	playerRecord struct {
		Start       *string  `json:"start"`
		Pos         *string  `json:"pos"`
		Pts0        *int     `json:"pts0"`
		Combo0      *int     `json:"combo0"`
		Skips0      *int     `json:"skips0"`
		Out         *string  `json:"out"`
		Parsed      []string `json:"parsed"`
		Illegal     []int    `json:"illegal"`
		Rest        *string  `json:"rest"`
		Shape       *string  `json:"shape"`
		TSpin       *bool    `json:"tspin"`
		Skipped     *bool    `json:"skipped"`
		Locked      *string  `json:"locked"`
		Rows        *int     `json:"rows"`
		Cleared     *bool    `json:"cleared"`
		Gain        *int     `json:"gain"`
		Lines       *int     `json:"lines"`
		FirstSingle *bool    `json:"first_single"`
		Holes       [][]int  `json:"holes"`
		Pts         *int     `json:"pts"`
		Combo       *int     `json:"combo"`
		Skips       *int     `json:"skips"`
		End         *string  `json:"end"`
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
		Res      roundRecord    `json:"res"`
		Document documentResult `json:"document"`
	}
	logRecord struct {
		Dialect string          `json:"dialect"`
		Game    json.RawMessage `json:"game"`
		Player  string          `json:"player"`
		Log     [][2]string     `json:"log"`
	}
)

// A winner is the name of the player who won.
type winner struct {
	given bool
	name  string // "none" if nobody won
}

func (w *winner) UnmarshalJSON(text []byte) error {
	var name *string
	if err := json.Unmarshal(text, &name); err != nil {
		return err
	}
	*w = winner{true, "none"}
	if name != nil {
		w.name = *name
	}
	return nil
}

// compare compares the winner if the transcript states it.
func (w *winner) compare(t *conform.Tally, key, replayed string) {
	if w.given {
		conform.Same(t, key, w.name, replayed)
	}
}

// documentDiffers says in which round the published rules first have another outcome, if any, and why.
type documentDiffers struct {
	given bool
	Round *int     `json:"round"`
	Why   []string `json:"why"`
}

func (d *documentDiffers) UnmarshalJSON(text []byte) error {
	type plain documentDiffers
	var p *plain
	if err := json.Unmarshal(text, &p); err != nil {
		return err
	}
	*d = documentDiffers{given: true}
	if p != nil {
		d.Round, d.Why = p.Round, p.Why
	}
	return nil
}

// documentResult is the outcome of a single round by the published rules, if that differs.
type documentResult struct {
	given, differs bool
	Why            []string       `json:"why"`
	Winner         winner         `json:"winner"`
	P              []playerRecord `json:"p"`
}

func (d *documentResult) UnmarshalJSON(text []byte) error {
	type plain documentResult
	var p *plain
	if err := json.Unmarshal(text, &p); err != nil {
		return err
	}
	*d = documentResult{}
	if p != nil {
		*d = documentResult(*p)
	}
	d.given, d.differs = true, p != nil
	if d.differs && len(d.P) != 2 {
		return fmt.Errorf("document: %d players, want 2", len(d.P))
	}
	return nil
}

// check returns an error for a round that cannot be replayed.
func (r *roundRecord) check() error {
	if _, err := pieceOf(r.Piece); err != nil {
		return fmt.Errorf("round %d: %w", r.Round, err)
	}
	if _, err := pieceOf(r.Next); err != nil {
		return fmt.Errorf("round %d: next: %w", r.Round, err)
	}
	return r.checkPlayers()
}

// holes are the stated hole columns of the rows that each seat sends.
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

// id is a record's id as text.
func id(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}
