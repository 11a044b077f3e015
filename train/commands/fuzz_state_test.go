package commands

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/mlp"
	"blockyard/env/envtest"
	"blockyard/train/games"
	"blockyard/train/selfplay"
)

// A halfway is a saved run: its tensors, and its JSON with the places of all values in it.
type halfway struct {
	game    *games.Game
	tensors []mlp.Tensor
	text    string
	values  [][]int
}

// FuzzState resumes saved runs of every kind with one value of their JSON replaced by any text, and bytes of the file
// changed: refused, or a run that goes on. The checksum is that of the changed file, so that changes are looked at.
func FuzzState(f *testing.F) {
	value := regexp.MustCompile(`"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*|null|true|false|\[\]`)
	var all []*halfway
	for _, name := range slices.Sorted(maps.Keys(halves)) {
		g := envtest.Must(games.Open(halves[name].game))
		tensors, text := readState(f, halfFile(name))
		h := &halfway{game: g, tensors: tensors, text: text, values: value.FindAllStringIndex(text, -1)}
		all = append(all, h)
		for k, v := range []string{"-1", "0", "1e9", "null", `""`, "[]", "9007199254740993", "0.5"} {
			f.Add(uint8(len(all)-1), uint16(37*k), v, []byte{})
		}
		f.Add(uint8(len(all)-1), uint16(3), h.text[h.values[3][0]:h.values[3][1]], []byte{200, 0, 255, 200, 3, 127})
	}
	f.Fuzz(func(t *testing.T, which uint8, place uint16, with string, patch []byte) {
		h := all[int(which)%len(all)]
		at := h.values[int(place)%len(h.values)]
		text := h.text[:at[0]] + with + h.text[at[1]:]
		if huge([]byte(text)) {
			return
		}
		path := filepath.Join(t.TempDir(), selfplay.StateFile)
		writeState(t, path, h.tensors, text, patch)
		run, err := selfplay.Resume(h.game, path, emptySettings(h.game), 1)
		if err != nil {
			return
		}
		defer func() { require.NoError(t, run.Close()) }()
		if !run.Done() {
			_ = run.Step() // may fail, for instance because a number is not finite
		}
		if err := run.Save(path); err == nil {
			again, err := selfplay.Resume(h.game, path, emptySettings(h.game), 1)
			if err == nil {
				require.NoError(t, again.Close())
			}
		}
	})
}

// readState returns the tensors and the JSON of a saved run.
func readState(t testing.TB, path string) (tensors []mlp.Tensor, run string) {
	file := envtest.Must(os.ReadFile(path))
	tensors, meta, err := mlp.ParseTensors(file)
	require.NoError(t, err)
	return tensors, meta["run"]
}

// writeState writes a saved run with the right checksum. patch replaces bytes: each by the third of three.
func writeState(t *testing.T, path string, tensors []mlp.Tensor, run string, patch []byte) {
	var b bytes.Buffer
	require.NoError(t, mlp.WriteTensors(&b, tensors, map[string]string{"run": run, "sha256": strings.Repeat("0", 64)}))
	file := b.Bytes()
	for ; len(patch) >= 3; patch = patch[3:] { // among the tensors, which follow the header
		file[len(file)-1-(int(patch[0])<<8|int(patch[1]))%(len(file)/2)] = patch[2]
	}
	require.NoError(t, selfplay.Seal(file))
	require.NoError(t, os.WriteFile(path, file, 0o600))
}

// huge reports whether a run has settings with which a step takes long, as a user may wish.
func huge(text []byte) bool {
	var s struct {
		Config struct {
			selfplay.Options
			Keep, Width, DeepWidth, Samples, Look, Longest int
		}
	}
	if json.Unmarshal(text, &s) != nil {
		return false // it is refused
	}
	c := s.Config
	cells := 0
	for _, h := range c.Hidden {
		cells += h
	}
	return c.Games > 64 || c.Rounds > 64 || c.Batch > 1024 || cells > 128 || c.Keep > 16 || c.Width > 64 || c.DeepWidth > 64 ||
		c.Samples > 16 || c.Look > 2
}
