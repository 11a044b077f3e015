package commands

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"blockyard/agents/mlp"
	"blockyard/train/games"
	"blockyard/train/selfplay"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/cpu"
)

// Saved runs of an earlier version are resumed half-way and end as that version ended them, but for the duel's: two of
// its features are rounded to 1/1024 since.
// The sum is of the last gate's net. It depends on the kind of machine, which must have fused
// multiply-add.
func TestOldStatesEndAsTheyWouldHave(t *testing.T) {
	for name, c := range map[string]struct{ game, sum string }{
		"backup":  {"blockbattle", "45ceb3c5e0a61469243529e68a065308259c0083a6ed510e06fb1b654349b1e5"},
		"lambda":  {"blockbattle", "f7630287f866c9b5fe4f9e5227f8bb82d7c9e1ca160bc313c9290cc501483d3c"},
		"actor":   {"tetrisduel", "0a5f8f6d0993b49b6eeb8ff7b216eba46fb879c1702d969a3bd58b6f2690560b"},
		"single":  {"wintetris", "e37be1f60e9aecd2e72f3c2a11c8909487c42df4af9ba7a52251a1b08adba929"},
		"planner": {"dropblox", "4fb171d6fb5716b19ba2be6effdf9b5484bda6502079fd7f77b0db5b6c46a353"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			state := filepath.Join(dir, selfplay.StateFile)
			old, err := os.ReadFile(filepath.Join("testdata", "half-"+name+".safetensors"))
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(state, old, 0o600))
			g, err := games.Open(c.game)
			require.NoError(t, err)
			run, err := (&selfplayCmd{Out: dir, Resume: true, Workers: 1}).open(g)
			require.NoError(t, err)
			require.NoError(t, run.Save(state))
			require.NoError(t, run.Close())
			again, err := os.ReadFile(state)
			require.NoError(t, err)
			before, _, err := mlp.ParseTensors(old)
			require.NoError(t, err)
			after, _, err := mlp.ParseTensors(again)
			require.NoError(t, err)
			require.ElementsMatch(t, before, after, "every tensor is read and written again")

			require.NoError(t, command(t, "selfplay", c.game, "--resume", "--out", dir))
			last, err := os.ReadFile(filepath.Join(dir, "net-002.safetensors"))
			require.NoError(t, err)
			if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
				require.Equal(t, c.sum, fmt.Sprintf("%x", sha256.Sum256(last)))
			}
		})
	}
}
