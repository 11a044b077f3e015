package export

import (
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

const card = `---
pretty_name: %[1]s, recorded games
task_categories:
- reinforcement-learning
configs:
- config_name: default
  data_files: data/*.parquet
---
# %[1]s, recorded games

%[2]d games, %[3]d choices. A row is one decision of one seat. meta/info.json has the names of the planes
and globals and the files of records that were exported.

| column | type | meaning |
|---|---|---|
| episode | int64 | number of the game, from 0 |
| step | int32 | steps played before in the game |
| seat | uint8 | the seat that acts |
| obs | %[4]d bytes | observed planes %[5]v, packed with %[6]d bits per cell, lowest bits of a byte first |
| globals | list of %[7]d float32 | observed globals |
| mask | %[8]d bytes | legal actions: bit a & 7 of byte a >> 3 |
| action | uint16 | action; 65535 is no action |
| score | int32 | points of the seat before the action |
| reward | float32 | change of the seat's result until its next decision or the end: -1 to 1 |
| points | int32 | change of the seat's points until then |
| terminated | bool | the seat's last decision, and the game ended |
| truncated | bool | the seat's last decision, and the game was stopped |
| seed | uint64 | seed of the game |
| policy_id | string | agent of the seat |
| value | float32 or null | the search's evaluation of the action |

The rows of a seat are in order of play. In pandas, the planes of a row are

    numpy.unpackbits(numpy.frombuffer(row.obs, "u1"), bitorder="little")

for cells of one bit; ` + "`blockyard.unpack(bits, facts)`" + ` unpacks any cells.
`

// card writes README.md and meta/info.json.
func (s *Shards) card(sources []Source) error {
	g := s.game
	about := s.about()
	shape := strings.ReplaceAll(fmt.Sprint(about.Shape), " ", ", ")
	text := fmt.Sprintf(card, g.ID, s.games, s.rows, g.PackedLen(), shape, g.CellBits(), g.Globals(), g.MaskLen())
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
