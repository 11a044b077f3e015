package env_test

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "blockyard"

// A layer says what the packages under a folder may import of ours, of the
// standard library and of others. "env" is that package alone, "env/..." it and all below.
type layer struct {
	who   string // the folder; the first layer that holds a package decides
	own   string // packages of ours it may import, with a space between them
	std   string // standard packages it may import; "" means all
	other bool   // whether it may import other people's modules
	why   string
}

// rulesStd is what the rules of a game need of the standard library: no files, clocks,
// goroutines or reflection of their own.
const rulesStd = "bufio bytes context crypto/sha1 embed encoding/binary encoding/json errors " +
	"fmt hash/fnv io math math/bits slices sort strconv strings sync/atomic"

var layers = []layer{
	{who: "env/envtest", own: "env env/envtest/... env/paint", why: "it serves every game alike and knows none"},
	{who: "env/vec", own: "env", why: "it steps every game alike and knows none"},
	{who: "env/games", own: "env/...", std: "os sync " + rulesStd,
		why: "it is the list of games and nothing more, but for those whose name refers to a file"},
	{who: "env/ansi", std: "sync unicode/utf16 unicode/utf8 " + rulesStd, why: "it knows terminals and no game"},
	{who: "env/paint", own: "env", std: "html maps " + rulesStd, why: "it draws every game alike and knows none"},
	{who: "env", own: "env env/falling", std: rulesStd,
		why: "the rules compile into a contest bot with nothing around them, and know no other game"},
	{who: "datasets/program", own: "datasets/program/... env/ansi", other: true,
		why: "it is what every program needs, and knows none"},
	{who: "datasets", own: "env/... datasets/...", other: true,
		why: "a record must be readable without any player, trainer or server"},
	{who: "agents/commands", own: "env env/ansi env/games datasets/... agents/bots agents/bots/entry agents/contest " +
		"agents/contest/cage agents/contest/compile agents/contest/policy agents/fleet/... agents/match/... agents/mlp " +
		"agents/play/... agents/submit",
		other: true, why: "it knows no game and no contest"},
	{who: "agents", own: "env/... datasets/... agents/...", other: true,
		why: "who plays must not depend on how it was trained or on the wire"},
	{who: "rpc/blockyard", own: "datasets/... agents/... train/... rpc/...",
		why: "it is every command in one executable, and nothing imports it"},
	{who: "rpc", own: "env/... datasets/... agents/... rpc/...", other: true,
		why: "the server offers games and agents and needs no trainer"},
	{who: "train", own: "env/... datasets/... agents/... train/...", other: true,
		why: "training happens in process and needs no wire"},
}

// only says which packages may import a module of somebody else's.
var only = []struct{ prefix, who, why string }{ // who: packages with a space between them
	{"gorgonia.org", "train/network", "everything else plays with plain Go, so that no player drags a trainer along"},
	{"github.com/prometheus", "datasets/program/ops", "programs only count; how the counts are shown is one package's matter"},
	{"github.com/nats-io", "agents/fleet/broker agents/fleet", "how jobs and results travel is their matter alone"},
	{"github.com/vmihailenco", "rpc/wire", "the decoder is safe only behind the bounded frame scanner"},
}

// imports returns the packages that a file of Go that is no test imports.
func (f *source) imports() (all []string) {
	if f.tree != nil {
		for _, i := range f.tree.Imports {
			all = append(all, strings.Trim(i.Path.Value, `"`))
		}
	}
	return all
}

// TestLayers says who may import whom, and why: layers, rooms of a folder, and no helper of tests in a program.
func TestLayers(t *testing.T) {
	var trials []trial
	for _, c := range []struct{ folder, dep, says string }{
		{"env", "fmt", ""},
		{"env", "blockyard/env/blockbattle", "env/x.go imports blockyard/env/blockbattle: of our own env may import env env/falling only"},
		{"env/blockbattle", "blockyard/env/blocking", "know no other game"},
		{"env/blockbattle", "time", "of the standard library env may import"},
		{"env/blockbattle", "github.com/stretchr/testify", "no module of other people"},
		{"env/envtest", "blockyard/env/envtest/toy", ""},
		{"rpc/server", "github.com/prometheus/client_golang/prometheus", "only datasets/program/ops may, because programs only count"},
		{"agents/fleet/broker", "github.com/nats-io/nats.go", ""},
		{"rpc", "blockyard/train", "needs no trainer"},
		{"tools", "fmt", "it has no layer"},
		{"agents/commands", "blockyard/agents/match/tournament", ""},
		{"agents/contest/dropblox", "blockyard/agents/match", "the room agents/contest may import \"\" only, because it is a program"},
		{"rpc/server", "blockyard/env/envtest", "it is for tests"},
	} {
		trials = append(trials, trial{c.folder + "/x.go", fmt.Sprintf("import %q\n", c.dep), c.says})
	}
	holds(t, func(all []source) (out []string) {
		for _, f := range all {
			for _, dep := range f.imports() {
				if why := refusal(f.path, dep); why != "" {
					out = append(out, fmt.Sprintf("%s imports %s: %s", f.path, dep, why))
				}
			}
		}
		return out
	}, trials...)
	for _, p := range strings.Fields(in(t, 0, "..", "go", "list", "./...")) {
		require.Empty(t, refusal(strings.TrimPrefix(p, module+"/")+"/x.go", "fmt"), p)
	}
}

