package export

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"blockyard/datasets/program"
	"blockyard/env"

	"github.com/parquet-go/parquet-go"
)

// Sizes of a row group. It holds whole games unless one game is several times larger.
const (
	groupRows  = 64 << 10
	groupBytes = 64 << 20 // before compression
	groupsMost = 4        // a longer game, in groups, is split
)

// Shards writes rows to the files data/shard-00000.parquet, … of a folder, with a dataset card (README.md)
// and metadata (meta/info.json), which describe the columns. The folder is incomplete until Close.
type Shards struct {
	*columns
	folder string
	game   *env.Game
	most   int // approximate rows of a file
	group  int // approximate rows of a row group

	table *table // nil after a full file, and after Close
	obs   []byte

	files              []string
	rows               int64
	inFile             int
	inGroup, sizeGroup int
	games              int64
}

// NewShards starts an export of g to an empty folder, with approximately rows rows per file.
func NewShards(folder string, g *env.Game, rows int) (*Shards, error) {
	for _, sub := range []string{"data", "meta"} {
		if err := os.MkdirAll(filepath.Join(folder, sub), 0o755); err != nil {
			return nil, err
		}
	}
	s := &Shards{folder: folder, game: g, most: rows, group: groupRows, obs: make([]byte, g.PackedLen())}
	var (
		delta    = &parquet.DeltaBinaryPacked
		few      = &parquet.RLEDictionary // values that repeat
		float    = parquet.Leaf(parquet.FloatType)
		flag     = parquet.Leaf(parquet.BooleanType)
		obsBytes = parquet.Leaf(parquet.FixedLenByteArrayType(g.PackedLen()))
		mask     = parquet.Leaf(parquet.FixedLenByteArrayType(g.MaskLen()))
	)
	type value = parquet.Value
	s.columns = newColumns("row", []column{
		{path: "episode", node: parquet.Encoded(parquet.Int(64), delta),
			value: func(r *Row) value { return parquet.Int64Value(r.Game) }},
		{path: "step", node: parquet.Encoded(parquet.Int(32), delta), value: func(r *Row) value { return integer(r.Step) }},
		{path: "seat", node: parquet.Uint(8), value: func(r *Row) value { return integer(r.Seat) }},
		{path: "obs", node: obsBytes, value: func(*Row) value { return parquet.FixedLenByteArrayValue(s.obs) }},
		{path: "globals", node: parquet.List(float), list: globals},
		{path: "mask", node: mask, value: func(r *Row) value { return parquet.FixedLenByteArrayValue(r.Mask) }},
		{path: "action", node: parquet.Uint(16), value: func(r *Row) value { return integer(int(r.Action)) }},
		{path: "score", node: parquet.Int(32), value: func(r *Row) value { return integer(r.Score) }},
		{path: "reward", node: float, value: func(r *Row) value { return number(r.Reward) }},
		{path: "points", node: parquet.Int(32), value: func(r *Row) value { return integer(r.Points) }},
		{path: "terminated", node: flag, value: func(r *Row) value { return boolean(r.Terminated) }},
		{path: "truncated", node: flag, value: func(r *Row) value { return boolean(r.Truncated) }},
		{path: "seed", node: parquet.Encoded(parquet.Uint(64), few),
			value: func(r *Row) value { return parquet.Int64Value(int64(r.Seed)) }},
		{path: "policy_id", node: parquet.Encoded(parquet.String(), few),
			value: func(r *Row) value { return parquet.ByteArrayValue([]byte(r.Policy)) }},
		valueColumn,
	})
	return s, s.openFile()
}

func (s *Shards) openFile() error {
	about, err := json.Marshal(s.about())
	if err != nil {
		return err
	}
	name := fmt.Sprintf("data/shard-%05d.parquet", len(s.files))
	s.table, err = s.create(filepath.Join(s.folder, name),
		parquet.KeyValueMetadata("blockyard", string(about)), parquet.MaxRowsPerRowGroup(1<<40))
	if err != nil {
		return err
	}
	s.files = append(s.files, name)
	return nil
}

func (s *Shards) flush() error {
	s.inGroup, s.sizeGroup = 0, 0
	return s.table.out.Flush()
}

// Row implements Sink: it packs the planes, and begins a row group or a file where the last one is full.
func (s *Shards) Row(r *Row) error {
	var err error
	switch {
	case s.table == nil:
		err = s.openFile()
	case s.inGroup >= groupsMost*s.group || s.sizeGroup >= groupsMost*groupBytes:
		err = s.flush()
	}
	if err != nil {
		return err
	}
	clear(s.obs)
	per, bits := 8/s.game.CellBits(), s.game.CellBits()
	for k, c := range r.Planes { // the lowest bits of a byte first
		s.obs[k/per] |= c << (k % per * bits)
	}
	if err := s.write(s.table, r); err != nil {
		return err
	}
	s.rows++
	s.inFile++
	s.inGroup++
	s.sizeGroup += len(s.obs) + len(r.Mask) + 4*len(r.Globals) + 64
	return nil
}

// End implements Sink. It ends a row group or file that is full.
func (s *Shards) End(env.State) error {
	s.games++
	switch {
	case s.inFile >= s.most:
		return s.closeFile()
	case s.inGroup >= s.group || s.sizeGroup >= groupBytes:
		return s.flush()
	}
	return nil
}

func (s *Shards) closeFile() error {
	if s.table == nil {
		return nil
	}
	err := s.table.out.Close()
	if err == nil {
		err = s.table.Sync()
	}
	err = errors.Join(err, s.close(s.table.File))
	s.table, s.inGroup, s.sizeGroup, s.inFile = nil, 0, 0, 0
	return err
}

// A Source is a file of records that was exported, for the description of the dataset.
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
	space := strings.NewReplacer("-Infinity", `"-inf"`, "Infinity", `"inf"`).Replace(observationSpace(g)) // is JSON
	return About{Game: g.Name, ID: g.ID, Rules: g.Rules,
		Shape: [3]int{g.Planes.C, g.Planes.H, g.Planes.W}, CellBits: g.CellBits(),
		Planes: g.PlaneNames, Globals: g.GlobalNames, Actions: g.Actions, None: 65535,
		Observed: json.RawMessage(space), Chosen: json.RawMessage(actionSpace(g)), Revision: program.Read().Commit}
}

//go:embed cards/shards.md
var shardsCard string

// Close ends the last file and writes README.md and meta/info.json; sources are the files that were exported.
func (s *Shards) Close(sources []Source) error {
	if err := s.closeFile(); err != nil {
		return err
	}
	g, about := s.game, s.about()
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
