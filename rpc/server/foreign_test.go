package server_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/env/blockbattle"
	"blockyard/rpc/server"
	"blockyard/rpc/wire"
)

// TestForgedHead: a checkpoint that names a program or a file, for the games in progress, for later episodes or as the
// policy, starts and reads nothing, although clients of this server are trusted to name both. What the client itself has
// named in the environment, a checkpoint may name too.
func TestForgedHead(t *testing.T) {
	p := start(t, func(c *server.Config) {
		real(1)(c)
		c.Trusted = true
	})
	proof := filepath.Join(t.TempDir(), "proof")
	program := fmt.Sprintf("exec:sh -c 'touch %s; cat'", proof)
	a := startParts(t, p, "blockbattle", 2, map[string]any{"opponents": map[int]any{1: mixed("random", 1, "first", 1)}})
	a.play(t, 0, 4, false)
	head, all := a.checkpoint(t)
	games := bytes.Join(all, nil)
	for _, text := range []string{program, "me=" + program, "hand:weights=" + proof, proof, "human"} {
		quoted := []byte(fmt.Sprintf("%q", text))
		for _, place := range []string{`"random"`, `"first"`, `"policy":""`} {
			forged := bytes.Replace(head, []byte(place), quoted, 1)
			if place == `"policy":""` {
				forged = bytes.Replace(head, []byte(place), append([]byte(`"policy":`), quoted...), 1)
			}
			require.NotEqual(t, head, forged)
			err := a[0].CallSlab("resume", nil, forged, games)
			require.Equal(t, wire.BadParams, code(t, err), "%s: %v", text, err)
			require.NoFileExists(t, proof)
		}
	}
	require.NoError(t, a[0].CallSlab("resume", nil, head, games), "nothing has changed")

	own, tuned := filepath.Join(t.TempDir(), "w.json"), bots.Of(blockbattle.Game).Baseline
	require.NoError(t, os.WriteFile(own, tuned.Format(tuned.Weights), 0o600))
	text := "hand:weights=" + own
	require.NoError(t, a[0].Call("set_opponents", nil, map[int]any{1: mixed("random", 1, text, 1)}))
	named := bytes.Replace(head, []byte(`"first"`), []byte(fmt.Sprintf("%q", text)), 1)
	require.NoError(t, a[0].CallSlab("resume", nil, named, games))
	b := startParts(t, p, "blockbattle", 2, map[string]any{"opponents": map[int]any{1: "random"}})
	require.Equal(t, wire.BadParams, code(t, b[0].CallSlab("resume", nil, named, games)), "of another environment")
}
