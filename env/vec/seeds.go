package vec

import (
	"fmt"
	"math/rand/v2"

	"blockyard/env"
)

// Seeds says how a Reset seeds the environments. With the zero value each environment keeps
// its seed and starts its next episode; an environment that was never seeded takes a random
// seed from the operating system.
type Seeds struct {
	set   bool
	first uint64
	list  []uint64
}

// From seeds environment i with seed+i.
func From(seed uint64) Seeds { return Seeds{set: true, first: seed} }

// List seeds environment i with seeds[i].
func List(seeds []uint64) Seeds { return Seeds{set: true, list: seeds} }

func (s *Seeds) check(envs int) error {
	if s.list != nil && len(s.list) != envs {
		return fmt.Errorf("%d seeds for %d environments, want one each", len(s.list), envs)
	}
	return nil
}

// of returns environment i's new seed.
func (s *Seeds) of(i int) uint64 {
	if s.list != nil {
		return s.list[i]
	}
	return s.first + uint64(i)
}

// Seed streams of an environment besides its episodes, which are numbered from 0.
const (
	ownStream    = 1 << 63
	agentStreams = 1 << 62
)

// seed sets the environment's seed and returns to episode 0.
func (sl *slot) seed(seed uint64) {
	sl.root, sl.episode, sl.word = seed, 0, env.Derive(seed, ownStream)
}

// reset moves to the next episode, or to episode 0 of a new seed.
func (sl *slot) reset(s *Seeds, i int) {
	switch {
	case s.set:
		sl.seed(s.of(i))
	case sl.live:
		sl.episode++
	default:
		sl.seed(rand.Uint64())
	}
}

// gameSeed returns the seed of the game in this episode.
func (sl *slot) gameSeed() uint64 {
	if sl.episode == 0 {
		return sl.root
	}
	return env.Derive(sl.root, sl.episode)
}

// agentSeed returns the seed of seat's agent in this episode.
func (sl *slot) agentSeed(seat int) uint64 {
	return env.Derive(env.Derive(sl.root, agentStreams+sl.episode), uint64(seat))
}

// next returns 64 random bits of the environment's own stream.
func (sl *slot) next() uint64 {
	sl.word += 0x9E3779B97F4A7C15
	return env.Mix(sl.word)
}
