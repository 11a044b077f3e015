package export

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"blockyard/env"

	"github.com/parquet-go/parquet-go"
)

// SFT writes decisions as text for supervised fine-tuning of language models: train.jsonl and data/train.parquet, with
// the same rows, and a dataset card. Decisions without an action are left out.
type SFT struct {
	*columns
	folder string
	game   *env.Game
	table  *table
	lines  *os.File
	json   *json.Encoder
	row    sftRow
	rows   int64
	games  int64
}

// An sftRow is a decision as text. The tags are the names in both files.
type sftRow struct {
	Prompt     string   `json:"prompt"`
	Completion string   `json:"completion"`
	LegalMoves []string `json:"legal_moves"`
	Value      *float32 `json:"value"`
	Episode    int64    `json:"episode"`
	Step       int      `json:"step"`
	Seat       int      `json:"seat"`
	Policy     string   `json:"policy_id"`
}

//go:embed cards/sft.md
var sftCard string

// NewSFT starts an export of g to an empty folder. Its Walker must have Texts.
func NewSFT(folder string, g *env.Game) (*SFT, error) {
	s := &SFT{folder: folder, game: g}
	type value = parquet.Value
	text := func(of func() string) func(*Row) value {
		return func(*Row) value { return parquet.ByteArrayValue([]byte(of())) }
	}
	s.columns = newColumns("row", []column{
		{path: "prompt", node: parquet.String(), value: text(func() string { return s.row.Prompt })},
		{path: "completion", node: parquet.String(), value: text(func() string { return s.row.Completion })},
		{path: "legal_moves", node: parquet.List(parquet.String()), list: func(*Row) (int, func(int) value) {
			return len(s.row.LegalMoves), func(i int) value { return parquet.ByteArrayValue([]byte(s.row.LegalMoves[i])) }
		}},
		valueColumn,
		{path: "episode", node: parquet.Int(64), value: func(r *Row) value { return parquet.Int64Value(r.Game) }},
		{path: "step", node: parquet.Int(32), value: func(r *Row) value { return integer(r.Step) }},
		{path: "seat", node: parquet.Int(32), value: func(r *Row) value { return integer(r.Seat) }},
		{path: "policy_id", node: parquet.String(), value: text(func() string { return s.row.Policy })},
	})
	err := os.MkdirAll(filepath.Join(folder, "data"), 0o755)
	if err == nil {
		s.lines, err = s.createFile(filepath.Join(folder, "train.jsonl"))
	}
	if err == nil {
		s.json = json.NewEncoder(s.lines)
		s.json.SetEscapeHTML(false)
		s.table, err = s.create(filepath.Join(folder, "data", "train.parquet"), parquet.MaxRowsPerRowGroup(groupRows))
	}
	return s, err
}

// Row implements Sink: the position and its legal moves are the prompt, the move is the completion. Rows without an
// action are left out.
func (s *SFT) Row(r *Row) error {
	if r.Action == env.None {
		return nil
	}
	moves := make([]string, len(r.Legal))
	for k, a := range r.Legal {
		moves[k] = s.game.Text(a)
	}
	s.row = sftRow{Prompt: r.Text + "Legal moves: " + strings.Join(moves, "; ") + "\n", Completion: s.game.Text(r.Action),
		LegalMoves: moves, Episode: r.Game, Step: r.Step, Seat: r.Seat, Policy: r.Policy}
	if r.HasValue {
		s.row.Value = &r.Value
	}
	s.rows++
	return errors.Join(s.write(s.table, r), s.json.Encode(&s.row))
}

// End implements Sink: it counts the game.
func (s *SFT) End(env.State) error {
	s.games++
	return nil
}

// Close ends the files, and writes the README that describes the dataset.
func (s *SFT) Close([]Source) error {
	err := errors.Join(s.table.out.Close(), s.close(s.table.File), s.close(s.lines))
	card := fmt.Sprintf(sftCard, s.game.ID, s.games, s.rows)
	return errors.Join(err, os.WriteFile(filepath.Join(s.folder, "README.md"), []byte(card), 0o644))
}
