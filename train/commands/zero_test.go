package commands

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/cpu"

	"blockyard/datasets/program"
	"blockyard/env/envtest"
	"blockyard/train/games"
	"blockyard/train/selfplay"
)

// A run from zero is one command in every game, and its last net is the same for any number of workers and if the run
// was stopped and resumed. The sum depends on the kind of machine, which must have fused multiply-add.
func TestFromZero(t *testing.T) {
	seats := []string{"--gate-pairs=2", "--gate-ply=1"}
	solo := []string{"--gate-games=1", "--gate-steps=20"}
	for _, c := range []struct {
		game, sum string
		flags     []string
	}{
		{"blockbattle", "e4a5ac68ed91dd7aa311b6a1b8c4aeb0d98eb7345dba7f901f5757fb98ef6fb7", seats},
		{"tetrisduel", "9f91855121ed6c8f5f13f56be130d32e4240de3ad6bb8afe690733effc45e52e", seats},
		{"blocking", "d569def6c4cb0eeac64b453413216b58121ad2b5a906037e9a1b41935617f9aa", seats},
		{"wintetris", "fe8479cb001ea73a47dbb490686b5e31c99e9aaab2e8ec900b99c41e7d1ae0ea", solo},
		{"wintetris:paper10", "31a284b43acd5272ba3e210b31c69483cd95db481778fe9fcda7633f0567ced8", solo},
		{"dropblox", "6f1114003e3ec101b98f6af25ff4d24e7824470cbd59d98766239204e9ffc071", append(solo, "--keep=2", "--longest=40")},
	} {
		t.Run(c.game, func(t *testing.T) {
			one, two := t.TempDir(), t.TempDir()
			args := append(strings.Fields("selfplay "+c.game+" --games=4 --rounds=24 --iterations=6 --batch=32 --hidden=6 --gates=2"),
				c.flags...)
			require.NoError(t, command(t, append(args, "--out", one)...))
			args = append(args, "--out", two)
			require.NoError(t, commandUntil(envtest.Stopped(t), args...))
			require.FileExists(t, filepath.Join(two, selfplay.StateFile))
			require.ErrorContains(t, command(t, args...), "holds a run already")
			require.NoError(t, command(t, "selfplay", c.game, "--out", two, "--resume", "--workers=2"))
			last := read(filepath.Join(one, "net-002.safetensors"))
			require.True(t, last == read(filepath.Join(two, "net-002.safetensors")))
			require.FileExists(t, filepath.Join(two, selfplay.CurveFile))
			require.FileExists(t, filepath.Join(two, "net-001.safetensors"))
			events := envtest.Must(filepath.Glob(filepath.Join(two, "events.out.tfevents.*")))
			require.Len(t, events, 2, "one for each time it was started")
			best := envtest.Must(envtest.Must(games.Open(c.game)).Load(filepath.Join(two, selfplay.BestFile)))
			require.Equal(t, 6, best.Layers()[0].Out)
			made := envtest.Must(program.ReadRun(filepath.Join(two, program.RunFile)))
			require.Equal(t, "1", made.Seed)
			require.NotNil(t, made.Seconds)
			require.Len(t, made.Earlier, 1, "the part before Ctrl-C")
			if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
				require.Equal(t, c.sum, fmt.Sprintf("%x", sha256.Sum256([]byte(last))))
			}
		})
	}
}

// halves are saved runs of every kind, by the file's name, with the game and the SHA-256 of the last gate's net.
var halves = map[string]struct{ game, sum string }{
	"siblings": {"blockbattle", "47f5d829dec369662605b73f6cb48aa29a367adeea3bf5f5f2aebc44d69522c1"},
	"backup":   {"tetrisduel", "4ddee475f29d467815956759e544ece4703a376b00b75513853cea93ec064ec3"},
	"lambda":   {"blocking", "e10beb8aba5b2b70716f9d8564890c0297374c6dfda89a5ae84d0d5281b1026b"},
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
			require.NoError(t, resumed(t, envtest.Must(games.Open(c.game)), dir).Save(state))
			before, _ := readState(halfFile(name))
			after, _ := readState(state)
			require.ElementsMatch(t, before, after, "every tensor is read and written again")

			require.NoError(t, command(t, "selfplay", c.game, "--resume", "--out", dir))
			last := read(filepath.Join(dir, "net-002.safetensors"))
			if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
				require.Equal(t, c.sum, fmt.Sprintf("%x", sha256.Sum256([]byte(last))))
			}
		})
	}
}
