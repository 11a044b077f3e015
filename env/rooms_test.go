package env_test

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
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

// crowded are the packages with more files than that, and how many they may have until they are taken apart.
var crowded = map[string]int{}

// rooms are the folders with many packages, and what may stand in each. A reader who lists a folder knows every name.
var rooms = map[string][]room{
	"agents": {
		{"main.go", "commands", 10, "starts the program"},
		{"commands", "play fleet submit match bots contest search mlp", 1975, "a file per command: flags, one call, print"},
		{"play", "match bots contest search", 1505, "a person at the board, or an analysis for one"},
		{"fleet", "match bots mlp", 2080, "one piece of work on many machines, none of which is trusted blindly"},
		{"submit", "bots contest search mlp", 3710, "a bot as one file"},
		{"match", "bots contest search", 3525, "many games: formats, standings, ratings; a tournament takes what users name"},
		{"bots", "contest search mlp", 8360, "who plays: what users name, and a folder per game"},
		{"contest", "", 7485, "a program of somebody else before a referee, in a cage"},
		{"search", "", 1235, "choices by looking ahead, whatever the game"},
		{"mlp", "", 1480, "a network as plain Go"},
	},
	"train": {
		{"main.go", "commands", 10, "starts the program"},
		{"commands", "cluster selfplay network games curves", 980, "a file per command"},
		{"cluster", "selfplay games", 600, "self-play on many machines, and what to do if one of them lies"},
		{"selfplay", "network games curves", 3470, "a run: its algorithms, gates and state"},
		{"network", "games", 950, "the trainer"},
		{"games", "", 395, "what training must know of each game"},
		{"curves", "", 80, "scores over time, as files that TensorBoard reads"},
		{"scripts", "", 0, "longer runs of several commands"},
	},
	"rpc": {
		{"main.go", "commands", 10, "starts the program, and holds its version"},
		{"blockyard", "commands", 30, "the commands of all programs in one, for the Python package"},
		{"commands", "openenv server session wire", 715, "a file per command"},
		{"openenv", "session wire", 1960, "the environments over HTTP, WebSocket and MCP, branches of their games, and which tools there are"},
		{"server", "session wire", 2880, "sockets: connections, frames, deadlines, and a method per request"},
		{"session", "wire", 3380, "what one client plays, whatever the door: batches, records, checkpoints, shared memory, limits, counts"},
		{"library", "server session wire", 280, "the server as a shared library, for C and Python"},
		{"wire", "", 940, "messages as bytes, and the same calls from Go"},
		{"bench", "server session wire", 0, "every measurement, in Go and Python"},
		{"python", "", 0, "the Python package and its docs"},
		{"deploy", "", 10, "files for Kubernetes, Prometheus and Grafana"},
	},
	"datasets": {
		{"main.go", "commands", 10, "starts the program"},
		{"commands", "viewer export conform record program", 800, "a file per command"},
		{"viewer", "record program", 4200, "recorded and running games in a browser"},
		{"export", "record program", 710, "records as Parquet, Minari and text"},
		{"conform", "record", 2155, "the rules beside transcripts of the original engines"},
		{"record", "program", 1230, "a game as a line of a file"},
		{"program", "", 1775, "what every program, page, picture and C library is, apart from its work, and several in one executable"},
		{"games", "", 0, "a recorded game of each kind"},
	},
}

// beside are names that stand in these folders and are no rooms.
var beside = []string{
	"*.md", "testdata", "signatures.txt", // agents
	"Dockerfile", "Dockerfile.dockerignore", // rpc
	"__pycache__",
}

// TestRooms says which names may stand in a folder, and how large each may be.
func TestRooms(t *testing.T) {
	all := sources(t)
	for _, folder := range slices.Sorted(maps.Keys(rooms)) {
		entries, err := os.ReadDir(filepath.Join("..", folder))
		require.NoError(t, err)
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		for _, s := range strangers(folder, names) {
			t.Error(s)
		}
		code := 0
		for _, r := range rooms[folder] {
			n := codeOf(all, folder+"/"+r.name)
			if n > 0 {
				code++
			}
			for _, s := range r.tooLarge(folder, n) {
				t.Error(s)
			}
		}
		require.LessOrEqual(t, code, maxRooms, "%s has more rooms than a reader can hold", folder)
	}
}

