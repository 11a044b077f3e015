package commands

import (
	"html"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/match"
	"blockyard/agents/match/tournament"
)

// habits are bots of Block Battle with one fault each, as a line of Python that answers a request, and what the host
// says about it. n is the number of the request, w writes bytes at once.
var habits = map[string][2]string{
	"no line end": {"w(b'left,drop')", "no answer, but 9 bytes without a line end: end the line and flush"},
	"no flush":    {"sys.stdout.write('left,drop\\n')", "no answer: not a byte has arrived since the request"},
	"two lines":   {"w(b'left,drop\\ndrop\\n')", "writes more lines than it is asked for: only the first line after a request is its answer"},
	"exit":        {"w(b'drop\\n') if n < 3 else sys.exit(7)", "the program has ended: exit status 7"},
	"signal":      {"w(b'drop\\n') if n < 3 else os.kill(os.getpid(), 11)", "the program has ended: signal 11 (segmentation fault)"},
	"exception":   {"w(b'drop\\n') if n < 3 else (print('a\\nkaboom \\x1b[2J', file=sys.stderr, flush=True), sys.exit(1))", "the program has ended: exit status 1; standard error ends: \"a / kaboom \\x1b[2J\""},
	"closed":      {"w(b'drop\\n') if n < 3 else (os.close(1), time.sleep(60))", "the program has closed its output but not ended"},
	"flood":       {"\n        while True: w(b'x' * 65536)", "no more is read: it has written 64 MiB in a game"},
	"semicolon":   {"w(b'left;drop\\n')", `a remark, such as "left;drop": `},
	"JSON":        {"w(b'[\"left\",\"drop\"]\\n')", `a remark, such as `},
	"colours":     {"w(b'\\x1b[32mdrop\\x1b[0m\\n')", `a remark, such as "\x1b[32mdrop`},
	"prompt":      {"w(b'> drop\\n')", `a remark, such as "> drop": `},
	"wide":        {"w('drop\\n'.encode('utf-16-le')) if n < 2 else sys.exit()", `a remark, such as "d\x00r\x00o\x00p`},
}

// oddBot is a bot with a habit.
func oddBot(name string) string {
	text := "import os, sys, time\nout, n = os.fdopen(os.dup(1), 'wb', 0), 0\nw = out.write\n" +
		"sys.stdout = open(1, 'w', buffering=1 << 16, closefd=False)\n"
	if name == "closed" {
		text = strings.Replace(text, "os.fdopen(os.dup(1), 'wb', 0)", "os.fdopen(1, 'wb', 0, closefd=False)", 1)
	}
	return text + "for line in sys.stdin:\n    if line.startswith('action'):\n        n += 1\n        " + habits[name][0] + "\n"
}

// TestHostNamesOddHabits: each habit is named in the table and in the log.
func TestHostNamesOddHabits(t *testing.T) {
	for name, h := range habits {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bot, bank, dir := written(t, "bot.py", oddBot(name)), "60s", t.TempDir()
			switch name {
			case "no line end": // by a program that starts at once, so that its bytes come in time
				bot, bank = `while read -r who x; do case "$who" in action) printf left,drop;; esac; done`, "5s"
			case "no flush":
				bank = "2s"
			}
			out, _ := hosts(t, "blockbattle --games 1 --json --log "+dir+" --time-per-move 0s --timebank "+bank, bot, dropper)
			got := decoded[match.Report](t, out)
			require.Contains(t, strings.Join(got.Players[0].Program.Odd, "\n"), h[1])
			require.Empty(t, got.Players[1].Program.Odd)
			require.Contains(t, got.String(), "A: "+got.Players[0].Program.Odd[0]+"\n")
			if !strings.HasPrefix(h[1], "a remark") {
				require.Contains(t, read(t, filepath.Join(dir, "game-001.log")), "player1 * "+h[1])
			}
		})
	}
}

// oddEntries are submissions with habits: some of each kind, all if BLOCKYARD_LONG is set.
func oddEntries() map[string]string {
	files := map[string]string{}
	for name := range habits {
		switch name {
		case "flood": // on a busy machine, 64 MiB take longer than the time bank
			continue
		case "no flush", "two lines", "exception", "closed", "JSON":
		default:
			if os.Getenv("BLOCKYARD_LONG") == "" {
				continue
			}
		}
		files[name+".py"] = oddBot(name)
	}
	return files
}

// namesHabits checks that the table and the page of a tournament name the habits of oddEntries, as a reason to refuse a
// bot or beside it.
func namesHabits(t *testing.T, r *tournament.Report, out string) {
	t.Helper()
	said, table := map[string]string{}, r.String()
	for _, e := range r.Refused {
		said[e.Name] = e.Refused
	}
	for _, s := range r.Players {
		said[s.Name] += strings.Join(s.Program.Odd, "; ")
	}
	page := html.UnescapeString(read(t, filepath.Join(out, tournament.PageFile)))
	for file := range oddEntries() {
		name := strings.TrimSuffix(file, ".py")
		want := strings.TrimPrefix(habits[name][1], "a remark, ")
		if name == "no line end" || name == "no flush" {
			want = "never answers: too many time-outs: " + want
		}
		require.Contains(t, said[name], want)
		require.Contains(t, table, said[name])
		require.Contains(t, page, said[name])
	}
	require.Contains(t, said["no flush"], "--dialect port", "it may be for another dialect")
	require.Contains(t, said["two lines"], "writes more lines", "it takes part")
}
