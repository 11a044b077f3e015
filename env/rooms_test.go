package env_test

import (
	"fmt"
	"go/ast"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A room is a name that stands directly in one of the folders of rooms: a file, or a folder with all that is below.
type room struct {
	name  string
	doors string // names of the rooms of the same folder whose packages it may import
	code  int    // lines of code of the product, in all languages; see budget
	why   string
}

const (
	maxRooms  = 10 // with code, in one folder
	maxFloors = 6  // a room stands one floor above the highest that it imports
	maxFiles  = 16 // of Go without tests, directly in a package
)

// rooms are the folders with many packages, and what may stand in each. A reader who lists a folder knows every name.
var rooms = map[string][]room{
	"agents": {
		{"main.go", "commands", 10, "starts the program"},
		{"commands", "play fleet submit match bots contest search mlp", 2300, "a file per command: flags, one call, print"},
		{"play", "match bots contest search", 1649, "a person at the board, or an analysis for one"},
		{"fleet", "match bots mlp", 2163, "one piece of work on many machines, none of which is trusted blindly"},
		{"submit", "bots contest search mlp", 3711, "a bot as one file"},
		{"match", "bots contest search", 5610, "many games: formats, standings, ratings; a tournament takes what users name"},
		{"bots", "contest search mlp", 8729, "who plays: what users name, and a folder per game"},
		{"contest", "", 7448, "a program of somebody else before a referee, in a cage"},
		{"search", "", 1234, "choices by looking ahead, whatever the game"},
		{"mlp", "", 1297, "a network as plain Go"},
	},
	"train": {
		{"main.go", "commands", 10, "starts the program"},
		{"commands", "cluster selfplay network games curves", 1328, "a file per command"},
		{"cluster", "selfplay games", 594, "self-play on many machines, and what to do if one of them lies"},
		{"selfplay", "network games curves", 3505, "a run: its algorithms, gates and state"},
		{"network", "games", 892, "the trainer"},
		{"games", "", 386, "what training must know of each game"},
		{"curves", "", 78, "scores over time, as files that TensorBoard reads"},
		{"scripts", "", 0, "longer runs of several commands"},
	},
	"rpc": {
		{"main.go", "commands", 10, "starts the program, and holds its version"},
		{"blockyard", "commands", 22, "the commands of all programs in one, for the Python package"},
		{"commands", "openenv server session wire", 710, "a file per command"},
		{"openenv", "session wire", 1999, "the environments over HTTP, WebSocket and MCP, branches of their games, and which tools there are"},
		{"server", "session wire", 2803, "sockets: connections, frames, deadlines, and a method per request"},
		{"session", "wire", 3453, "what one client plays, whatever the door: batches, records, checkpoints, shared memory, limits, counts"},
		{"library", "server session wire", 278, "the server as a shared library, for C and Python"},
		{"wire", "", 844, "messages as bytes, and the same calls from Go"},
		{"bench", "server session wire", 0, "every measurement, in Go and Python"},
		{"python", "", 0, "the Python package and its docs"},
		{"deploy", "", 49, "files for Kubernetes, Prometheus and Grafana, and the episodes that validate the folder for OpenEnv"},
	},
	"datasets": {
		{"main.go", "commands", 10, "starts the program"},
		{"commands", "viewer export conform record program", 797, "a file per command"},
		{"viewer", "record program", 4197, "recorded and running games in a browser"},
		{"export", "record program", 706, "records as Parquet, Minari and text"},
		{"conform", "record", 2117, "the rules beside transcripts of the original engines"},
		{"record", "program", 1359, "a game as a line of a file"},
		{"program", "", 1955, "what every program, page, picture and C library is, apart from its work, and several in one executable"},
		{"games", "", 0, "a recorded game of each kind"},
		{"panels", "", 0, "decisions with values of their actions, by thousands of games"},
	},
}

// beside are files that stand in these folders and are no rooms: pages, names with a dot before them, and these.
const beside = "agents/testdata/... datasets/testdata/... agents/signatures.txt rpc/Dockerfile rpc/Dockerfile.dockerignore"

// roomAt returns the room of a file below a folder, and where it stands in the table of the folder, -1 if it does not.
func roomAt(folder, file string) (name string, at int) {
	name, _, _ = strings.Cut(strings.TrimPrefix(file, folder+"/"), "/")
	return name, slices.IndexFunc(rooms[folder], func(r room) bool { return r.name == name })
}

// TestRooms says which names may stand in a folder, and how large each may be.
func TestRooms(t *testing.T) {
	holds(t, func(all []source) []string { return append(strangers(all), wrongRooms(all)...) },
		trial{"train/utils/a.txt", "", "train/utils/a.txt: which room of train is it part of? Its rooms are in env/rooms_test.go"},
		trial{"train/README.md", "", "train/main.go is a room without a door"}, trial{"train/.gitignore", "", ""},
		trial{"train/main.go", strings.Repeat("var _ = 1\n", 10), "train/main.go has 11 lines of code, want at most 10: move"})
}

// strangers returns a sentence for every file in a folder that has no room.
func strangers(all []source) (out []string) {
	for _, f := range all {
		folder, below, _ := strings.Cut(f.path, "/")
		switch name, at := roomAt(folder, f.path); {
		case rooms[folder] == nil, at >= 0, below == name && path.Ext(name) == ".md", name[0] == '.', fits(f.path, beside):
		default:
			out = append(out, fmt.Sprintf("%s: which room of %s is it part of? Its rooms are in env/rooms_test.go", f.path, folder))
		}
	}
	return out
}

// wrongRooms returns a sentence for every room without a file, or with more code than its row allows, and for every folder
// with too many rooms.
func wrongRooms(all []source) (out []string) {
	for folder, table := range rooms {
		code := 0
		for _, r := range table {
			n := codeOf(all, folder+"/"+r.name)
			if !slices.ContainsFunc(all, func(f source) bool { return within(f.path, folder+"/"+r.name) }) {
				out = append(out, fmt.Sprintf("%s/%s is a room without a door: it does not exist; remove its row", folder, r.name))
			} else if n > r.code {
				out = append(out, fmt.Sprintf("%s/%s has %d lines of code, want at most %d: "+
					"move something out, or change its row with a reason", folder, r.name, n, r.code))
			}
			code += min(n, 1)
		}
		if code > maxRooms {
			out = append(out, fmt.Sprintf("%s has %d rooms, more than a reader can hold: want %d", folder, code, maxRooms))
		}
	}
	return out
}

// codeOf counts the lines of code of the product in a file or below a folder; those of Python have rows of budgets.
func codeOf(all []source, root string) (n int) {
	for _, f := range all {
		if f.part == product && within(f.path, root) && !within(f.path, "rpc/python") {
			n += f.code
		}
	}
	return n
}

// stacked are folders whose packages and files stand on each other as rooms do. The room of a file is the first word of
// its name.
var stacked = []string{"rpc/server", "rpc/session"}

// TestFloors says how high the rooms of a folder are stacked, and that none imports or names one that stands on it.
func TestFloors(t *testing.T) {
	all := sources(t)
	for _, folder := range append(slices.Sorted(maps.Keys(rooms)), stacked...) {
		ties := tiesOf(folder, all)
		floors, circle := heights(ties)
		require.Empty(t, circle, "these rooms of %s name each other in a circle: %v", folder, ties)
		require.LessOrEqual(t, len(floors), maxRooms, "%s: %v", folder, floors)
		require.LessOrEqual(t, slices.Max(slices.Collect(maps.Values(floors))), maxFloors, "%s: %v", folder, floors)
	}
	file := func(name, text string) source { return newSource("a/"+name, "package a\n"+text) }
	files := []source{file("top.go", "var _ = middle{}"), file("middle_two.go", "type middle struct { b int }"),
		file("middle.go", "var _ = low\nfunc (middle) ask() {}"), file("low.go", "import \"blockyard/a/b\"\nvar low = b.B.Do"),
		file("b/b.go", "func (x) answer() {}")}
	floors, circle := heights(tiesOf("a", files))
	require.Empty(t, circle)
	require.Equal(t, map[string]int{"b": 1, "low": 2, "middle": 3, "top": 4}, floors)
	for _, text := range []string{"var _ = middle{}", "func f(x any) { x.ask() }"} {
		_, circle = heights(tiesOf("a", append(files, file("low_two.go", text))))
		require.NotEmpty(t, circle, text)
	}
}

// tiesOf returns which rooms of a folder name which: by imports, and within a package by names of declarations, and of
// unexported methods that only one room has.
func tiesOf(folder string, all []source) map[[2]string]bool {
	declares, names, ties := map[string]string{}, map[[2]string]bool{}, map[[2]string]bool{}
	declare := func(name, room string) { // "" is for what several rooms declare, or a field
		if one, known := declares[name]; known && one != room {
			room = ""
		}
		declares[name] = room
	}
	for _, f := range all {
		if !f.isProduct() || !within(f.path, folder) {
			continue
		}
		name, _ := roomAt(folder, f.path)
		room, _, _ := strings.Cut(strings.TrimSuffix(name, ".go"), "_")
		ties[[2]string{room, room}] = true
		for _, from := range f.imports() {
			if to, ours := strings.CutPrefix(from, module+"/"+folder+"/"); ours {
				to, _, _ = strings.Cut(to, "/")
				ties[[2]string{room, to}] = true
			}
		}
		if path.Dir(f.path) != folder {
			continue
		}
		for name := range f.tree.Scope.Objects {
			declare(name, room)
		}
		for _, i := range f.tree.Unresolved {
			names[[2]string{room, i.Name}] = true
		}
		ast.Inspect(f.tree, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv != nil && !n.Name.IsExported() {
					declare("."+n.Name.Name, room)
				}
			case *ast.Field:
				for _, name := range n.Names {
					declare("."+name.Name, "")
				}
			case *ast.SelectorExpr:
				names[[2]string{room, "." + n.Sel.Name}] = true
			}
			return true
		})
	}
	for use := range names {
		if room := declares[use[1]]; room != "" {
			ties[[2]string{use[0], room}] = true
		}
	}
	return ties
}

// heights returns the floor of every room, from 1, and the rooms that stand on each other in a circle.
func heights(ties map[[2]string]bool) (floors map[string]int, circle []string) {
	floors = map[string]int{}
	for tie := range ties {
		floors[tie[0]], floors[tie[1]] = 1, 1
	}
	for range len(floors) + 1 {
		circle = nil
		for tie := range ties {
			if tie[0] != tie[1] && floors[tie[0]] <= floors[tie[1]] {
				floors[tie[0]] = floors[tie[1]] + 1
				circle = append(circle, tie[0])
			}
		}
	}
	return floors, circle
}
