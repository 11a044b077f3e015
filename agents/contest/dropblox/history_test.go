package dropblox

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/env/dropblox"
)

func TestFolder(t *testing.T) {
	root := filepath.Join(t.TempDir(), "deep", "history")
	start := time.Unix(1360540800, 999_000_000)
	meta := Meta{ID: "0", Seed: "-77", Program: "./dropblox_ai", Mode: "local", Started: start.UTC()}
	f, err := CreateFolder(root, meta, nil)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(root, "0_1360540800"), f.Path)
	require.NoError(t, f.State(0, []byte("{}")))
	require.NoError(t, f.Move(0, nil))
	require.NoError(t, f.State(1, []byte("{1}")))
	require.NoError(t, f.Move(1, []dropblox.Command{dropblox.Left}))
	require.NoError(t, f.Move(12, []dropblox.Command{dropblox.Left, dropblox.Rotate, dropblox.Up}))
	require.NoError(t, f.State(1, []byte("{2}")))
	got := files(t, f.Path)
	var said Meta
	require.NoError(t, json.Unmarshal([]byte(got["meta"]), &said))
	meta.Game = "dropblox"
	require.Equal(t, meta, said)
	delete(got, "meta")
	require.Equal(t, map[string]string{
		"state0": "{}", "move0": "[]", "state1": "{2}", "move1": `["left"]`, "move12": `["left", "rotate", "up"]`,
	}, got)

	require.NoError(t, f.End(2, 7, "blocked"))
	require.Contains(t, files(t, f.Path)["meta"], `"turns":2,"score":7,"reason":"blocked"`)

	again, err := CreateFolder(root, meta, nil)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(root, "0_1360540801"), again.Path)
}

// files reads a folder.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range list {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		out[e.Name()] = string(text)
	}
	return out
}

func TestCreateRefuses(t *testing.T) {
	root := t.TempDir()
	for _, id := range []string{"", "..", "a/b", "a b", "é", strings.Repeat("a", MaxID+1)} {
		_, err := CreateFolder(root, Meta{ID: id}, nil)
		require.ErrorContains(t, err, "game id")
	}
	file := filepath.Join(root, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := CreateFolder(file, Meta{ID: "0"}, nil)
	require.Error(t, err)
	f, err := CreateFolder(root, Meta{ID: "0"}, nil)
	require.NoError(t, err)
	require.NoError(t, os.RemoveAll(f.Path))
	require.Error(t, f.State(0, nil))
}

// Folders that share a budget take no more space than it has, and still get their results.
func TestBudget(t *testing.T) {
	root := t.TempDir()
	space := NewBudget(10 * blockSize)
	f, err := CreateFolder(root, Meta{ID: "0"}, space)
	require.NoError(t, err)
	require.NoError(t, f.State(0, make([]byte, 2*blockSize+1)))
	require.NoError(t, f.Move(0, nil))
	g, err := CreateFolder(root, Meta{ID: "1"}, space)
	require.NoError(t, err)
	require.NoError(t, g.State(0, []byte("{}")))
	require.NoError(t, f.State(1, nil))
	require.ErrorIs(t, f.Move(1, nil), ErrFull)
	require.NoError(t, f.State(2, nil), "said once")
	require.NoError(t, f.End(2, 5, "time"))
	got := files(t, f.Path)
	require.NotContains(t, got, "state2")
	require.Contains(t, got["meta"], `"score":5,"reason":"time","cut":true`)
	_, err = CreateFolder(root, Meta{ID: "2"}, space)
	require.ErrorIs(t, err, ErrFull)
	list, err := os.ReadDir(root)
	require.NoError(t, err)
	require.Len(t, list, 2)
}
