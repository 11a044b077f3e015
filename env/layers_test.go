package env_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "blockyard"

// A layer says what the packages under a folder may import of ours, of the
// standard library and of others. "env" is that package alone, "env/..." it and all below.
type layer struct {
	who   string   // the folder; the first layer that holds a package decides
	own   []string // packages of ours it may import
	std   []string // standard packages it may import; nil means all
	other bool     // whether it may import other people's modules
	why   string
}

// rulesStd is what the rules of a game need of the standard library: no files, clocks,
// goroutines or reflection of their own.
var rulesStd = []string{
	"bufio", "bytes", "context", "crypto/sha1", "embed", "encoding/binary", "encoding/json", "errors", "fmt",
	"hash/fnv", "io", "math", "math/bits", "slices", "sort", "strconv", "strings", "sync/atomic",
}

var layers = []layer{
	{who: "env/envtest", own: []string{"env", "env/envtest/...", "env/paint"}, why: "it serves every game alike and knows none"},
	{who: "env/vec", own: []string{"env"}, why: "it steps every game alike and knows none"},
	{who: "env/games", own: []string{"env/..."}, std: append([]string{"os", "sync"}, rulesStd...),
		why: "it is the list of games and nothing more, but for those whose name refers to a file"},
	{who: "env/ansi", std: append([]string{"sync", "unicode/utf16", "unicode/utf8"}, rulesStd...),
		why: "it knows terminals and no game"},
	{who: "env/paint", own: []string{"env"}, std: append([]string{"html", "maps"}, rulesStd...),
		why: "it draws every game alike and knows none"},
	{who: "env", own: []string{"env", "env/falling"}, std: rulesStd,
		why: "the rules compile into a contest bot with nothing around them, and know no other game"},
	{who: "datasets/program", own: []string{"datasets/program/...", "env/ansi"}, other: true,
		why: "it is what every program needs, and knows none"},
	{who: "datasets", own: []string{"env/...", "datasets/..."}, other: true,
		why: "a record must be readable without any player, trainer or server"},
	{who: "agents/commands", own: []string{"env", "env/ansi", "env/games", "datasets/...", "agents/bots", "agents/bots/entry",
		"agents/contest", "agents/contest/cage", "agents/contest/compile", "agents/fleet/...", "agents/match/...", "agents/mlp",
		"agents/play/...", "agents/submit"}, other: true, why: "it knows no game and no contest"},
	{who: "agents", own: []string{"env/...", "datasets/...", "agents/..."}, other: true,
		why: "who plays must not depend on how it was trained or on the wire"},
	{who: "rpc/blockyard", own: []string{"datasets/...", "agents/...", "train/...", "rpc/..."},
		why: "it is every command in one executable, and nothing imports it"},
	{who: "rpc", own: []string{"env/...", "datasets/...", "agents/...", "rpc/..."}, other: true,
		why: "the server offers games and agents and needs no trainer"},
	{who: "train", own: []string{"env/...", "datasets/...", "agents/...", "train/..."}, other: true,
		why: "training happens in process and needs no wire"},
}

// only says which packages may import a module of somebody else's.
var only = []struct{ prefix, who, why string }{ // who: packages with a space between them
	{"gorgonia.org", "train/network", "everything else plays with plain Go, so that no player drags a trainer along"},
	{"github.com/prometheus", "datasets/program/ops", "programs only count; how the counts are shown is one package's matter"},
	{"github.com/nats-io", "agents/fleet/broker agents/fleet", "how jobs and results travel is their matter alone"},
	{"github.com/vmihailenco", "rpc/wire", "the decoder is safe only behind the bounded frame scanner"},
}

// bots are the packages that end up in one source file for a contest: what they reach,
// built as the bundler builds them, without assembly.
var bots = struct {
	who, tags string
	never     []string // ours
	why       string
}{
	who: "agents/submit/programs", tags: "noasm,purego",
	never: []string{
		"agents/bots", "agents/match/...", "agents/fleet/...", "agents/play/...", "datasets/...", "train/...", "rpc/...",
		"env/vec", "env/envtest/...", "env/games",
	},
	why: "a bot is bundled into one file of the standard library and the code of its own game",
}

