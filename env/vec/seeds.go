package vec

import (
	"fmt"
	"math/rand/v2"

	"blockyard/env"
)

// Seeds says how a Reset seeds the environments. The zero value seeds none: each starts
// the next episode of the seed it has, and one that never had any takes one from the
// operating system.
type Seeds struct {
	set   bool
	first uint64
	list  []uint64
	given []bool
}

// From seeds environment i with seed+i.
func From(seed uint64) Seeds { return Seeds{set: true, first: seed} }

// List seeds environment i with seeds[i].
func List(seeds []uint64) Seeds { return Seeds{set: true, list: seeds} }

// Some seeds environment i with seeds[i] where given[i]; the others go on as under the
// zero Seeds.
func Some(seeds []uint64, given []bool) Seeds { return Seeds{set: true, list: seeds, given: given} }

func (s *Seeds) check(envs int) error {
	if s.list != nil && len(s.list) != envs || s.given != nil && (len(s.given) != envs || s.list == nil) {
		return fmt.Errorf("%d seeds and %d marks for %d environments", len(s.list), len(s.given), envs)
	}
	return nil
}

// of returns environment i's new seed, if it gets one.
func (s *Seeds) of(i int) (uint64, bool) {
	switch {
	case !s.set || s.given != nil && !s.given[i]:
		return 0, false
	case s.list != nil:
		return s.list[i], true
	}
	return s.first + uint64(i), true
}

// Streams of an environment's seed beside its episodes, which count from 0.
const (
	ownStream    = 1 << 63
	agentStreams = 1 << 62
)

// seed makes seed the environment's own and goes back to episode 0.
func (sl *slot) seed(seed uint64) {
	sl.root, sl.episode, sl.word = seed, 0, env.Derive(seed, ownStream)
}

// reset moves to the next episode, or to episode 0 of a new seed.
func (sl *slot) reset(s *Seeds, i int) {
	if seed, ok := s.of(i); ok {
		sl.seed(seed)
	} else if sl.live {
		sl.episode++
	} else {
		sl.seed(rand.Uint64())
	}
}

// gameSeed is what the rules are Reset with in this episode.
func (sl *slot) gameSeed() uint64 {
	if sl.episode == 0 {
		return sl.root
	}
	return env.Derive(sl.root, sl.episode)
}

// agentSeed is what seat's agent is made with in this episode.
func (sl *slot) agentSeed(seat int) uint64 {
	return env.Derive(env.Derive(sl.root, agentStreams+sl.episode), uint64(seat))
}

// next returns 64 bits of the environment's own stream.
func (sl *slot) next() uint64 {
	sl.word += 0x9E3779B97F4A7C15
	return env.Mix(sl.word)
}
