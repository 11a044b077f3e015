package games

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"blockyard/env"
	"blockyard/env/blocking"
)

// shapes begins the names of Blocking with other shapes: a hash of the shapes follows, or in what people
// write, a file of them.
const shapes = "blocking:shapes="

// tabled holds the games with a table that were met so far, by name. blocking.Use limits their number.
var tabled sync.Map

// Open finds the game that a command line names: as Lookup does, or "blocking:shapes=FILE", Blocking with
// the shapes of a file of 21 lines. The result's name has a hash of the shapes instead of the file, so that
// it names the same game everywhere. Do not call Open with names that others sent.
func Open(name string) (*env.Game, error) {
	g, err := Lookup(name)
	file, ok := strings.CutPrefix(name, shapes)
	if err == nil || !ok {
		return g, err
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("%s: want blocking:shapes=FILE, a file of 21 shapes: %w", name, err)
	}
	defer f.Close()
	if g, err = read(f); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return g, nil
}

// Recorded finds the game of a record, which has the game's name and its Game.Table. The table of a
// variant that is not known yet is taken from the record. It returns an error if table is another one than
// the name says.
func Recorded(name string, table []string) (*env.Game, error) {
	g, err := Lookup(name)
	if err != nil && strings.HasPrefix(name, shapes) {
		if len(table) == 0 {
			return nil, fmt.Errorf("%s: the record has no table, want the 21 lines of its shapes", name)
		}
		g, err = read(strings.NewReader(strings.Join(table, "\n")))
		if err != nil {
			return nil, fmt.Errorf("%s: table of the record: %w", name, err)
		}
		if g.Name != name {
			return nil, fmt.Errorf("%s: the table of the record is that of %s: one of the two was changed", name, g.Name)
		}
	}
	if err == nil && !slices.Equal(table, g.Table) {
		return nil, fmt.Errorf("%s: the record has another table than its name says: one of the two was changed", name)
	}
	return g, err
}

// read returns Blocking with the shapes in r, always the same game for the same shapes.
func read(r io.Reader) (*env.Game, error) {
	list, err := blocking.ReadShapes(r)
	if err != nil {
		return nil, err
	}
	g, err := blocking.With(blocking.NewTable(list))
	if err != nil || g == blocking.Game {
		return g, err
	}
	first, _ := tabled.LoadOrStore(g.Name, g)
	return first.(*env.Game), nil
}
