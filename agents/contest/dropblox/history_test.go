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
	"blockyard/env/envtest"
)

func TestFolder(t *testing.T) {
	root := filepath.Join(t.TempDir(), "deep", "history")
	start := time.Unix(1360540800, 999_000_000)
	meta := Meta{ID: "0", Seed: "-77", Program: "./dropblox_ai", Mode: "local", Started: start.UTC()}
	f := envtest.Must(CreateFolder(root, meta, nil))
	require.Equal(t, filepath.Join(root, "0_1360540800"), f.Path)
	require.NoError(t, f.State(0, []byte("{}")))
	require.NoError(t, f.Move(0, nil))
	require.NoError(t, f.State(1, []byte("{1}")))
	require.NoError(t, f.Move(1, []dropblox.Command{dropblox.Left}))
	require.NoError(t, f.Move(12, []dropblox.Command{dropblox.Left, dropblox.Rotate, dropblox.Up}))
	require.NoError(t, f.State(1, []byte("{2}")))
	got := files(f.Path)
	var said Meta
	require.NoError(t, json.Unmarshal([]byte(got["meta"]), &said))
	meta.Game = "dropblox"
	require.Equal(t, meta, said)
	delete(got, "meta")
	require.Equal(t, map[string]string{
		"state0": "{}", "move0": "[]", "state1": "{2}", "move1": `["left"]`, "move12": `["left", "rotate", "up"]`,
	}, got)

	require.NoError(t, f.End(2, 7, "blocked"))
	require.Contains(t, files(f.Path)["meta"], `"turns":2,"score":7,"reason":"blocked"`)

	require.Equal(t, filepath.Join(root, "0_1360540801"), envtest.Must(CreateFolder(root, meta, nil)).Path)
}

// files reads a folder.
func files(dir string) map[string]string {
	out := map[string]string{}
	for _, e := range envtest.Must(os.ReadDir(dir)) {
		out[e.Name()] = string(envtest.Must(os.ReadFile(filepath.Join(dir, e.Name()))))
	}
	return out
}

func TestCreateRefuses(t *testing.T) {
	root := t.TempDir()
	for _, id := range []string{"", "..", "a/b", "a b", "é", strings.Repeat("a", MaxID+1)} {
		require.ErrorContains(t, envtest.Failed(CreateFolder(root, Meta{ID: id}, nil)), "game id")
	}
	file := filepath.Join(root, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.Error(t, envtest.Failed(CreateFolder(file, Meta{ID: "0"}, nil)))
	f := envtest.Must(CreateFolder(root, Meta{ID: "0"}, nil))
	require.NoError(t, os.RemoveAll(f.Path))
	require.Error(t, f.State(0, nil))
}

// Folders that share a budget take no more space than it has, and still get their results.
func TestBudget(t *testing.T) {
	root := t.TempDir()
	space := NewBudget(10 * blockSize)
	f := envtest.Must(CreateFolder(root, Meta{ID: "0"}, space))
	require.NoError(t, f.State(0, make([]byte, 2*blockSize+1)))
	require.NoError(t, f.Move(0, nil))
	require.NoError(t, envtest.Must(CreateFolder(root, Meta{ID: "1"}, space)).State(0, []byte("{}")))
	require.NoError(t, f.State(1, nil))
	require.ErrorIs(t, f.Move(1, nil), ErrFull)
	require.NoError(t, f.State(2, nil), "said once")
	require.NoError(t, f.End(2, 5, "time"))
	got := files(f.Path)
	require.NotContains(t, got, "state2")
	require.Contains(t, got["meta"], `"score":5,"reason":"time","cut":true`)
	require.ErrorIs(t, envtest.Failed(CreateFolder(root, Meta{ID: "2"}, space)), ErrFull)
	require.Len(t, envtest.Must(os.ReadDir(root)), 2)
}
