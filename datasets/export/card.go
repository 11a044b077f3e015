package export

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"blockyard/datasets/program"
)

// A Source is an exported file of records.
type Source struct {
	File   string `json:"file"`
	Games  int64  `json:"games"`
	SHA256 string `json:"sha256"` // of the file as it is, compressed or not
}

// About is the metadata of an export, the same for all rows.
type About struct {
	Game     string          `json:"game"`
	ID       string          `json:"id"` // of the Gymnasium environment
	Rules    int             `json:"rules"`
	Shape    [3]int          `json:"planes_shape"`
	CellBits int             `json:"cell_bits"`
	Planes   []string        `json:"planes"`
	Globals  []string        `json:"globals"`
	Actions  int             `json:"actions"`
	None     int             `json:"no_action"`
	Observed json.RawMessage `json:"observation_space"` // in Minari's schema
	Chosen   json.RawMessage `json:"action_space"`
	Revision string          `json:"revision,omitempty"` // of the program that exported
}

func (s *Shards) about() About {
	g := s.game
	return About{Game: g.Name, ID: g.ID, Rules: g.Rules,
		Shape: [3]int{g.Planes.C, g.Planes.H, g.Planes.W}, CellBits: g.CellBits(),
		Planes: g.PlaneNames, Globals: g.GlobalNames, Actions: g.Actions, None: 65535,
		Observed: finite(observationSpace(g)), Chosen: json.RawMessage(actionSpace(g)), Revision: program.Read().Commit}
}

//go:embed cards/shards.md
var shardsCard string

// card writes README.md and meta/info.json.
func (s *Shards) card(sources []Source) error {
	g := s.game
	about := s.about()
	shape := strings.ReplaceAll(fmt.Sprint(about.Shape), " ", ", ")
	text := fmt.Sprintf(shardsCard, g.ID, s.games, s.rows, g.PackedLen(), shape, g.CellBits(), g.Globals(), g.MaskLen())
	if err := os.WriteFile(filepath.Join(s.folder, "README.md"), []byte(text), 0o644); err != nil {
		return err
	}
	return writeJSON(filepath.Join(s.folder, "meta", "info.json"), struct {
		About
		Games   int64    `json:"episodes"`
		Rows    int64    `json:"rows"`
		Files   []string `json:"files"`
		Sources []Source `json:"sources"`
	}{about, s.games, s.rows, s.files, sources})
}

func writeJSON(path string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}
