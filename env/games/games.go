// Package games lists every game, and finds them by name. Programs import it. Games and their bots do not,
// so that a bot contains a single game.
package games

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/blocking"
	"blockyard/env/dropblox"
	"blockyard/env/tetrisduel"
	"blockyard/env/wintetris"
)

// All holds every game and variant, each game before its variants. The variants with a Game.Table of their own,
// such as "blocking:shapes=HASH", are not among them: see Open and Recorded.
var All = []*env.Game{
	blockbattle.Game,
	blockbattle.ClassicGame,
	blockbattle.PortGame,
	tetrisduel.Game,
	blocking.Game,
	wintetris.Game,
	wintetris.InstantGame,
	wintetris.TickGame,
	wintetris.Paper10Game,
	wintetris.Paper20Game,
	dropblox.Game,
}

// Lookup finds a game by name ("blockbattle", "blockbattle:classic") or by Gymnasium id
// ("BlockBattle-v0", with or without "blockyard/"). It also finds the games that Open and Recorded
// have returned. It opens no file, whatever the name is.
func Lookup(name string) (*env.Game, error) {
	if g := Find(All, name); g != nil {
		return g, nil
	}
	if g, ok := tabled.Load(name); ok {
		return g.(*env.Game), nil
	}
	return nil, Unknown(All, name)
}

// Unknown is the error for a name that no game of a list has. It says which one is like it.
func Unknown(list []*env.Game, name string) error {
	hint := ""
	for _, g := range list {
		if hint == "" && (like(name, g.Name) || like(strings.TrimPrefix(name, "blockyard/"), g.ID)) {
			hint = fmt.Sprintf("; did you mean %s?", g.Name)
		}
	}
	return fmt.Errorf("no game %.80q; there are %s%s", name, strings.Join(Names(list), ", "), hint)
}

// like reports whether two short texts are the same up to capitals and two letters too many, too few or exchanged.
func like(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	if len(a) > len(b)+2 || len(b) > len(a)+2 {
		return false
	}
	last := make([]int, len(b)+1) // edits from the beginning of a to each beginning of b
	for k := range last {
		last[k] = k
	}
	for i := range len(a) {
		row := []int{i + 1}
		for k := range len(b) {
			edits := last[k]
			if a[i] != b[k] {
				edits++
			}
			row = append(row, min(edits, last[k+1]+1, row[k]+1))
		}
		last = row
	}
	return last[len(b)] <= 2
}

// Find finds one of some games by its name or id, as Lookup does; nil if it is not among them.
func Find(list []*env.Game, name string) *env.Game {
	for _, g := range list {
		if name == g.Name || strings.TrimPrefix(name, "blockyard/") == g.ID {
			return g
		}
	}
	return nil
}

// Names returns the full names of games, such as "blockbattle:classic", in the order of the list.
func Names(list []*env.Game) (names []string) {
	for _, g := range list {
		names = append(names, g.Name)
	}
	return names
}

// Rules returns the rules of a game for people, as Markdown: the RULES.md of its folder, which also describes the
// variants. It returns "" for a game that is not part of this repository.
func Rules(g *env.Game) string {
	name, _, _ := strings.Cut(g.Name, ":")
	return map[string]string{
		blockbattle.Game.Name: blockbattle.Rulebook, tetrisduel.Game.Name: tetrisduel.Rulebook,
		blocking.Game.Name: blocking.Rulebook, wintetris.Game.Name: wintetris.Rulebook,
		dropblox.Game.Name: dropblox.Rulebook,
	}[name]
}

// places name the players of a game for people, by seat.
var places = [env.MaxSeats]string{"first", "second", "third", "fourth"}

// Describe returns turn, a sentence about whose turn it is, and the drawn frame for the player of seat, if any.
func Describe(g *env.Game, frame *env.Frame, seats, seat int, turn string) string {
	who := ""
	if seats > 1 && seat < seats {
		who = fmt.Sprintf("you are the %s of %d players. ", places[seat], seats)
	}
	return fmt.Sprintf("%s: %s%s\n%s%s", g.ID, who, turn, frame, trayText(frame))
}

// trayText shows the trays that no seat owns, such as the next pieces. Those of a seat are in the notes.
func trayText(frame *env.Frame) string {
	var out strings.Builder
	for _, t := range frame.Trays {
		if t.Seat == env.Everybody && len(t.Pieces) > 0 {
			pieces := env.Frame{Boards: t.Pieces}
			fmt.Fprintf(&out, "%s:\n%s", t.Name, strings.TrimLeft(pieces.String(), "\n"))
		}
	}
	return out.String()
}

// shapes begins the names of Blocking with other shapes: a hash follows, or in what people write, a file.
const shapes = "blocking:shapes="

// tabled holds the games with a table that were met so far, by name. blocking.Use limits their number.
var tabled sync.Map

// Open finds the game that a command line names: as Lookup does, or "blocking:shapes=FILE", Blocking with
// the shapes of a file of 21 lines. The result's name has a hash of the shapes instead of the file, so that
// it names the same game everywhere. It opens files: never pass it names that others sent.
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

// Recorded finds the game of a record, which has the game's name and its Game.Table. The table of a variant that is
// not known yet is taken from the record. It returns an error if table is another one than the name says.
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
