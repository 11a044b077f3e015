//go:build unix

package commands

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/datasets/record"
	"blockyard/env/envtest"
)

// harmlessFiles checks all files below a folder as if somebody showed them on a terminal.
func harmlessFiles(t *testing.T, dir string) (files int) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.HasSuffix(path, ".gz") {
			return err
		}
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		files++
		envtest.Harmless(t, strings.ReplaceAll(string(text), "\nforged", "\n forged")) // the output of a build has lines
		require.False(t, t.Failed(), path)
		return nil
	}))
	return files
}

// TestForeignRecords: the names in a foreign record are harmless in analyses and as a book of an arena.
func TestForeignRecords(t *testing.T) {
	recs := checked(t, "../../datasets/games/blockbattle.jsonl")
	for name, text := range envtest.Hostile {
		file := filepath.Join(t.TempDir(), "foreign.jsonl")
		w, err := record.Create(file)
		require.NoError(t, err)
		recs[0].Agents = []string{text, "exec:" + text}
		require.NoError(t, w.Write(recs[0]))
		require.NoError(t, w.Close())
		for _, line := range []string{
			"analyze --agent hand:ply=1 " + file + "#5", "analyze --agent hand:ply=1 --json " + file + "#5",
			"arena blockbattle --a first --b first --games 2 --book " + file,
		} {
			status, out, errs := agents(t.Context(), line)
			require.Zero(t, status, "%s: %s: %s", name, line, errs)
			envtest.Harmless(t, out+errs)
		}
		require.NoError(t, os.WriteFile(file, []byte(`{"game": "`+text+`", "agents": ["`+text+`"]}`+"\n"), 0o600))
		for _, line := range []string{"analyze " + file, "arena blockbattle --a first --b first --games 2 --book " + file} {
			status, out, errs := agents(t.Context(), line)
			require.NotZero(t, status, name)
			envtest.Harmless(t, out+errs)
		}
	}
	status, out, errs := agents(t.Context(), "analyze --agent hand:ply=1 ../../datasets/games/blockbattle.jsonl")
	require.Zero(t, status, errs)
	envtest.Harmless(t, out)
}

// TestForeignErrors: what a bot writes to standard error is harmless where agents host shows it and in its logs.
func TestForeignErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("said", []byte(envtest.Everything()), 0o600))
	place(t, "bot", `cat said >&2; while read -r who x; do case "$who" in action) echo drop;; esac; done`)
	status, out, errs := agents(t.Context(), "host blockbattle --bot ./bot --bot ./bot --games 1 --log logs")
	require.Zero(t, status, errs)
	envtest.Harmless(t, out+errs)
	place(t, "dropblox_ai", `cat said >&2; cat said`)
	status, out, errs = hostDropblox(t.Context(), "local", "--seed", "1", "--turns", "1")
	require.Zero(t, status, errs)
	require.Contains(t, errs, `\u001b]0;title\u0007`)
	require.Contains(t, out, `\u009b31m`, "an unknown command")
	envtest.Harmless(t, strings.ReplaceAll(out+errs, "\nforged", "\n forged"))
	status, out, errs = hostDropblox(t.Context(), "--seed", "1", "--turns", "1", "--games", "2", "--log", "logs")
	require.Zero(t, status, errs)
	envtest.Harmless(t, out+errs)
	logs, err := filepath.Glob("logs/*.log")
	require.NoError(t, err)
	require.Len(t, logs, 3)
	for _, log := range logs {
		text, err := os.ReadFile(log)
		require.NoError(t, err)
		require.Contains(t, string(text), `\u001b]0;title\u0007`)
		envtest.Harmless(t, strings.ReplaceAll(string(text), "\nforged", "\n forged"))
	}
}

// TestForeignSubmissions: the language that a bot.toml claims, the name of a submission, and what its build and its bot
// write are harmless in the table and in every file of a tournament.
func TestForeignSubmissions(t *testing.T) {
	dir, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	language := "\x1b[31m\u009b2J\u202ex\r\b\x7f\nforged line"
	for name, toml := range map[string]string{
		"speaks \x1b[31m": `language = ` + tomlText(language) + "\n" + `run = "python3 bot.py"`,
		"builds \u202ex\nforged line": `build = "python3 said.py"` + "\n" + `run = "./none"` + "\n" +
			`language = ` + tomlText(language),
		"wrong \u009b1m": `run = ` + tomlText(language) + "\n" + tomlText(language) + " = 1",
	} {
		folder := filepath.Join(dir, name)
		require.NoError(t, os.Mkdir(folder, 0o700))
		said := fmt.Sprintf("import sys\nsys.stderr.buffer.write(bytes.fromhex(%q))\nsys.stderr.flush()\n",
			fmt.Sprintf("%x", envtest.Everything()))
		for file, text := range map[string]string{
			"bot.toml": toml, "bot.py": said + entries["dropper.py"], "said.py": said + "sys.exit(1)\n",
		} {
			require.NoError(t, os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600))
		}
	}
	for _, form := range []string{"", " --json"} {
		status, shown, errs := agents(t.Context(), "tournament blockbattle first --dir "+dir+" --games 1 --finals 0 --out "+out+form)
		require.Zero(t, status, errs)
		envtest.Harmless(t, shown+errs)
		require.Contains(t, shown, "speaks", "it plays")
		if form == "" {
			require.Regexp(t, `(?m)^ +\d+ +speaks  \[31m +  \[31m 2J x   +forged line`, shown)
			require.Regexp(t, `(?m)^  builds .*does not compile`, shown)
			require.Regexp(t, `(?m)^  wrong .*bot\.toml`, shown)
		}
	}
	index, err := os.ReadFile(filepath.Join(out, "index.html"))
	require.NoError(t, err)
	require.Contains(t, string(index), "]0;title", "the output of the build")
	require.Greater(t, harmlessFiles(t, out), 3)
}

// tomlText writes a text as TOML.
func tomlText(text string) string {
	var out bytes.Buffer
	for _, r := range text {
		fmt.Fprintf(&out, `\U%08x`, r)
	}
	return `"` + out.String() + `"`
}

// TestForeignServer: what a server of a contest says is harmless.
func TestForeignServer(t *testing.T) {
	t.Chdir(t.TempDir())
	place(t, "dropblox_ai", "exit")
	require.NoError(t, os.WriteFile("config.txt", []byte("Blue\nb\n"), 0o600))
	for _, text := range envtest.Hostile {
		quoted, err := json.Marshal(text)
		require.NoError(t, err)
		for _, reply := range []string{
			`{"ret": "fail", "code": 7, "reason": ` + string(quoted) + `}`, `{"ret": ` + string(quoted) + `}`, text,
		} {
			for _, status := range []int{http.StatusOK, http.StatusBadRequest} {
				s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					w.WriteHeader(status)
					_, _ = w.Write([]byte(reply))
				}))
				code, out, errs := hostDropblox(t.Context(), "practice", "--server", s.URL)
				s.Close()
				require.Equal(t, 1, code, strconv.Quote(reply))
				envtest.Harmless(t, out+errs)
			}
		}
	}
}
