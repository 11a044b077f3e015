package commands

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"blockyard/datasets/program"
	"blockyard/env/envtest"
	"blockyard/train/games"
	"blockyard/train/selfplay"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/cpu"
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
		{"blockbattle", "6778dc1f6a1823b6b6ae5c88f6e3221345db2184e3c6426574a39634889322b4", seats},
		{"tetrisduel", "9f91855121ed6c8f5f13f56be130d32e4240de3ad6bb8afe690733effc45e52e", seats},
		{"blocking", "f8cb986fce0b7ffbc1d779def953f2be5195daf56397672c25e94e847440b766", seats},
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
			require.NoError(t, commandUntil(t, stopped(t), args...))
			require.FileExists(t, filepath.Join(two, selfplay.StateFile))
			require.ErrorContains(t, command(t, args...), "holds a run already")
			require.NoError(t, command(t, "selfplay", c.game, "--out", two, "--resume", "--workers=2"))
			last := read(filepath.Join(one, "net-002.safetensors"))
			require.True(t, last == read(filepath.Join(two, "net-002.safetensors")))
			require.FileExists(t, filepath.Join(two, selfplay.CurveFile))
			require.FileExists(t, filepath.Join(two, "net-001.safetensors"))
			events := envtest.Must(filepath.Glob(filepath.Join(two, "events.out.tfevents.*")))
			require.Len(t, events, 2, "one for each time it was started")
			g := envtest.Must(games.Open(c.game))
			best := envtest.Must(g.Load(filepath.Join(two, selfplay.BestFile)))
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
