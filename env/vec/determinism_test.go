package vec_test

import (
	"hash/crc32"
	"math"
	"os"
	"runtime"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/envtest"
	"blockyard/env/envtest/toy"
	"blockyard/env/vec"
)

// digest hashes, for every environment, all the bytes it writes in the given steps of
// random play, split into `parts` Envs over which seeds run on.
func digest(t *testing.T, g *env.Game, c vec.Config, parts, steps int, seed uint64) []uint32 {
	table := crc32.MakeTable(crc32.Castagnoli)
	sums := make([]uint32, 0, c.Envs)
	c.Envs /= parts
	for part := range parts {
		e, err := vec.New(g, c)
		require.NoError(t, err)
		l, err := e.Layout()
		require.NoError(t, err)
		block := l.Alloc()
		out, err := l.View(block)
		require.NoError(t, err)
		own := make([]uint32, c.Envs)
		hash := func() {
			for _, f := range l.Fields {
				n := f.Len / c.Envs
				for i := range own {
					own[i] = crc32.Update(own[i], table, block[f.Offset+i*n:f.Offset+(i+1)*n])
				}
			}
		}
		require.NoError(t, e.Reset(vec.From(seed+uint64(part*c.Envs)), nil, out))
		hash()
		actions := make([]env.Action, c.Envs*e.Rows())
		for range steps {
			play(t, 1, e, actions, out)
			hash()
		}
		require.NoError(t, e.Close())
		sums = append(sums, own...)
	}
	return sums
}

// TestSameBytes hashes 100,000 steps of environments (30,000 with -short, a million if BLOCKYARD_LONG is set) under 1, 2
// and 8 processors, also split into several Envs: not a byte differs, and every environment differs from its neighbours.
func TestSameBytes(t *testing.T) {
	steps := 100_000
	if os.Getenv("BLOCKYARD_LONG") != "" {
		steps = 1_000_000
	} else if testing.Short() {
		steps = 30_000
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	seed := envtest.Seed(t)
	for _, c := range []struct {
		name  string
		g     *env.Game
		c     vec.Config
		steps int // of each environment
	}{
		{"toy", toy.Pick, vec.Config{Envs: 1000, Agents: []vec.AgentFactory{newDie}, StepLimit: 7}, steps / 1000},
		{"blockbattle", blockbattle.Game, vec.Config{Envs: 1000, Autoreset: vec.SameStep}, steps / 1000},
		{"mixtures", toy.Turns, vec.Config{Envs: 4096, StepLimit: 6, Autoreset: vec.SameStep,
			Mixtures: []vec.Mixture{{{newDie, 1, 0}, {newLow, 2, 1}}, nil, {{newLow, 1, 1}, {newDie, 0.1, 2}}}}, 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			var first []uint32
			for parts, procs := range map[int]int{1: 1, 2: 2, 4: 8} {
				runtime.GOMAXPROCS(procs)
				got := digest(t, c.g, c.c, parts, c.steps, seed)
				if first == nil {
					first = got
				}
				require.Equal(t, first, got, "%d processors", procs)
			}
			different := map[uint32]bool{}
			for _, sum := range first {
				different[sum] = true
			}
			require.Greater(t, len(different), len(first)*99/100)
		})
	}
}

func TestSeeds(t *testing.T) {
	e, out, _ := open(t, toy.Pick, vec.Config{Envs: 3})
	seeds := func() (list []uint64) {
		for i := range 3 {
			seed, episode := e.Seed(i)
			list = append(list, seed, episode)
		}
		return list
	}
	require.NoError(t, e.Reset(vec.Seeds{}, nil, out))
	own := seeds()
	require.NotEqual(t, own[0], own[2], "seeds from the operating system")
	require.NoError(t, e.Reset(vec.From(math.MaxUint64), nil, out))
	require.Equal(t, []uint64{math.MaxUint64, 0, 0, 0, 1, 0}, seeds())
	require.NoError(t, e.Reset(vec.Seeds{}, []bool{false, true, false}, out))
	require.Equal(t, []uint64{math.MaxUint64, 0, 0, 1, 1, 0}, seeds())
	require.NoError(t, e.Reset(vec.List([]uint64{5, 6, 7}), []bool{true, false, true}, out))
	require.Equal(t, []uint64{5, 0, 0, 1, 7, 0}, seeds())
	require.NoError(t, e.Reset(vec.List([]uint64{8, 9, 10}), []bool{true, true, false}, out))
	require.Equal(t, []uint64{8, 0, 9, 0, 7, 0}, seeds())

	require.ErrorContains(t, e.Reset(vec.List([]uint64{1}), nil, out), "1 seeds for 3 environments")
	require.ErrorContains(t, e.Reset(vec.From(1), []bool{true}, out), "reset mask of 1, want 3")
	require.ErrorContains(t, e.Reset(vec.From(1), make([]bool, 3), out), "at least one true")
	require.Equal(t, []uint64{8, 0, 9, 0, 7, 0}, seeds(), "a refused Reset changes nothing")
}

func address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }
