package export

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
)

// A Source is a file of records that was exported.
type Source struct {
	File   string `json:"file"`
	Games  int64  `json:"games"`
	SHA256 string `json:"sha256"` // of the file as it lies
}

// About is what holds for every row of an export.
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
	return About{Game: g.Name, ID: g.ID, Rules: g.Rules, Shape: [3]int{g.Planes.C, g.Planes.H, g.Planes.W}, CellBits: g.CellBits(),
		Planes: g.PlaneNames, Globals: g.GlobalNames, Actions: g.Actions, None: 65535,
		Observed: finite(observationSpace(g)), Chosen: json.RawMessage(actionSpace(g)), Revision: revision()}
}

// revision is that of the sources the program was built from, if it knows.
func revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}

const card = `---
pretty_name: %[1]s, recorded games
task_categories:
- reinforcement-learning
configs:
- config_name: default
  data_files: data/*.parquet
---
# %[1]s, recorded games

%[2]d games, %[3]d choices. A row is one choice of one seat; meta/info.json says what planes and
globals are called, and which records the rows come from.

| column | type | |
|---|---|---|
| episode | int64 | which game, from 0 |
| step | int32 | moves played before in the game |
| seat | uint8 | who chose |
| obs | %[4]d bytes | what the seat saw: planes %[5]v, %[6]d bits a cell, lowest bits of a byte first |
| globals | list of %[7]d float32 | the numbers beside |
| mask | %[8]d bytes | its legal actions: bit a & 7 of byte a >> 3 |
| action | uint16 | its choice; 65535: it made none |
| score | int32 | its points when it chose |
| reward | float32 | what its standing changed until it chose again or the game ended: -1 to 1 |
| points | int32 | likewise, its points |
| terminated | bool | its last choice of a game that came to its end |
| truncated | bool | its last choice of a game that was broken off |
| seed | uint64 | of the game |
| policy_id | string | who played |
| value | float32 or null | what its search thought of the choice |

Rows of a seat are in order of play. In pandas, planes of a row are

    numpy.unpackbits(numpy.frombuffer(row.obs, "u1"), bitorder="little")

for cells of one bit, and ` + "`blockyard.unpack(bits, facts)`" + ` for any.
`

// card writes README.md and meta/info.json.
func (s *Shards) card(sources []Source) error {
	g := s.game
	text := fmt.Sprintf(card, g.ID, s.games, s.rows, g.PackedLen(), strings.ReplaceAll(fmt.Sprint(s.about().Shape), " ", ", "), g.CellBits(),
		g.Globals(), g.MaskLen())
	if err := os.WriteFile(filepath.Join(s.folder, "README.md"), []byte(text), 0o644); err != nil {
		return err
	}
	return writeJSON(filepath.Join(s.folder, "meta", "info.json"), struct {
		About
		Games   int64    `json:"episodes"`
		Rows    int64    `json:"rows"`
		Files   []string `json:"files"`
		Sources []Source `json:"sources"`
	}{s.about(), s.games, s.rows, s.files, sources})
}

func writeJSON(path string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}
