package compile

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOneSubmissionLeavesNothingToTheNext: also where nothing is contained, what Go and make need beside a submission is
// not there when the next one comes.
func TestOneSubmissionLeavesNothingToTheNext(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	for _, name := range []string{"GOCACHE", "PATH", "GOTOOLCHAIN", "GOPROXY"} { // which the process may change
		t.Setenv(name, os.Getenv(name))
	}
	paths, err := goCache()
	require.NoError(t, err)
	made := zipped(t, "Makefile", "bot: bot.c\n\tabsent-gcc -o bot bot.c\n", "bot.c", sources["hello.c"])
	for _, path := range []string{write(t, "bot.go", sources["hello.go"]), made} {
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
			left, err := os.ReadDir(temporary)
			require.NoError(t, err)
			require.Empty(t, left)
		}
	}
}
