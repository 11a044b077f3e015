package compile

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env/envtest"
)

// TestDialect: bot.toml says which dialect a bot speaks, with and without what to run.
func TestDialect(t *testing.T) {
	const script = "#!/bin/sh\nread x\necho hello\n"
	for _, files := range [][]string{
		{"bot.toml", "dialect = \"port\"\nrun = \"./it\"\n", "it", script},
		{"bot.toml", "dialect = \"port\"\n", "main.py", "input()\nprint('hello')\n"},
	} {
		bot := envtest.Must(submit(t, zipped(t, files...)))
		require.Equal(t, "port", bot.Program.Dialect)
		requireHello(t, bot)
	}
	_, err := submit(t, zipped(t, "bot.toml", "dialect = \"port\"\nlanguage = \"Welsh\"\n", "main.py", ""))
	require.ErrorContains(t, err, "or the language of the list")
}

// FuzzBotTOML: whatever an author says in bot.toml, there is a command to start, or the author reads what to mend; nothing
// outside of the bot's folder changes. Here nothing is built.
func FuzzBotTOML(f *testing.F) {
	for _, text := range []string{"", "run = \"./bot\"", "run = \"bot --fast 'a b'\"\nlanguage = \"C\"", "\ufeffrun = './bot'\r\n",
		"run = \"../file\"", "dialect = 'port'", "run = \"x/../../file\"", "run = \"./link\"", "run = \"./pipe/\"", "language = \"Python\"",
		"run = 1", "[run]\na = 1", "run = \"\\u0000/\"", "run = \"  \"", "run = \"'\"", "x = \"./bot\""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if says, _ := readBotFile(text); says.Build != "" {
			return
		}
		file := envtest.File(t, "file", outsider)
		dir := filepath.Join(filepath.Dir(file), "theirs")
		require.NoError(t, os.Mkdir(dir, 0o755))
		for name, text := range map[string]string{"bot": outsider, "bot.toml": text} {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
		require.NoError(t, os.Symlink("../file", filepath.Join(dir, "link")))
		root := envtest.Closing(t, envtest.Must(os.OpenRoot(dir)))
		c := &compiler{dir: dir, root: root, limits: Default, ctx: t.Context(), texts: map[string]string{}, tell: func(string) {}}
		c.seen = envtest.Must(look(dir, nil))
		done, err := c.declared()
		if err != nil {
			require.ErrorAs(t, err, new(*Refusal))
			require.False(t, done)
		}
		if done {
			require.NotEmpty(t, c.argv)
			require.NotEmpty(t, c.argv[0])
		}
		untouched(t, file)
		require.Len(t, envtest.Must(os.ReadDir(filepath.Dir(file))), 2)
	})
}

// outsider is the text of a file outside of a submission, which becomes another if it is taken for a script of a bot.
const outsider = "#!/bin/sh\r\n"

// untouched requires that the file has its text, and the rights that write gives it.
func untouched(t *testing.T, file string) {
	require.Equal(t, os.FileMode(0o644), envtest.Must(os.Stat(file)).Mode())
	require.Equal(t, outsider, string(envtest.Must(os.ReadFile(file))))
}

// TestOneSubmissionLeavesNothingToTheNext: also where nothing is contained, what Go and make need beside a submission is
// not there when the next one comes.
func TestOneSubmissionLeavesNothingToTheNext(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	for _, name := range []string{"GOCACHE", "PATH", "GOTOOLCHAIN", "GOPROXY"} { // which the process may change
		t.Setenv(name, os.Getenv(name))
	}
	paths := envtest.Must(goCache())
	made := zipped(t, "Makefile", "bot: bot.c\n\tabsent-gcc -o bot bot.c\n", "bot.c", sources["hello.c"])
	for _, path := range []string{envtest.File(t, "bot.go", sources["hello.go"]), made} {
		for range 2 {
			t.Setenv("TMPDIR", temporary)
			t.Chdir(t.TempDir())
			var orders, answers bytes.Buffer
			require.NoError(t, json.NewEncoder(&orders).Encode(order{Name: filepath.Base(path), Limits: Default, GoCache: paths[2]}))
			require.NoError(t, pack(path, &orders, false))
			require.NoError(t, inside(&orders, &answers))
			var m message
			for d := json.NewDecoder(&answers); m.Answer == nil; {
				require.NoError(t, d.Decode(&m))
			}
			require.Nil(t, m.Answer.Refusal, "%+v", m.Answer.Refusal)
			require.Empty(t, envtest.Must(os.ReadDir(temporary)))
		}
	}
}