type pkg struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

// TestLayers says who may import whom, and why.
func TestLayers(t *testing.T) {
	all := list(t, "")
	require.NotEmpty(t, all)
	for _, b := range breaches(all) {
		t.Error(b)
	}
	for _, b := range botBreaches(list(t, bots.tags)) {
		t.Error(b)
	}
}

// list returns every package of the module under some build tags. It reads every file, so that the test cache does not
// answer for a tree that has changed since.
func list(t *testing.T, tags string) (all []pkg) {
	texts(t)
	cmd := exec.Command("go", "list", "-e", "-tags="+tags, "-json=ImportPath,Imports,Deps", module+"/...")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, stderr.String())
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else {
			require.NoError(t, err)
		}
		all = append(all, p)
	}
}

// breaches returns a sentence for every import that ought not to be.
func breaches(all []pkg) []string {
	var out []string
	for _, p := range all {
		folder := strings.TrimPrefix(p.ImportPath, module+"/")
		at := layerOf(folder)
		if at == nil {
			out = append(out, fmt.Sprintf(
				"%s has no layer: folders are env, datasets, agents, train, rpc and what is below", folder))
			continue
		}
		for _, dep := range p.Imports {
			if why := at.refuses(dep, folder); why != "" {
				out = append(out, fmt.Sprintf("%s imports %s: %s", folder, dep, why))
			}
		}
	}
	return out
}

func layerOf(folder string) *layer {
	for k := range layers {
		if within(folder, layers[k].who) {
			return &layers[k]
		}
	}
	return nil
}

// refuses says why a package in folder may not import dep, "" if it may.
func (l *layer) refuses(dep, folder string) string {
	own, ours := strings.CutPrefix(dep, module+"/")
	switch {
	case ours && !slices.ContainsFunc(l.own, func(p string) bool { return matches(own, p) }):
		return fmt.Sprintf("of our own %s may import %s only, because %s", l.who, strings.Join(l.own, ", "), l.why)
	case ours:
		return ""
	case foreign(dep):
		return l.refusesForeign(dep, folder)
	case l.std != nil && !slices.Contains(l.std, dep):
		return fmt.Sprintf("of the standard library %s may import %s only, because %s",
			l.who, strings.Join(l.std, ", "), l.why)
	}
	return ""
}

func (l *layer) refusesForeign(dep, folder string) string {
	for _, o := range only {
		if within(dep, o.prefix) &&
			!slices.ContainsFunc(strings.Fields(o.who), func(who string) bool { return within(folder, who) }) {
			return fmt.Sprintf("only %s may, because %s", o.who, o.why)
		}
	}
	if !l.other {
		return fmt.Sprintf("%s may import no module of other people, because %s", l.who, l.why)
	}
	return ""
}

// foreign reports whether dep is in somebody else's module: its first element has a dot.
func foreign(dep string) bool {
	first, _, _ := strings.Cut(dep, "/")
	return strings.Contains(first, ".")
}

func matches(folder, pattern string) bool {
	if root, ok := strings.CutSuffix(pattern, "/..."); ok {
		return within(folder, root)
	}
	return folder == pattern
}

// botBreaches returns a sentence for everything that a bot reaches and ought not to.
func botBreaches(all []pkg) []string {
	var out []string
	for _, p := range all {
		folder := strings.TrimPrefix(p.ImportPath, module+"/")
		if !within(folder, bots.who) {
			continue
		}
		for _, dep := range p.Deps {
			own := strings.TrimPrefix(dep, module+"/")
			bad := func(never string) bool { return own != dep && matches(own, never) }
			if foreign(dep) || slices.ContainsFunc(bots.never, bad) {
				out = append(out, fmt.Sprintf("%s reaches %s, but %s", folder, own, bots.why))
			}
		}
	}
	return out
}

// within reports whether folder is root or below it.
func within(folder, root string) bool {
	return folder == root || strings.HasPrefix(folder, root+"/")
}