// refusal says why a file may not import dep, "" if it may.
func refusal(file, dep string) string {
	at := slices.IndexFunc(layers, func(l layer) bool { return within(file, l.who) })
	if at < 0 {
		return "it has no layer: folders are env, datasets, agents, train, rpc and what is below"
	}
	l := layers[at]
	own, ours := strings.CutPrefix(dep, module+"/")
	switch {
	case ours && !fits(own, l.own):
		return fmt.Sprintf("of our own %s may import %s only, because %s", l.who, l.own, l.why)
	case ours && fits(own, helpers) && !fits(path.Dir(file), helpers):
		return "it is for tests"
	case ours:
		return closedDoor(strings.Split(file, "/"), strings.Split(own, "/"))
	case !foreign(dep) && l.std != "" && !fits(dep, l.std):
		return fmt.Sprintf("of the standard library %s may import %s only, because %s", l.who, l.std, l.why)
	case foreign(dep) && !l.other:
		return fmt.Sprintf("%s may import no module of other people, because %s", l.who, l.why)
	}
	for _, o := range only {
		allowed := func(who string) bool { return within(file, who) }
		if within(dep, o.prefix) && !slices.ContainsFunc(strings.Fields(o.who), allowed) {
			return fmt.Sprintf("only %s may, because %s", o.who, o.why)
		}
	}
	return ""
}

// closedDoor says why a file may not import a package of another room of the same folder, "" if it may.
func closedDoor(file, own []string) string {
	for _, r := range rooms[file[0]] {
		if r.name == file[1] && own[0] == file[0] && len(own) > 1 && own[1] != r.name && !fits(own[1], r.doors) {
			return fmt.Sprintf("of its own folder the room %s/%s may import %q only, because it is %s",
				file[0], r.name, r.doors, r.why)
		}
	}
	return ""
}

// foreign reports whether dep is in somebody else's module: its first element has a dot.
func foreign(dep string) bool {
	first, _, _ := strings.Cut(dep, "/")
	return strings.Contains(first, ".")
}

// fits reports whether a folder is one of patterns, with a space between them: "env" is env alone, "env/..." it and all
// that is below.
func fits(folder, patterns string) bool {
	return slices.ContainsFunc(strings.Fields(patterns), func(p string) bool {
		root, below := strings.CutSuffix(p, "/...")
		return folder == root || below && within(folder, root)
	})
}

// within reports whether folder is root or below it.
func within(folder, root string) bool { return folder == root || strings.HasPrefix(folder, root+"/") }

// unbundled are what no bot reaches, since it is bundled into one file of the standard library and the code of its game.
const unbundled = "agents/bots agents/match/... agents/fleet/... agents/play/... datasets/... train/... rpc/... " +
	"env/vec env/envtest/... env/games"

// TestBots lists what bots reach as the bundler builds them, without assembly.
func TestBots(t *testing.T) {
	_, err := files() // read, so that the test cache does not answer for a tree that has changed since
	require.NoError(t, err)
	reached := in(t, 0, "..", "go", "list", "-deps", "-tags=noasm,purego", "./agents/submit/programs/...")
	require.Contains(t, reached, module+"/agents/contest\n")
	for _, dep := range strings.Fields(reached) {
		own, ours := strings.CutPrefix(dep, module+"/")
		require.False(t, foreign(dep) || ours && fits(own, unbundled),
			"a program of agents/submit/programs reaches %s, but it is bundled into one file: `go list -deps` says by which way", dep)
	}
}
