package vec_test

import (
	"fmt"
	"hash/crc32"
	"math"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/envtest"
	"blockyard/env/envtest/toy"
	"blockyard/env/vec"
)

// digest plays random games, split into `parts` Envs over which seeds run on, and returns a sum of each slab after each step.
func digest(t *testing.T, g *env.Game, c vec.Config, parts, steps int, seed uint64) map[string]uint32 {
	table, sums := crc32.MakeTable(crc32.Castagnoli), map[string]uint32{}
	c.Envs /= parts
	for part := range parts {
		e, _, actions := open(t, g, c)
		l := envtest.Must(e.Layout())
		block := l.Alloc()
		out := envtest.Must(l.View(block))
		require.NoError(t, e.Reset(vec.From(seed+uint64(part*c.Envs)), nil, out))
		for step := range steps {
			play(t, 1, e, actions, out)
			for _, f := range l.Fields {
				key := fmt.Sprint(f.Name, step)
				sums[key] = crc32.Update(sums[key], table, block[f.Offset:f.Offset+f.Len])
			}
		}
	}
	return sums
}

// TestSameBytes plays many environments under 1, 2 and 8 processors, also split into several Envs: not a byte differs.
func TestSameBytes(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, c := range []struct {
		g *env.Game
		c vec.Config
	}{
		{toy.Pick, vec.Config{Envs: 1000, Agents: []vec.AgentFactory{newDie}, StepLimit: 7}},
		{blockbattle.Game, vec.Config{Envs: 1000, Autoreset: vec.SameStep}},
		{toy.Turns, vec.Config{Envs: 4096, StepLimit: 6, Autoreset: vec.SameStep,
			Mixtures: []vec.Mixture{{{newDie, 1, 0}, {newLow, 2, 1}}, nil, {{newLow, 1, 1}, {newDie, 0.1, 2}}}}},
	} {
		all := map[int]map[string]uint32{}
		for parts, procs := range map[int]int{1: 1, 2: 2, 4: 8} {
			runtime.GOMAXPROCS(procs)
			all[parts] = digest(t, c.g, c.c, parts, envtest.Many(20, 1000), envtest.Seed(t))
		}
		require.Equal(t, all[1], all[2], c.g.Name)
		require.Equal(t, all[1], all[4], c.g.Name)
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
	for _, c := range []struct {
		seeds vec.Seeds
		mask  []bool
		want  []uint64
	}{
		{vec.From(math.MaxUint64), nil, []uint64{math.MaxUint64, 0, 0, 0, 1, 0}},
		{vec.Seeds{}, []bool{false, true, false}, []uint64{math.MaxUint64, 0, 0, 1, 1, 0}},
		{vec.List([]uint64{5, 6, 7}), []bool{true, false, true}, []uint64{5, 0, 0, 1, 7, 0}},
		{vec.List([]uint64{8, 9, 10}), []bool{true, true, false}, []uint64{8, 0, 9, 0, 7, 0}},
	} {
		require.NoError(t, e.Reset(c.seeds, c.mask, out))
		require.Equal(t, c.want, seeds())
	}
	require.ErrorContains(t, e.Reset(vec.List([]uint64{1}), nil, out), "1 seeds for 3 environments")
	require.ErrorContains(t, e.Reset(vec.From(1), []bool{true}, out), "reset mask of 1, want 3")
	require.ErrorContains(t, e.Reset(vec.From(1), make([]bool, 3), out), "at least one true")
	require.Equal(t, []uint64{8, 0, 9, 0, 7, 0}, seeds(), "a refused Reset changes nothing")
}
