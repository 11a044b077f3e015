package dropbloxbot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/dropblox"
)

const Width = 50 // how many boards a Beam keeps by default

// An Agent plays by a Beam of a fixed width, or by Beam.Fit if that is 0 and there is a deadline.
type Agent struct {
	beam    *Beam
	width   int
	depth   int
	futures int
}

// NewAgent returns an Agent. width is how many boards its beam keeps, 0 for as many as the time allows; depth how many
// of the known blocks it searches, 0 for all; futures how many futures a lookahead by an Ender draws, 0 for none.
func NewAgent(r Rater, width, depth, futures int) *Agent {
	return &Agent{beam: NewBeam(r), width: width, depth: depth, futures: futures}
}

// Act implements env.Agent. Without any place for the block it returns env.None.
func (a *Agent) Act(ctx context.Context, state env.State, _ int) (env.Action, error) {
	p := Of(state.(*dropblox.State))
	p.Depth = a.depth
	var at dropblox.Placement
	var ok bool
	if c := search.NewClock(ctx); a.width == 0 && c.Timed() {
		at, ok = a.beam.Fit(p, c)
	} else {
		width := a.width
		if width == 0 {
			width = Width
		}
		var done bool
		if at, done, ok = a.beam.Choose(p, width, c); done && ok && a.futures > 0 && p.Points > calm {
			at = a.beam.Lookahead(p, at, a.futures, c)
		}
	}
	if !ok {
		return env.None, nil
	}
	return at.Action(), nil
}

// Value is what the line last chosen is worth, in the units of the Rater.
func (a *Agent) Value() float32 { return a.beam.last }

// probe is the width a search that fits a clock begins with, slack the share of the time left that a wider search is
// planned for, and wide the width beyond which a lookahead is a better use of time.
const (
	probe = 24
	slack = 0.7
	wide  = 300
)

// Fit is Choose with a width that makes use of the time until the deadline of c: a narrow search measures how long one
// takes, a wider one fills what is left. What the wider one has not finished in time does not count. If the rater is
// an Ender, the width is limited to 300, and a lookahead takes the rest of the time.
func (b *Beam) Fit(p *Problem, c search.Clock) (at dropblox.Placement, ok bool) {
	begun := time.Now()
	at, done, ok := b.Choose(p, probe, c)
	if !ok || !done {
		return at, ok
	}
	spent := time.Since(begun)
	width := int(slack * probe * float64(c.Left()) / float64(spent+1))
	_, ends := b.rater.(Ender)
	if ends && width > wide {
		width = wide
	} else if width > MaxWidth {
		width = MaxWidth
	}
	if width <= probe {
		return at, true
	}
	better, done, ok := b.Choose(p, width, c)
	if !ok || !done {
		return at, true
	}
	if ends && width == wide {
		better = b.Lookahead(p, better, MaxFutures, c)
	}
	return better, true
}

// Leftmost is the sample player of the contest: it moves every block as far to the left as it goes, and drops it.
type Leftmost struct{}

// Act implements env.Agent: the block goes as far left as it can, and drops.
func (Leftmost) Act(_ context.Context, state env.State, _ int) (env.Action, error) {
	s := state.(*dropblox.State)
	b := s.Block(0)
	for dropblox.Left.Carry(&b, &s.Taken) {
	}
	b.Drop(&s.Taken)
	return dropblox.Placement{J: int(b.Center.J), I: int(b.Center.I)}.Action(), nil
}

// startup is what a process costs its host beside the search: starting it, reading the state, ending it.
const startup = 8 * time.Millisecond

// Answer is a program's turn in the contest (rules §8.1): it reads the two arguments, begun being when the process
// started, searches as long as the clock allows, and writes commands to out. After an error the block drops where it
// appears.
func Answer(b *Beam, args []string, begun time.Time, out io.Writer) error {
	if len(args) != 2 {
		return fmt.Errorf("dropblox: %d arguments, want two: the state as JSON and the seconds left", len(args))
	}
	position, err := dropblox.ParsePosition([]byte(args[0]))
	if err != nil {
		return err
	}
	seconds, err := strconv.ParseFloat(strings.TrimSpace(args[1]), 64)
	if err != nil || math.IsNaN(seconds) {
		return fmt.Errorf("dropblox: %.20q is not a number of seconds", args[1])
	}
	if position.Failed {
		return nil
	}
	p := &Problem{Field: position.Field(), Points: int32(position.Score)}
	p.Blocks[0] = position.Block
	copy(p.Blocks[1:], position.Preview[:])
	left := time.Duration(math.Max(0, math.Min(seconds, 3600)) * float64(time.Second))
	at, ok := choose(b, p, search.Until(begun.Add(Budget(position.Score, left)-startup)))
	if !ok {
		return nil
	}
	shape := dropblox.NewShape(&p.Blocks[0])
	way, found := shape.Path(&p.Field, at, nil)
	if !found {
		return errors.New("dropblox: no commands lead to the place chosen")
	}
	for _, c := range way {
		if _, err := io.WriteString(out, c.String()+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// choose returns the placement of a turn. A calm turn does not need all of its time, which is left for later ones.
func choose(b *Beam, p *Problem, c search.Clock) (at dropblox.Placement, ok bool) {
	if p.Points > calm {
		return b.Fit(p, c)
	}
	at, _, ok = b.Choose(p, Width, c)
	return at, ok
}

// Turns left at a score, as games go: about turnsAPoint a point up to about lastScore, and never fewer than fewest.
const (
	lastScore   = 620
	turnsAPoint = 1.8
	fewest      = 90
)

// Up to calm no game is lost, however little a program thinks; from grave on any turn may decide it.
const (
	calm, grave = 450, 520
	calmCare    = 0.05
)

// care is the relative time weight of a turn at a score: 1 where the game is at stake.
func care(score int) float64 {
	switch {
	case score <= calm:
		return calmCare
	case score >= grave:
		return 1
	}
	return calmCare + (1-calmCare)*float64(score-calm)/(grave-calm)
}

// enough is the time below which also a calm turn is played too badly; short clocks are shared evenly up to it.
const enough = 40 * time.Millisecond

// Budget is how long a program may think about this turn: a share of what is left of the game's clock.
func Budget(score int, left time.Duration) time.Duration {
	if left < 0 {
		return 0
	}
	turns, even := 0.0, 0.0 // left in the game, each with its weight, and each counted as one
	for s := score; s < lastScore; s++ {
		turns += turnsAPoint * care(s)
		even += turnsAPoint
	}
	least := time.Duration(float64(left) / math.Max(even, fewest))
	if least > enough {
		least = enough
	}
	share := time.Duration(float64(left) * care(score) / math.Max(turns, fewest))
	if share < least {
		return least
	}
	return share
}
