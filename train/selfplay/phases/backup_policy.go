package phases

import (
	"blockyard/env"
	"blockyard/train/selfplay"
	"blockyard/train/selfplay/afterstate"
)

// maxWorth is what a finished game counts in a target, up or down.
const maxWorth = 8

// A backupPolicy plays two plies deep and searches some of the positions it meets further.
type backupPolicy struct {
	*afterstate.Search
	config *Config
	turns  bool // the game's two seats take turns

	third   afterstate.Ply // the decision two choices after Root
	fourth  afterstate.Ply // and what may follow that
	scratch env.State      // where they are played
	draw    [1]uint16      // what is drawn there
	futures [][]uint16     // see drawFutures
}

func newBackupPolicy(c *Config, s *afterstate.Search) *backupPolicy {
	rules := s.Game.Rules
	return &backupPolicy{Search: s, config: c, turns: takesTurns(s.Game), scratch: rules.New(rules.MinSeats)}
}

// Start implements selfplay.Policy.
func (p *backupPolicy) Start(ro *selfplay.Rollout) { p.Net = ro.Net.Clone() }

// Begin implements selfplay.Policy.
func (p *backupPolicy) Begin(s *selfplay.Slot) {
	n, ok := s.Notes.(*samples)
	if !ok {
		n = &samples{features: len(p.Game.Features)}
		s.Notes = n
	}
	n.x, n.base, n.change = n.x[:0], n.base[:0], n.change[:0]
}

func (p *backupPolicy) End(*selfplay.Slot) {}

func (p *backupPolicy) Cut(*selfplay.Slot) {}

func (p *backupPolicy) Choose(s *selfplay.Slot, seat int) env.Action {
	if s.Opponent[seat] > 0 {
		return opponentChoice(p.Search, s, seat, p.config.Explore)
	}
	return p.chooseTwoPly(s, seat)
}

// chooseTwoPly plays for seat two plies deep: of the Width best first choices, the one with
// the best second choice. Among these it samples positions to learn from.
func (p *backupPolicy) chooseTwoPly(s *selfplay.Slot, seat int) env.Action {
	p.Evaluate(&p.Root, s.State, seat)
	first := afterstate.Best(p.Root.Worth)
	if first < 0 || p.Root.Live == 0 || p.Root.Worth[first] >= afterstate.Certain {
		return p.Action(first)
	}
	p.Rank()
	n := min(p.Width, len(p.Order))
	sampled, notes := p.spread(s, n), s.Notes.(*samples)
	before := len(notes.change)
	if p.config.Look > 1 && !p.turns {
		p.drawFutures(&s.Rand, p.config.Look)
	}
	top := float32(0)
	for q, k := range p.Order[:n] {
		i := p.Root.Choice[k]
		next, worth, mover := p.Root.States[k], p.Root.Worth[i], seat
		if acting := next.Acting(); !acting.Has(seat) {
			mover = acting.First()
		}
		if mover == seat || p.turns {
			if worth = p.BestWorth(&p.Leaf, next, mover); mover != seat {
				worth = -worth
			}
			for range sampled[min(q, len(sampled)-1)] {
				p.backupSample(s, mover, p.Root.Legal[i])
			}
		}
		if q == 0 || worth > top {
			first, top = i, worth
		}
	}
	if p.config.WithinDecision {
		center(notes.change[before:])
	}
	if s.Chance(p.config.Explore) {
		first = p.Root.Choice[p.Order[s.Rand.Next()%uint64(n)]]
	}
	return p.Root.Legal[first]
}

// center subtracts the mean of changes from each.
func center(changes []float32) {
	mean := float32(0)
	for _, c := range changes {
		mean += c
	}
	mean /= float32(max(1, len(changes)))
	for i := range changes {
		changes[i] -= mean
	}
}

// spread spreads the samples of a decision over its first n choices. If seats take turns a
// sample costs no more than a second choice does, so that a choice may have several.
func (p *backupPolicy) spread(s *selfplay.Slot, n int) (sampled [65]int) {
	for range p.config.Samples {
		i := s.Rand.Next() % uint64(min(n, len(sampled)-1))
		if sampled[i]++; !p.turns {
			sampled[i] = 1
		}
	}
	return sampled
}

// backupSample notes one of the second choices in Leaf, after the first choice a: the best or, half of the time, any.
func (p *backupPolicy) backupSample(s *selfplay.Slot, seat int, a env.Action) {
	if p.Leaf.Live == 0 {
		return
	}
	i := afterstate.Best(p.Leaf.Worth)
	k := p.Leaf.Find(i)
	if k < 0 || s.Chance(0.5) {
		k = int(s.Rand.Next() % uint64(p.Leaf.Live))
		i = p.Leaf.Choice[k]
	}
	base, own, n := p.Leaf.Worth[i], p.Game.Own, s.Notes.(*samples)
	n.x = append(append(n.x, p.Leaf.X[k*own:(k+1)*own]...), p.Leaf.Shared...)
	n.base = append(n.base, base)
	change, pair := -base, [2]env.Action{a, p.Leaf.Legal[i]}
	switch look := max(1, p.config.Look); {
	case p.turns:
		change += p.playOn(p.Leaf.States[k], seat, look)
	case look > 1:
		change += p.overFutures(s.State, seat, pair)
	default:
		change += p.overDraws(s.State, seat, pair)
	}
	n.change = append(n.change, change)
}
