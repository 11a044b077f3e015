package env_test

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A room is a name that stands directly in one of the folders of rooms: a file, or a folder with all that is below.
type room struct {
	name  string
	doors string // names of the rooms below it in the same table whose packages it may import
	code  int    // lines of code of the product, in all languages; see budget
	why   string
}

const (
	maxRooms  = 10 // with code, in one folder
	maxFloors = 6  // a room stands one floor above the highest that it may import
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
		{"match", "bots contest search", 5616, "many games: formats, standings, ratings; a tournament takes what users name"},
		{"bots", "contest search mlp", 8729, "who plays: what users name, and a folder per game"},
		{"contest", "", 7484, "a program of somebody else before a referee, in a cage"},
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
		{"bench", "server session wire", 0, "every measurement, in Go and Python"},
		{"library", "server session wire", 278, "the server as a shared library, for C and Python"},
		{"openenv", "session wire", 1999, "the environments over HTTP, WebSocket and MCP, branches of their games, and which tools there are"},
		{"server", "session wire", 2803, "sockets: connections, frames, deadlines, and a method per request"},
		{"session", "wire", 3453, "what one client plays, whatever the door: batches, records, checkpoints, shared memory, limits, counts"},
		{"wire", "", 844, "messages as bytes, and the same calls from Go"},
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

// TestFloors says how many rooms a folder has, how high they are stacked, and that none may import one that stands on
// it.
func TestFloors(t *testing.T) {
	for folder, table := range rooms {
		floors, code := map[string]int{"": 0}, 0
		for _, r := range slices.Backward(table) {
			for _, door := range strings.Split(r.doors, " ") {
				require.Contains(t, floors, door, "%s/%s: its doors lead to rooms below it in the table", folder, r.name)
				floors[r.name] = max(floors[r.name], floors[door]+1)
			}
			require.LessOrEqual(t, floors[r.name], maxFloors, "%s: %v", folder, floors)
			code += min(r.code, 1)
		}
		require.LessOrEqual(t, code, maxRooms, "%s has more rooms than a reader can hold", folder)
	}
}

// rows are the budgets of folders, those of rooms among them.
func rows() []budget {
	all := slices.Clone(budgets)
	for folder, table := range rooms {
		for _, r := range table {
			all = append(all, budget{folder + "/" + r.name + "/...", r.code, r.why})
		}
	}
	return all
}

// misplaced returns a sentence for every file of the product, or of a folder with rooms, that has no row, and for every
// row without a file or with more code than it allows, and if there are too few comments.
func misplaced(all []source) (out []string) {
	rows, used, lines := rows(), map[string]int{}, map[string]lineCount{}
	for _, f := range all {
		at := slices.IndexFunc(rows, func(b budget) bool { return fits(f.path, b.what) || fits(path.Dir(f.path), b.what) })
		folder, below, _ := strings.Cut(f.path, "/")
		page := rooms[folder] == nil || path.Ext(below) == ".md" && !strings.Contains(below, "/")
		switch {
		case at >= 0 && f.part == product:
			used[rows[at].what] += f.code
		case at >= 0:
			used[rows[at].what] += 0
		case f.part == product, !page && below[0] != '.' && !fits(f.path, beside):
			out = append(out, f.path+": which row of budgets, or which room, is it part of? See env/rooms_test.go")
		}
		used[f.part] += f.code
		if f.part == product {
			lines[path.Ext(f.path)] = lines[path.Ext(f.path)].plus(f.lineCount)
		}
	}
	for _, b := range slices.Concat(parts, rows) {
		if n, exists := used[b.what]; !exists {
			out = append(out, b.what+" does not exist: remove its row")
		} else if n > b.code {
			out = append(out, fmt.Sprintf("%s: %d lines of code, want at most %d (%s): make something simpler, or take "+
				"something out", b.what, n, b.code, b.why))
		}
	}
	for ending, least := range commentsPer100 {
		if n := lines[ending]; 100*float64(n.comment) < least*float64(n.code) {
			out = append(out, fmt.Sprintf("%d comments for %d lines of code in files %s: say what the code does not show",
				n.comment, n.code, ending))
		}
	}
	return out
}

// TestBudgets holds every part, folder and room to its budget, and says which names may stand in a folder.
func TestBudgets(t *testing.T) {
	holds(t, misplaced, trial{"train/utils/a.txt", "", "train/utils/a.txt: which row"}, trial{"train/.gitignore", "", ""},
		trial{"env/new/a.go", "", "env/new/a.go: which row"},
		trial{"train/README.md", "", "train/main.go/... does not exist"},
		trial{"train/main.go", strings.Repeat("var _ = 1\n", 10), "train/main.go/...: 11 lines of code, want at most 10"})
}
