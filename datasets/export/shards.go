package export

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"blockyard/env"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
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
	folder string
	game   *env.Game
	most   int // approximate rows of a file
	group  int // approximate rows of a row group

	schema *parquet.Schema
	at     map[string]int // column indices
	file   *os.File
	out    *parquet.GenericWriter[any]
	now    Game
	obs    []byte
	row    parquet.Row

	files              []string
	rows, inFile       int64
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
	s.schema = parquet.NewSchema("row", parquet.Group{
		"episode": parquet.Encoded(parquet.Int(64), &parquet.DeltaBinaryPacked),
		"step":    parquet.Encoded(parquet.Int(32), &parquet.DeltaBinaryPacked),
		"seat":    parquet.Uint(8),
		"obs":     parquet.Leaf(parquet.FixedLenByteArrayType(g.PackedLen())),
		"globals": parquet.List(parquet.Leaf(parquet.FloatType)),
		"mask":    parquet.Leaf(parquet.FixedLenByteArrayType(g.MaskLen())),
		"action":  parquet.Uint(16), "score": parquet.Int(32),
		"reward": parquet.Leaf(parquet.FloatType), "points": parquet.Int(32),
		"terminated": parquet.Leaf(parquet.BooleanType), "truncated": parquet.Leaf(parquet.BooleanType),
		"seed": parquet.Encoded(parquet.Uint(64), &parquet.RLEDictionary), "policy_id": parquet.Encoded(parquet.String(), &parquet.RLEDictionary),
		"value": parquet.Optional(parquet.Leaf(parquet.FloatType)),
	})
	s.at = columnsOf(s.schema)
	return s, nil
}

// columnsOf returns the column numbers of a schema by the first name of their paths and, within a group,
// by the first two names: "observations.planes".
func columnsOf(schema *parquet.Schema) map[string]int {
	at := map[string]int{}
	for k, path := range schema.Columns() {
		at[path[0]] = k
		if len(path) > 1 {
			at[path[0]+"."+path[1]] = k
		}
	}
	return at
}

// Begin implements Sink. It starts a new row group or file if the current one is full.
func (s *Shards) Begin(g *Game) error {
	s.now = *g
	switch {
	case s.out == nil || s.inFile >= int64(s.most):
		return s.open()
	case s.inGroup >= s.group || s.sizeGroup >= groupBytes:
		return s.flush()
	}
	return nil
}

func (s *Shards) open() error {
	if err := s.closeFile(); err != nil {
		return err
	}
	name := fmt.Sprintf("data/shard-%05d.parquet", len(s.files))
	f, err := os.Create(filepath.Join(s.folder, name))
	if err != nil {
		return err
	}
	s.files, s.file, s.inFile = append(s.files, name), f, 0
	about, err := json.Marshal(s.about())
	if err != nil {
		return err
	}
	s.out = parquet.NewGenericWriter[any](f, s.schema, parquet.Compression(&zstd.Codec{Level: zstd.SpeedDefault}),
		parquet.KeyValueMetadata("blockyard", string(about)), parquet.MaxRowsPerRowGroup(1<<40))
	return nil
}

func (s *Shards) flush() error {
	s.inGroup, s.sizeGroup = 0, 0
	return s.out.Flush()
}

// Row implements Sink.
func (s *Shards) Row(r *Row) error {
	if s.inGroup >= groupsMost*s.group || s.sizeGroup >= groupsMost*groupBytes {
		if err := s.flush(); err != nil {
			return err
		}
	}
	pack(s.obs, r.Planes, s.game.CellBits())
	s.row = s.row[:0]
	for k, path := range s.schema.Columns() {
		if path[0] == "globals" {
			s.row = appendList(s.row, k, len(r.Globals), func(i int) parquet.Value { return parquet.FloatValue(r.Globals[i]) })
			continue
		}
		s.row = append(s.row, s.cell(path[0], r).Level(0, definition(path[0], r), k))
	}
	if _, err := s.out.WriteRows([]parquet.Row{s.row}); err != nil {
		return err
	}
	s.rows++
	s.inFile++
	s.inGroup++
	s.sizeGroup += len(s.obs) + len(r.Mask) + 4*len(r.Globals) + 64
	return nil
}

// cell is the value of a row in a column that is not a list.
func (s *Shards) cell(column string, r *Row) parquet.Value {
	switch column {
	case "episode":
		return parquet.Int64Value(r.Game)
	case "step":
		return parquet.Int32Value(int32(r.Step))
	case "seat":
		return parquet.Int32Value(int32(r.Seat))
	case "obs":
		return parquet.FixedLenByteArrayValue(s.obs)
	case "mask":
		return parquet.FixedLenByteArrayValue(r.Mask)
	case "action":
		return parquet.Int32Value(int32(r.Action))
	case "score":
		return parquet.Int32Value(int32(r.Score))
	case "reward":
		return parquet.FloatValue(r.Reward)
	case "points":
		return parquet.Int32Value(int32(r.Points))
	case "terminated":
		return parquet.BooleanValue(r.Terminated)
	case "truncated":
		return parquet.BooleanValue(r.Truncated)
	case "seed":
		return parquet.Int64Value(int64(s.now.Seed))
	case "policy_id":
		return parquet.ByteArrayValue([]byte(s.now.Agents[r.Seat]))
	}
	if !r.HasValue {
		return parquet.NullValue()
	}
	return parquet.FloatValue(r.Value)
}

// definition is the definition level of a cell: 1 for an optional value that is present.
func definition(column string, r *Row) int {
	if column == "value" && r.HasValue {
		return 1
	}
	return 0
}

// appendList appends n values of a list column.
func appendList(row parquet.Row, column, n int, at func(i int) parquet.Value) parquet.Row {
	if n == 0 {
		return append(row, parquet.NullValue().Level(0, 0, column))
	}
	for i := range n {
		row = append(row, at(i).Level(min(i, 1), 1, column))
	}
	return row
}

// End implements Sink.
func (s *Shards) End(env.State) error {
	s.games++
	return nil
}

func (s *Shards) closeFile() error {
	if s.out == nil {
		return nil
	}
	err := s.out.Close()
	if err == nil {
		err = s.file.Sync()
	}
	err = errors.Join(err, s.file.Close())
	s.out, s.file, s.inGroup, s.sizeGroup = nil, nil, 0, 0
	return err
}

// Close ends the last file and writes the card; sources are the files that were exported.
func (s *Shards) Close(sources []Source) error {
	if err := s.closeFile(); err != nil {
		return err
	}
	return s.card(sources)
}

// Discard closes all files. The folder is incomplete then.
func (s *Shards) Discard() {
	if s.file != nil {
		s.file.Close()
		s.out, s.file = nil, nil
	}
}
