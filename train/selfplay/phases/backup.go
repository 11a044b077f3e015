package phases

import (
	"math"

	"blockyard/agents/mlp"
	"blockyard/env"
	"blockyard/train/selfplay"
	"blockyard/train/selfplay/afterstate"
)

const (
	passes      = 2   // over the rows of each rollout
	maxChange   = 1.5 // how far a target may be from the base's value
	outlier     = 3   // a change beyond it counts as this in the average
	averageOver = 200 // fits that the average change is taken over
)

// A backupLearner fits the network to the values of a search one ply deeper, in a game of turns.
type backupLearner struct {
	staged
	average float64 // running mean of what a ply more changes
}

func (l *backupLearner) Restore(s *selfplay.State) error {
	l.average = s.Backup.Average
	return l.staged.Restore(s)
}

func (l *backupLearner) Save(s *selfplay.State) {
	l.staged.Save(s)
	s.Backup.Average = l.average
}

func (l *backupLearner) Gated() error {
	l.average = 0
	return l.staged.Gated()
}

func (l *backupLearner) Rollout() selfplay.Rollout { return l.rollout(backupKind) }

func (l *backupLearner) Fit() error {
	l.collect()
	// almost nothing at the end of each stage, along half a cosine
	part, _ := l.Run.StagePart()
	rate := l.config.RateBackup * (0.02 + 0.98*(1+math.Cos(math.Pi*part))/2)
	if err := l.Learn(passes, rate); err != nil {
		return err
	}
	l.Run.Counts.Rows += l.Rows.Len()
	l.fits++
	return l.Fitted(l.fits)
}

// collect turns the samples of all slots into rows with targets.
func (l *backupLearner) collect() {
	l.Rows.Cut(0)
	var changes []float32
	sum := 0.0
	for _, slot := range l.Run.Slots {
		s, ok := slot.Notes.(*samples)
		if !ok {
			continue
		}
		l.Rows.X = append(l.Rows.X, s.x...)
		l.Rows.Y = append(l.Rows.Y, s.base...)
		changes = append(changes, s.change...)
	}
	for i, g := range changes {
		changes[i] = min(max(g, -outlier), outlier)
		sum += float64(changes[i])
	}
	if len(changes) > 0 {
		l.average += (sum/float64(len(changes)) - l.average) / float64(min(l.fits+1, averageOver))
	}
	for i, g := range changes {
		l.Rows.Y[i] += min(max(g-float32(l.average), -maxChange), maxChange)
	}
}

const maxWorth = 8 // what a finished game counts in a target, up or down

// A backupPolicy plays two plies deep, in a game of turns, and searches some of the positions it meets further.
type backupPolicy struct {
	policy
	third   afterstate.Ply // the decision two choices after Root
	scratch env.State      // where it is played
}

func (p *backupPolicy) Begin(s *selfplay.Slot) {
	n, ok := s.Notes.(*samples)
	if !ok {
		n = &samples{features: len(p.Game.Features)}
		s.Notes = n
	}
	n.x, n.base, n.change = n.x[:0], n.base[:0], n.change[:0]
}

// Choose plays two plies deep, of the Width best first choices, and samples positions to learn from.
func (p *backupPolicy) Choose(s *selfplay.Slot, seat int) env.Action {
	if s.Opponent[seat] > 0 {
		return p.opponent(s, seat)
	}
	p.Evaluate(&p.Root, s.State, seat)
	first := afterstate.Best(p.Root.Worth)
	if first < 0 || p.Root.Live == 0 || p.Root.Worth[first] >= afterstate.Certain {
		return p.Action(first)
	}
	p.Rank()
	n := min(p.Width, len(p.Order))
	var sampled [65]int // how often each first choice is; a sample costs no more than a second choice does
	for range p.config.Samples {
		sampled[s.Rand.Next()%uint64(min(n, len(sampled)-1))]++
	}
	top := float32(0)
	for q, k := range p.Order[:n] {
		i := p.Root.Choice[k]
		next, mover := p.Root.States[k], seat
		if acting := next.Acting(); !acting.Has(seat) {
			mover = acting.First()
		}
		worth := p.BestWorth(&p.Leaf, next, mover)
		if mover != seat {
			worth = -worth
		}
		for range sampled[min(q, len(sampled)-1)] {
			p.backupSample(s, mover)
		}
		if q == 0 || worth > top {
			first, top = i, worth
		}
	}
	if s.Chance(p.config.Explore) {
		first = p.Root.Choice[p.Order[s.Rand.Next()%uint64(n)]]
	}
	return p.Root.Legal[first]
}

// backupSample notes one of the second choices in Leaf: the best or, half of the time, any.
func (p *backupPolicy) backupSample(s *selfplay.Slot, seat int) {
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
	n.change = append(n.change, p.playOn(p.Leaf.States[k], seat, max(1, p.config.Look))-base)
}

// playOn lets both seats play on from leaf, by the net, and returns the mean worth to seat over look plies.
func (p *backupPolicy) playOn(leaf env.State, seat, look int) float32 {
	s := p.scratch
	s.CopyFrom(leaf)
	sum := float32(0)
	// rounded, so that no machine fuses it
	add := func(worth float32, times int) { sum += float32(float32(times) * worth) }
	for n := range look {
		acting, mover := s.Acting(), seat
		if acting == 0 {
			add(maxWorth*s.Result(seat), look-n)
			break
		}
		if !acting.Has(seat) {
			mover = acting.First()
		}
		p.Evaluate(&p.third, s, mover)
		first := afterstate.Best(p.third.Worth)
		worth := float32(-maxWorth) // a seat that has to choose and cannot has lost
		if first >= 0 {
			worth = min(max(p.third.Worth[first], -maxWorth), maxWorth)
		}
		if mover != seat {
			worth = -worth
		}
		if add(worth, 1); first < 0 {
			add(worth, look-n-1)
			break
		}
		env.After(s, mover, p.third.Legal[first])
	}
	return sum / float32(look)
}

// samples are positions two plies deep that were searched further, of one slot's rollout.
type samples struct {
	features int
	x        []float32 // [len(base)][features]
	base     []float32 // the base's value of each
	change   []float32 // what the further search says, less the value
}

func (s *samples) Tensors() []mlp.Tensor {
	n := len(s.base)
	return []mlp.Tensor{
		{Name: "x", Shape: []int{n, s.features}, Data: s.x},
		{Name: "base", Shape: []int{n}, Data: s.base},
		{Name: "change", Shape: []int{n}, Data: s.change},
	}
}

func (s *samples) SetTensors(tensors []mlp.Tensor) error {
	t := selfplay.Named{Tensors: tensors}
	s.base = t.Take("base", -1)
	s.x, s.change = t.Take("x", len(s.base), s.features), t.Take("change", len(s.base))
	return t.Err
}