// TestBreaches shows that the rules above can be broken, and what is then said.
func TestBreaches(t *testing.T) {
	for _, c := range []struct {
		folder, dep, says string
	}{
		{"env", "fmt", ""},
		{"env", "blockyard/env/blockbattle", "may import env, env/falling only"},
		{"env/blockbattle", "blockyard/env/falling", ""},
		{"env/blockbattle", "blockyard/env/blocking", "know no other game"},
		{"env/blockbattle", "time", "of the standard library env may import"},
		{"env/blockbattle", "github.com/stretchr/testify", "no module of other people"},
		{"env/games", "blockyard/env/blockbattle", ""},
		{"env/games", "blockyard/agents/bots", "list of games and nothing more"},
		{"env/vec", "sync", ""},
		{"env/vec", "blockyard/env/games", "knows none"},
		{"env/envtest/toy", "blockyard/env", ""},
		{"env/envtest", "blockyard/env/envtest/toy", ""},
		{"datasets/record", "blockyard/env/games", ""},
		{"datasets", "blockyard/agents/bots", "readable without any player"},
		{"agents/match", "blockyard/datasets/record", ""},
		{"datasets/program/ops", "blockyard/agents/match", "knows none"},
		{"datasets/program/ops", "github.com/prometheus/client_golang/prometheus", ""},
		{"rpc/server", "github.com/prometheus/client_golang/prometheus", "only count"},
		{"agents/bots", "blockyard/train/network", "how it was trained"},
		{"agents/commands", "blockyard/agents/match/series", ""},
		{"agents/commands", "blockyard/agents/contest/dropblox", "no game and no contest"},
		{"agents/commands", "blockyard/agents/bots/wintetrisbot", "no game and no contest"},
		{"agents/commands", "blockyard/env/wintetris", "no game and no contest"},
		{"agents/mlp", "gorgonia.org/tensor", "only train/network may"},
		{"train/network", "gorgonia.org/gorgonia", ""},
		{"train", "github.com/nats-io/nats.go", "how jobs and results travel"},
		{"train/cluster", "github.com/nats-io/nats.go/jetstream", "how jobs and results travel"},
		{"agents/fleet/broker", "github.com/nats-io/nats.go", ""},
		{"agents/match", "github.com/nats-io/nats.go", "how jobs and results travel"},
		{"train", "blockyard/rpc/wire", "needs no wire"},
		{"rpc", "blockyard/train", "needs no trainer"},
		{"rpc/server", "github.com/vmihailenco/msgpack/v5", "bounded frame scanner"},
		{"rpc/wire", "github.com/vmihailenco/msgpack/v5", ""},
		{"tools", "fmt", "has no layer"},
	} {
		got := breaches([]pkg{{ImportPath: module + "/" + c.folder, Imports: []string{c.dep}}})
		if c.says == "" {
			require.Empty(t, got, c.folder)
			continue
		}
		require.Len(t, got, 1, "%s imports %s", c.folder, c.dep)
		require.Contains(t, got[0], c.folder)
		require.Contains(t, got[0], c.says)
	}
}

func TestBotBreaches(t *testing.T) {
	bot := func(deps ...string) pkg {
		return pkg{ImportPath: module + "/agents/submit/programs/blockbattle", Deps: deps}
	}
	require.Empty(t, botBreaches([]pkg{bot("fmt", "encoding/json", "vendor/golang.org/x/net", module+"/env")}))
	require.Empty(t, botBreaches([]pkg{{ImportPath: module + "/agents/bots", Deps: []string{"github.com/x/y"}}}))
	require.Equal(t, []string{
		"agents/submit/programs/blockbattle reaches agents/bots, but " + bots.why,
		"agents/submit/programs/blockbattle reaches datasets/record, but " + bots.why,
		"agents/submit/programs/blockbattle reaches github.com/x/y, but " + bots.why,
	}, botBreaches([]pkg{bot(module+"/agents/bots", module+"/datasets/record", "github.com/x/y")}))
}
