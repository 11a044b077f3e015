package export

import (
	"os"
	"slices"
	"strings"

	"blockyard/env"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

// A column is a column of an export. It has either one value per row or a list of values.
type column struct {
	path  string // "reward", or "infos.score" in a group
	node  parquet.Node
	value func(r *Row) parquet.Value
	list  func(r *Row) (n int, at func(i int) parquet.Value)
}

// columns are the columns of an export in the order of their schema, and the files that it has open.
type columns struct {
	schema  *parquet.Schema
	ordered []column
	row     parquet.Row
	open    map[*os.File]bool
}

func newColumns(name string, all []column) *columns {
	root := parquet.Group{}
	for _, c := range all {
		group, leaf, nested := strings.Cut(c.path, ".")
		if !nested {
			root[c.path] = c.node
			continue
		}
		if root[group] == nil {
			root[group] = parquet.Group{}
		}
		root[group].(parquet.Group)[leaf] = c.node
	}
	slices.SortFunc(all, func(a, b column) int { return strings.Compare(a.path, b.path) }) // as in a parquet.Group
	return &columns{schema: parquet.NewSchema(name, root), ordered: all, open: map[*os.File]bool{}}
}

// A table is a Parquet file that is being written.
type table struct {
	*os.File
	out *parquet.GenericWriter[any]
}

func (c *columns) create(path string, options ...parquet.WriterOption) (*table, error) {
	f, err := c.createFile(path)
	if err != nil {
		return nil, err
	}
	options = append(options, c.schema, parquet.Compression(&zstd.Codec{Level: zstd.SpeedDefault}))
	return &table{f, parquet.NewGenericWriter[any](f, options...)}, nil
}

func (c *columns) createFile(path string) (*os.File, error) {
	f, err := os.Create(path)
	if err == nil {
		c.open[f] = true
	}
	return f, err
}

func (c *columns) close(f *os.File) error {
	delete(c.open, f)
	return f.Close()
}

func (c *columns) Discard() {
	for f := range c.open {
		_ = c.close(f)
	}
}

func (c *columns) write(to *table, r *Row) error {
	c.row = c.row[:0]
	for k, col := range c.ordered {
		if col.value != nil {
			v, definition := col.value(r), 0
			if col.node.Optional() && !v.IsNull() {
				definition = 1
			}
			c.row = append(c.row, v.Level(0, definition, k))
			continue
		}
		n, at := col.list(r)
		if n == 0 {
			c.row = append(c.row, parquet.NullValue().Level(0, 0, k))
		}
		for i := range n {
			c.row = append(c.row, at(i).Level(min(i, 1), 1, k))
		}
	}
	_, err := to.out.WriteRows([]parquet.Row{c.row})
	return err
}

func boolean(b bool) parquet.Value   { return parquet.BooleanValue(b) }
func integer(n int) parquet.Value    { return parquet.Int32Value(int32(n)) }
func number(x float32) parquet.Value { return parquet.FloatValue(x) }
func globals(r *Row) (n int, at func(i int) parquet.Value) {
	return len(r.Globals), func(i int) parquet.Value { return number(r.Globals[i]) }
}

var valueColumn = column{path: "value", node: parquet.Optional(parquet.Leaf(parquet.FloatType)),
	value: func(r *Row) parquet.Value {
		if !r.HasValue {
			return parquet.NullValue()
		}
		return number(r.Value)
	}}

// setMask writes legal actions as bits, the lowest bit of a byte first.
func setMask(dst []uint8, legal []env.Action) {
	clear(dst)
	for _, a := range legal {
		dst[a>>3] |= 1 << (a & 7)
	}
}
