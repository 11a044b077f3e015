package server_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/rpc/wire/client"
)

// A recorded is a checkpoint of version 1 as a server wrote it, how the environment was opened, and what its games
// told in the 40 steps after.
type recorded struct {
	Game    string         `json:"game"`
	Options map[string]any `json:"options"`
	Seats   map[int]any    `json:"opponents"`
	Policy  string         `json:"policy"`
	Head    []byte         `json:"head"`
	Games   []byte         `json:"games"`
	Drafts  []byte         `json:"drafts"`
	Told    [][]byte       `json:"told"`  // all fields after 40 steps
	Lines   []byte         `json:"lines"` // the records of the episodes that ended in them
}

// open opens games like those of the checkpoint, which are recorded.
func (r *recorded) open(t testing.TB, p *place) *client.Games {
	o := map[string]any{}
	for k, v := range r.Options {
		if f, ok := v.(float64); ok {
			v = int(f)
		}
		o[k] = v
	}
	if len(r.Seats) > 0 {
		o["opponents"] = r.Seats
	}
	g, err := dial(t, p.unix).Open(r.Game, o)
	require.NoError(t, err)
	require.NoError(t, g.Call("record", nil, map[string]any{"every": 1}))
	return g
}

// tell plays on and notes what the games tell.
func (r *recorded) tell(t *testing.T, g *client.Games) (told [][]byte, lines []byte) {
	all := parts{g}.play(t, 30, 40, false)
	lines, _ = stopRecording(t, g)
	return all[len(all)-9:], lines
}

// readVersion1 reads a checkpoint of version 1.
func readVersion1(t testing.TB, name string) (r recorded) {
	b, err := os.ReadFile(filepath.Join("testdata", "checkpoint1", name+".json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &r))
	return r
}

// Checkpoints that were written in version 1 go on as they would have then.
func TestResumeReadsVersion1(t *testing.T) {
	p := start(t, real(2))
	for _, name := range []string{"mixture", "same", "four", "single"} {
		t.Run(name, func(t *testing.T) {
			r := readVersion1(t, name)
			g := r.open(t, p)
			require.NoError(t, g.CallSlab("reset"))
			require.NoError(t, g.CallSlab("resume", nil, r.Head, r.Games, map[string]any{"drafts": r.Drafts}))
			told, lines := r.tell(t, g)
			require.Equal(t, r.Told, told)
			require.True(t, bytes.Equal(r.Lines, lines), "records of episodes")
		})
	}
}
