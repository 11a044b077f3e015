package vec

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"

	"blockyard/env"
)

// MaxEnvs is the most environments one Env holds.
const MaxEnvs = 1 << 20

// An AgentFactory creates the agent for one seat of one environment. All randomness of the
// agent must follow from seed. The factory is called from several goroutines at once. See Renew
// for what happens to the agent when the next episode starts.
type AgentFactory func(seed uint64) (env.Agent, error)

// Config configures an Env. Only Envs is required; every other field has a useful zero value.
type Config struct {
	Envs       int            // number of environments, 1 … MaxEnvs
	Seats      int            // seats per environment; 0 means Game.MinSeats
	Agents     []AgentFactory // by seat; a seat without one is driven by the caller; at least one must be
	Mixtures   []Mixture      // by seat, instead of Agents: opponents of which one is drawn for each episode
	Curriculum *Curriculum    // leads each environment along the choices of Mixtures; nil for none
	Autoreset  Autoreset      // what happens when an episode ends
	Rows       RowForm        // which rows a batch has
	StepLimit  int            // steps after which an episode is truncated; 0 means never
	Reward     Reward         // meaning of Batch.Reward
	Illegal    Illegal        // what Step does with an illegal action
	Workers    int            // goroutines that step; 0 means GOMAXPROCS
	// Context is passed to every agent. Once it has ended, the methods of Env that change or read environments
	// return its error. One that is under way returns at once; if it steps environments, it leaves them half
	// stepped, and what agents answered after the end is not played. nil means context.Background().
	Context context.Context
}

// Autoreset says what happens when an episode ends, in Gymnasium's terms.
type Autoreset uint8

const (
	// NextStep: the step after the end ignores the environment's actions, starts the next
	// episode and returns its first observation with reward 0 and no flag set.
	NextStep Autoreset = iota
	// SameStep: the step that ends an episode also starts the next one. Observations are those of the new episode;
	// reward and flags are those of the old one, whose last observation is in the Final slabs.
	SameStep
	// Disabled: stepping an environment whose episode has ended returns ErrNeedsReset.
	Disabled
)

// RowForm says which rows an environment has. Both forms are alike if seats act at once or one is driven.
type RowForm uint8

const (
	// SeatRows: every driven seat has a row, also while other seats act. Learners need no care for
	// whose turn it is: what follows in a row is what happened to its seat.
	SeatRows RowForm = iota
	// ActingRows: as many rows as seats act at once. In turn-based games this is the compact form:
	// one row for the seat whose turn it is, and a row's next observation is of another seat.
	ActingRows
)

// Reward says what a step's reward is, for every seat.
type Reward uint8

const (
	// RewardDefault is RewardScore in games of one seat, which nobody wins, else RewardResult.
	RewardDefault Reward = iota
	// RewardResult is the change of Result: 0 until the end, then -1 … 1.
	RewardResult
	// RewardScore is the change of the seat's own Score, in the contest's points.
	RewardScore
	// RewardShaped is RewardResult and γΦ(s′) − Φ(s), with γ = Discount, for each step. The potential Φ of a position is
	// the hyperbolic tangent of the sum of Game.Potential in what the seat observes, and 0 once the game is over. Which
	// policies are optimal does not depend on it (Ng, Harada and Russell 1999).
	RewardShaped
)

// Discount is γ of RewardShaped.
const Discount = 0.99

// DefaultReward returns what RewardDefault means in a game.
func DefaultReward(g *env.Game) Reward {
	if g.MaxSeats == 1 {
		return RewardScore
	}
	return RewardResult
}

// Measure is the quantity of a seat whose changes are its rewards, without what RewardShaped adds.
func (r Reward) Measure(s env.State, seat int) float64 {
	if r == RewardScore {
		return float64(s.Score(seat))
	}
	return float64(s.Result(seat))
}

// Illegal says what Step does with an action that is not in its mask. None, no move, is always accepted.
type Illegal uint8

const (
	// Refuse: Step returns an error that wraps env.ErrIllegal, and no environment changes.
	Refuse Illegal = iota
	// Penalty: None is played instead.
	Penalty
	// Random: a random legal action is played instead.
	Random
)

var (
	autoresets = []string{"NextStep", "SameStep", "Disabled"}
	rowForms   = []string{"seat", "acting"}
	rewards    = []string{"default", "result", "score", "shaped"}
	illegals   = []string{"error", "penalty", "random"}
)

func (a Autoreset) String() string { return autoresets[a] }
func (f RowForm) String() string   { return rowForms[f] }
func (r Reward) String() string    { return rewards[r] }
func (i Illegal) String() string   { return illegals[i] }

// UnmarshalText reads one of the names above; "" is the first.
func (a *Autoreset) UnmarshalText(s []byte) error { return read(a, "autoreset mode", s, autoresets) }
func (f *RowForm) UnmarshalText(s []byte) error   { return read(f, "row form", s, rowForms) }
func (r *Reward) UnmarshalText(s []byte) error    { return read(r, "reward", s, rewards) }
func (i *Illegal) UnmarshalText(s []byte) error   { return read(i, "illegal-action policy", s, illegals) }