// strangers returns a sentence for every name in a folder that is no room of it, and for every room that is not there.
func strangers(folder string, names []string) (out []string) {
	known := map[string]bool{}
	for _, r := range rooms[folder] {
		known[r.name] = true
		if !slices.Contains(names, r.name) {
			out = append(out, fmt.Sprintf("%s/%s is a room without a door: it does not exist; remove its row", folder, r.name))
		}
	}
	for _, name := range names {
		here := func(pattern string) bool { ok, _ := path.Match(pattern, name); return ok }
		if name[0] != '.' && !known[name] && !slices.ContainsFunc(beside, here) {
			out = append(out, fmt.Sprintf("%s/%s: which room of %s is it part of? Its rooms are in env/rooms_test.go",
				folder, name, folder))
		}
	}
	return out
}

func (r room) tooLarge(folder string, n int) []string {
	if n <= r.code {
		return nil
	}
	return []string{fmt.Sprintf("%s/%s has %d lines of code, want at most %d: "+
		"move something out, or change its row with a reason", folder, r.name, n, r.code)}
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

// TestDoors says which rooms of a folder may import which, that no room imports one that stands on it, and how high
// they are stacked.
func TestDoors(t *testing.T) {
	ties := map[[2]string]string{} // two rooms, such as agents/match and agents/contest, and an import that ties them
	for _, p := range list(t, "") {
		from := roomOf(strings.TrimPrefix(p.ImportPath, module+"/"))
		for _, dep := range p.Imports {
			own, ours := strings.CutPrefix(dep, module+"/")
			if to := roomOf(own); ours && to != from && path.Dir(to) == path.Dir(from) {
				ties[[2]string{from, to}] = p.ImportPath + " imports " + dep
			}
		}
	}
	require.NotEmpty(t, ties)
	for _, s := range closedDoors(ties) {
		t.Error(s)
	}
	for _, folder := range slices.Sorted(maps.Keys(rooms)) {
		own := map[[2]string]bool{}
		for tie := range ties {
			own[tie] = path.Dir(tie[0]) == folder
		}
		floors, circle := heights(own)
		require.Empty(t, circle, "these rooms import each other in a circle")
		require.LessOrEqual(t, slices.Max(slices.Collect(maps.Values(floors))), maxFloors, "%v", floors)
	}
}

// roomOf returns the room that a package belongs to: its first two names, or main.go for a folder's own package.
func roomOf(folder string) string {
	parts := strings.SplitN(folder, "/", 3)
	if len(parts) == 1 {
		return folder + "/main.go"
	}
	return parts[0] + "/" + parts[1]
}

// closedDoors returns a sentence for every import between two rooms that the table does not allow.
func closedDoors(ties map[[2]string]string) (out []string) {
	for tie, how := range ties {
		folder, name := path.Split(tie[0])
		at := slices.IndexFunc(rooms[path.Clean(folder)], func(r room) bool { return r.name == name })
		if at < 0 {
			continue
		}
		r := rooms[path.Clean(folder)][at]
		if !slices.Contains(strings.Fields(r.doors), path.Base(tie[1])) {
			out = append(out, fmt.Sprintf("%s: of its own folder %s may import %q only, because it is %s",
				how, tie[0], r.doors, r.why))
		}
	}
	slices.Sort(out)
	return out
}

// TestRoomRules shows that the rules above can be broken, and what is then said.
func TestRoomRules(t *testing.T) {
	var names []string
	for _, r := range rooms["train"] {
		names = append(names, r.name)
	}
	require.Empty(t, strangers("train", append(names, "README.md", ".gitignore")))
	require.Equal(t, []string{"train/utils: which room of train is it part of? Its rooms are in env/rooms_test.go"},
		strangers("train", append(names, "utils")))
	require.Contains(t, strangers("train", names[1:])[0], "train/main.go is a room without a door")

	require.Empty(t, room{name: "a", code: 100}.tooLarge("b", 100))
	require.Contains(t, room{name: "a", code: 100}.tooLarge("b", 101)[0], "b/a has 101 lines of code, want at most 100")

	tie := func(from, to string) map[[2]string]string {
		return map[[2]string]string{{roomOf(from), roomOf(to)}: from + " imports " + to}
	}
	require.Empty(t, closedDoors(tie("agents/commands", "agents/match/tournament")))
	require.Equal(t, []string{"agents/contest/dropblox imports agents/match: of its own folder agents/contest may " +
		`import "" only, because it is a program of somebody else before a referee, in a cage`},
		closedDoors(tie("agents/contest/dropblox", "agents/match")))

}
