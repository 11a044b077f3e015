//go:build unix

package commands

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/datasets/record"
	"blockyard/env/envtest"
)

// harmlessLines checks a text in which a foreign line break is one, as in a log, as if somebody showed it on a terminal.
func harmlessLines(t *testing.T, text string) {
	envtest.Harmless(t, strings.ReplaceAll(text, "\nforged", "\n forged"))
}

// TestForeignRecords: the names in a foreign record are harmless in analyses and as a book of an arena.
func TestForeignRecords(t *testing.T) {
	recs := checked(t, recordedGame)
	harmless := func(status int, line string) {
		out, errs := ends(t, status, line)
		envtest.Harmless(t, out+errs)
	}
	const arena = "arena blockbattle --a first --b first --games 2 --book "
	for _, text := range envtest.Hostile {
		file := filepath.Join(t.TempDir(), "foreign.jsonl")
		recs[0].Agents = []string{text, "exec:" + text}
		require.NoError(t, record.AppendTo(file, recs[0]))
		harmless(0, "analyze --agent hand:ply=1 "+file+"#5")
		harmless(0, "analyze --agent hand:ply=1 --json "+file+"#5")
		harmless(0, arena+file)
		spoilt := envtest.File(t, "foreign.jsonl", `{"game": "`+text+`", "agents": ["`+text+`"]}`+"\n")
		harmless(1, "analyze "+spoilt)
		harmless(2, arena+spoilt)
	}
	harmless(0, "analyze --agent hand:ply=1 "+recordedGame)
}

// TestForeignErrors: what a bot writes to standard error is harmless where agents host shows it and in its logs.
func TestForeignErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFiles(t, ".", map[string]string{"said": envtest.Everything()})
	place(t, "bot", `cat said >&2; while read -r who x; do case "$who" in action) echo drop;; esac; done`)
	out, errs := ends(t, 0, "host blockbattle --bot ./bot --bot ./bot --games 1 --log logs")
	envtest.Harmless(t, out+errs)
	place(t, "dropblox_ai", `cat said >&2; cat said`)
	out, errs = ends(t, 0, "host dropblox local --seed 1 --turns 1")
	require.Contains(t, errs, `\u001b]0;title\u0007`)
	require.Contains(t, out, `\u009b31m`, "an unknown command")
	harmlessLines(t, out+errs)
	out, errs = ends(t, 0, "host dropblox --seed 1 --turns 1 --games 2 --log logs")
	envtest.Harmless(t, out+errs)
	logs := envtest.Must(filepath.Glob("logs/*.log"))
	require.Len(t, logs, 3)
	for _, log := range logs {
		text := read(log)
		require.Contains(t, text, `\u001b]0;title\u0007`)
		harmlessLines(t, text)
	}
}

// TestForeignSubmissions: the language that a bot.toml claims, the name of a submission, and what its build and its bot
// write are harmless in the table and in every file of a tournament.
func TestForeignSubmissions(t *testing.T) {
	dir, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	language := strconv.QuoteToASCII("\x1b[31m\u009b2J\u202ex\r\b\x7f\nforged line")
	language = strings.ReplaceAll(language, `\x`, `\u00`) // as TOML wants it
	said := fmt.Sprintf("import sys\nsys.stderr.buffer.write(bytes.fromhex('%x'))\nsys.stderr.flush()\n", envtest.Everything())
	for name, toml := range map[string]string{
		"speaks \x1b[31m":             `language = ` + language + "\n" + `run = "python3 bot.py"`,
		"builds \u202ex\nforged line": `build = "python3 said.py"` + "\n" + `run = "./none"` + "\n" + `language = ` + language,
		"wrong \u009b1m":              `run = ` + language + "\n" + language + " = 1",
	} {
		writeFiles(t, filepath.Join(dir, name), map[string]string{
			"bot.toml": toml, "bot.py": said + entries["dropper.py"], "said.py": said + "sys.exit(1)\n",
		})
	}
	for _, form := range []string{"", " --json"} {
		shown, errs := ends(t, 0, "tournament blockbattle first --dir "+dir+" --games 1 --finals 0 --out "+out+form)
		envtest.Harmless(t, shown+errs)
		require.Contains(t, shown, "speaks", "it plays")
		if form == "" {
			require.Regexp(t, `(?m)^ +\d+ +speaks  \[31m +  \[31m 2J x   +forged line`, shown)
			require.Regexp(t, `(?m)^  builds .*does not compile`, shown)
			require.Regexp(t, `(?m)^  wrong .*bot\.toml`, shown)
		}
	}
	require.Contains(t, read(filepath.Join(out, "index.html")), "]0;title", "the output of the build")
	files := 0
	require.NoError(t, filepath.WalkDir(out, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && !strings.HasSuffix(path, ".gz") {
			files++
			harmlessLines(t, read(path))
			require.False(t, t.Failed(), path)
		}
		return err
	}))
	require.Greater(t, files, 3)
}

// TestForeignServer: what a server of a contest says is harmless.
func TestForeignServer(t *testing.T) {
	t.Chdir(t.TempDir())
	place(t, "dropblox_ai", "exit")
	writeFiles(t, ".", map[string]string{"config.txt": "Blue\nb\n"})
	var status int
	var reply string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(reply))
	}))
	defer s.Close()
	for _, text := range envtest.Hostile {
		quoted := envtest.Must(json.Marshal(text))
		for _, reply = range []string{
			`{"ret": "fail", "code": 7, "reason": ` + string(quoted) + `}`, `{"ret": ` + string(quoted) + `}`, text,
		} {
			for _, status = range []int{http.StatusOK, http.StatusBadRequest} {
				out, errs := ends(t, 1, "host dropblox practice --server "+s.URL)
				envtest.Harmless(t, out+errs)
			}
		}
	}
}
