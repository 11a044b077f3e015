package env_test

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// streams is why the standard streams have one owner. children are programs that a program of ours starts and reads.
const (
	streams  = "what a command prints goes through the Console, where a terminal can only show it"
	children = "agents/contest/cage agents/contest/compile agents/contest/library agents/submit/programs/... agents/submit/starters/..."
)

// once says what one package alone does, and which exported types have one owner; who has several packages with a space
// between them. what is a name of an imported package, such as net/http.Server, or a declared type, such as "type Text".
var once = []struct{ what, who, why string }{
	{"net/http.Server", "datasets/program/web", "limits of time, size and connections are set in one place"},
	{"net/http.Serve", "datasets/program/web", "the Host and Origin of every request are checked in one place"},
	{"net/http.ServeTLS", "datasets/program/web", "the Host and Origin of every request are checked in one place"},
	{"net/http.ListenAndServe", "datasets/program/web", "the Host and Origin of every request are checked in one place"},
	{"net/http.ListenAndServeTLS", "datasets/program/web", "the Host and Origin of every request are checked in one place"},
	{"net/http/httptest.NewServer", "datasets/program/web/webtest", "it is for tests, and checks no Host"},
	{"os.Stdout", "datasets/program " + children, streams},
	{"os.Stderr", "datasets/program agents/submit agents/play/arena rpc/library " + children, streams},
	{"fmt.Print", children, streams},
	{"fmt.Printf", children, streams},
	{"fmt.Println", children, streams},
	{"blockyard/env/ansi.Styled", "datasets/program datasets/commands agents/commands agents/play/human agents/contest/dropblox",
		"only colours and screens of our own go around an ansi.Writer"},
	{"golang.org/x/term.IsTerminal", "datasets/program", "a progress bar and a prompt decide alike"},
	{"os/signal.NotifyContext", "datasets/program", "the first signal asks to stop and the second one ends, in every program"},
	{"os/signal.Notify", "datasets/program", "the first signal asks to stop and the second one ends, in every program"},
	{"github.com/alecthomas/kong.New", "datasets/program", "usage errors and exit statuses are those of every program"},
	{"type Outcome", "agents/contest", "a game that was played before a referee has one shape"},
	{"type Option", "agents/contest agents/bots/entry", "a setting of a contest and one of an agent are data of two kinds"},
	{"type Ledger", "rpc/session/limits", "what clients take is counted in one place"},
	{"type Timeline", "datasets/record/playback", "the positions of a recorded game have one name"},
	{"type Text", "agents/bots", "who wrote the text of an agent is part of its type"},
	{"type Program", "datasets/program agents/contest agents/contest/dropblox", "a command line, and a bot as it is started"},
	{"github.com/alecthomas/kong.Parse", "datasets/program", "usage errors and exit statuses are those of every program"},
}

// TestOnce holds one home for one idea.
func TestOnce(t *testing.T) {
	for _, f := range productGo(t) {
		for _, s := range twice(f.path, f.text) {
			t.Error(s)
		}
	}
}

// twice returns a sentence for everything in a file that another package alone does.
func twice(file, text string) (out []string) {
	for _, m := range mentions(file, text) {
		for _, o := range once {
			here := func(who string) bool { return matches(path.Dir(file), who) }
			own := strings.HasPrefix(m.what, module+"/"+path.Dir(file)+".")
			if m.what == o.what && !own && !slices.ContainsFunc(strings.Fields(o.who), here) {
				out = append(out, fmt.Sprintf("%s: %s is for %s alone, because %s", m.at, m.what, o.who, o.why))
			}
		}
	}
	return out
}

// palettes are the files with colours of their own, by what they draw. Boards have those of env/paint.
var palettes = map[string]string{
	"env/paint/palette.go":                   "boards: the one palette, and the sheets below them",
	"datasets/viewer/page/style.css":         "boards, which a test compares with the palette; accents of pages",
	"agents/match/tournament/page/style.css": "tables of results",
	"datasets/program/chart/chart.go":        "lines of charts",
	"rpc/python/docs/assets/site.css":        "pages of the documentation",
	"rpc/python/pages/curves.py":             "axes of charts",
}

// colour is a colour in any language; white and black are no part of a palette.
var colour = regexp.MustCompile(`["':, ]#([0-9a-fA-F]{6}|[0-9a-fA-F]{3})\b`)

// TestPalettes holds one palette of boards: a file with colours is listed, with what else it draws.
func TestPalettes(t *testing.T) {
	found := map[string]bool{}
	for _, f := range texts(t) {
		if strings.HasSuffix(f.path, "_test.go") || strings.HasSuffix(f.path, ".md") {
			continue
		}
		for _, c := range colour.FindAllStringSubmatch(f.text, -1) {
			if strings.Trim(c[1], "fF") == "" || strings.Trim(c[1], "0") == "" {
				continue
			}
			found[f.path] = true
			require.NotEmpty(t, palettes[f.path], "%s has the colour #%s: take one of env/paint, or say in env/once_test.go "+
				"what the file draws besides boards", f.path, c[1])
		}
	}
	require.Len(t, found, len(palettes), "a file of env/once_test.go has no colours: remove its row")
}

// TestTwice shows what is found, and what is then said.
func TestTwice(t *testing.T) {
	const server = "package a\nimport \"net/http\"\nvar s = &http.Server{}\n"
	require.Empty(t, twice("datasets/program/web/server.go", server))
	require.Equal(t, []string{"rpc/watch.go:3:10: net/http.Server is for datasets/program/web alone, " +
		"because limits of time, size and connections are set in one place"}, twice("rpc/watch.go", server))
	require.Len(t, twice("rpc/watch.go", strings.ReplaceAll(server, "import \"", "import h \"")), 0)
	require.Len(t, twice("rpc/watch.go", "package a\nimport h \"net/http\"\nvar s h.Server\n"), 1)
	require.Len(t, twice("rpc/watch.go", "package a\nimport \"net/http\"\nvar err = http.ListenAndServe(\":80\", nil)\n"), 1)
	require.Len(t, twice("train/x.go", "package a\nimport \"os\"\nvar out = os.Stdout\n"), 1)
	require.Len(t, twice("agents/x.go", "package a\ntype Ledger struct{}\n"), 1)
	require.Empty(t, twice("agents/x.go", "package a\ntype ledger struct{}\nvar Ledger = 1\n"))
}