func read[T ~uint8](into *T, what string, s []byte, names []string) error {
	n := slices.Index(names, string(s))
	if n < 0 && len(s) > 0 {
		return fmt.Errorf("%s %q: want one of %q", what, s, names)
	}
	*into = T(max(n, 0))
	return nil
}

// check returns c with defaults filled in, or an error that names game and field.
func (c Config) check(g *env.Game) (Config, error) {
	bad := func(format string, args ...any) (Config, error) {
		return c, fmt.Errorf("vec %s: %w", g.Name, fmt.Errorf(format, args...))
	}
	c.Seats = cmp.Or(c.Seats, g.MinSeats)
	c.Context = cmp.Or(c.Context, context.Background())
	c.Workers = cmp.Or(c.Workers, runtime.GOMAXPROCS(0))
	if c.Reward == RewardDefault {
		c.Reward = DefaultReward(g)
	}
	switch {
	case c.Envs < 1 || c.Envs > MaxEnvs:
		return bad("%d environments, want 1 to %d", c.Envs, MaxEnvs)
	case c.Seats < g.MinSeats || c.Seats > g.MaxSeats:
		return bad("%d seats, want %d to %d", c.Seats, g.MinSeats, g.MaxSeats)
	case len(c.Agents) > c.Seats:
		return bad("%d agents for %d seats, want at most one per seat", len(c.Agents), c.Seats)
	case c.Agents != nil && c.Mixtures != nil:
		return bad("both Agents and Mixtures are set, want one of them")
	case c.Driven() == 0:
		return bad("every seat has an agent, want at least one driven by the caller")
	case c.StepLimit < 0:
		return bad("step limit %d, want 0 (none) or more", c.StepLimit)
	case c.Workers < 1 || c.Workers > 1024:
		return bad("%d workers, want 1 to 1024", c.Workers)
	case c.Reward == RewardShaped && g.Potential == nil:
		return bad("it has no shaped rewards, want result or score")
	case c.Autoreset > Disabled || c.Rows > ActingRows || c.Reward > RewardShaped || c.Illegal > Random:
		return bad("unknown autoreset mode %d, row form %d, reward %d or illegal-action policy %d",
			c.Autoreset, c.Rows, c.Reward, c.Illegal)
	}
	if c.Mixtures == nil {
		c.Mixtures = make([]Mixture, c.Seats)
		for seat, agent := range c.Agents {
			if agent != nil {
				c.Mixtures[seat] = Mixture{{Agent: agent, Weight: 1, ID: uint16(seat)}}
			}
		}
	}
	if err := checkMixtures(c.Mixtures, c.Curriculum, c.Seats); err != nil {
		return bad("%w", err)
	}
	return c, nil
}

// Driven returns the seats for which the caller chooses actions.
func (c *Config) Driven() env.Seats {
	var set env.Seats
	for seat := range c.Seats {
		single := seat < len(c.Agents) && c.Agents[seat] != nil
		mixed := seat < len(c.Mixtures) && len(c.Mixtures[seat]) > 0
		if !single && !mixed {
			set |= 1 << seat
		}
	}
	return set
}

// RowsOf returns how many rows an environment of g has under c, whose Seats are set.
func (c *Config) RowsOf(g *env.Game) int {
	if c.Rows == ActingRows {
		return min(g.Rows, c.Driven().Len())
	}
	return c.Driven().Len()
}

// Seeds says how a Reset seeds the environments. With the zero value each environment keeps its seed and starts its
// next episode; an environment that was never seeded takes a random seed from the operating system.
type Seeds struct {
	set   bool
	first uint64
	list  []uint64
}

// From seeds environment i with seed+i, and List with seeds[i].
func From(seed uint64) Seeds    { return Seeds{set: true, first: seed} }
func List(seeds []uint64) Seeds { return Seeds{set: true, list: seeds} }

// of returns environment i's new seed.
func (s *Seeds) of(i int) uint64 {
	if s.list != nil {
		return s.list[i]
	}
	return s.first + uint64(i)
}

// Seed streams of an environment besides its episodes, which are numbered from 0.
const (
	ownStream       = 1 << 63
	agentStreams    = 1 << 62 // of agents, by episode
	opponentStreams = 1 << 59 // of the draws from mixtures, by episode
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

// seatSeed returns the seed of one of the streams that a seat has in this episode.
func (sl *slot) seatSeed(streams uint64, seat int) uint64 {
	return env.Derive(env.Derive(sl.root, streams+sl.episode), uint64(seat))
}

// next returns 64 random bits of the environment's own stream.
func (sl *slot) next() uint64 {
	sl.word += 0x9E3779B97F4A7C15
	return env.Mix(sl.word)
}
