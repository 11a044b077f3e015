package commands

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"blockyard/env/envtest"
	"blockyard/train/games"
	"blockyard/train/selfplay"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/cpu"
)

// halves are saved runs of every kind, by the file's name, with the game and the SHA-256 of the last gate's net.
var halves = map[string]struct{ game, sum string }{
	"siblings": {"blockbattle", "495835adf9d179eaa9a9e388c5a2c1db8ab002341c956fe7e86d6ed02fc1db32"},
	"backup":   {"tetrisduel", "f11bfea7f8cf3d36ef807649a5cd2a14493b521ad91a1ea01846a36a9d115fd8"},
	"lambda":   {"blocking", "c79b512679517c3fd7d893d731f1a055a5467f886ae9053f8b983d88c5f385e3"},
	"single":   {"wintetris", "e37be1f60e9aecd2e72f3c2a11c8909487c42df4af9ba7a52251a1b08adba929"},
	"planner":  {"dropblox", "4fb171d6fb5716b19ba2be6effdf9b5484bda6502079fd7f77b0db5b6c46a353"},
}

// halfFile is the file of a saved run.
func halfFile(name string) string { return filepath.Join("testdata", "half-"+name+".safetensors") }

// Saved runs of the version that saved them are resumed half-way and end as that version ended them. The sum depends
// on the kind of machine, which must have fused multiply-add.
func TestOldStatesEndAsTheyWouldHave(t *testing.T) {
	for name, c := range halves {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			state := filepath.Join(dir, selfplay.StateFile)
			require.NoError(t, os.WriteFile(state, []byte(read(halfFile(name))), 0o600))
			g := envtest.Must(games.Open(c.game))
			require.NoError(t, resumed(t, g, dir).Save(state))
			before, _ := readState(t, halfFile(name))
			after, _ := readState(t, state)
			require.ElementsMatch(t, before, after, "every tensor is read and written again")

			require.NoError(t, command(t, "selfplay", c.game, "--resume", "--out", dir))
			last := read(filepath.Join(dir, "net-002.safetensors"))
			if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
				require.Equal(t, c.sum, fmt.Sprintf("%x", sha256.Sum256([]byte(last))))
			}
		})
	}
}
