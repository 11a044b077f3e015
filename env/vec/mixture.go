package vec

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"blockyard/env"
)

// NoOpponent in Batch.Opponent stands for a driven seat.
const NoOpponent = 0xFFFF

// A Mixture is what may play a seat. One choice is drawn for each episode, with a probability proportional to its
// weight. The draw follows from the seed of the environment, the number of the episode and the seat. Under a
// Curriculum the environment's rung decides instead.
type Mixture []Choice

// A Choice is one opponent of a Mixture.
type Choice struct {
	Agent  AgentFactory // nil: the caller is asked for the seat's actions, see Env.Answer
	Weight float64      // above 0; the weights of a mixture need not sum to 1
	ID     uint16       // stands for the opponent in Batch.Opponent and Env.Tallies; below NoOpponent
}

// asks reports whether some choice asks the caller.
func (m Mixture) asks() bool {
	return slices.ContainsFunc(m, func(c Choice) bool { return c.Agent == nil })
}

// Check returns an error that names the first choice that is not valid, counted from 1.
func (m Mixture) Check() error {
	sum := 0.0
	for k, c := range m {
		switch sum += c.Weight; {
		case !(c.Weight > 0) || math.IsInf(c.Weight, 0):
			return fmt.Errorf("entry %d has weight %v, want a finite number above 0", k+1, c.Weight)
		case math.IsInf(sum, 0):
			return fmt.Errorf("the weights up to entry %d have no finite sum", k+1)
		case c.ID == NoOpponent:
			return fmt.Errorf("entry %d has ID %d, want less", k+1, c.ID)
		}
	}
	return nil
}

// A seatPool draws from the mixture of one seat. The zero value belongs to a driven seat.
type seatPool struct {
	choices []Choice
	sums    []float64 // of the weights up to and including each choice
}

// draw chooses by 64 random bits. Only a product and comparisons of float64 decide, so that the result
// is the same on every processor.
func (p *seatPool) draw(r uint64) *Choice {
	last := len(p.sums) - 1
	at := float64(r>>11) * 0x1p-53 * p.sums[last]
	return &p.choices[sort.Search(last, func(k int) bool { return at < p.sums[k] })]
}

// SetMixtures replaces the mixtures of all seats: by seat, empty for those that the caller drives, which
// must remain the same. An environment draws from the new mixtures when its next episode
// starts, or when Restore puts another episode there. With a curriculum, nil for none, all environments
// begin at its first rung, unless it and its rungs are those of before. SetMixtures must not be called during a step.
func (e *Env) SetMixtures(mixtures []Mixture, curriculum *Curriculum) error {
	if err := checkMixtures(mixtures, curriculum, e.c.Seats); err != nil {
		return fmt.Errorf("vec %s: %w", e.g.Name, err)
	}
	for seat := range e.c.Seats {
		if none := seat >= len(mixtures) || len(mixtures[seat]) == 0; none != e.driven.Has(seat) {
			return fmt.Errorf("vec %s: seat %d: want agents exactly for the seats that have them already", e.g.Name, seat)
		}
	}
	e.setMixtures(mixtures, curriculum)
	return nil
}

func checkMixtures(mixtures []Mixture, curriculum *Curriculum, seats int) error {
	if len(mixtures) > seats {
		return fmt.Errorf("%d mixtures for %d seats, want at most one per seat", len(mixtures), seats)
	}
	for seat, m := range mixtures {
		if err := m.Check(); err != nil {
			return fmt.Errorf("seat %d: %w", seat, err)
		}
	}
	return curriculum.check(mixtures)
}

func (e *Env) setMixtures(mixtures []Mixture, curriculum *Curriculum) {
	e.setCurriculum(mixtures, curriculum)
	for seat, m := range mixtures {
		e.mayAsk(m.asks())
		p, sum := seatPool{choices: slices.Clone(m)}, 0.0
		for _, c := range m {
			sum += c.Weight
			p.sums = append(p.sums, sum)
			e.count(c.ID)
		}
		e.pools[seat] = p
	}
}

// count makes sure that the opponent with this ID has a tally.
func (e *Env) count(id uint16) { e.counted = max(e.counted, int(id)+1) }

// draw chooses the opponents of environment i for its episode.
func (e *Env) draw(i int) error {
	for set := e.others(); set != 0; set = set.Rest() {
		seat := set.First()
		if err := e.seat(i, seat, e.drawn(i, seat)); err != nil {
			return err
		}
	}
	return nil
}

// drawn returns what plays a seat in the episode of environment i.
func (e *Env) drawn(i, seat int) *Choice {
	if e.curriculum != nil {
		return &e.pools[seat].choices[e.places[i].Rung]
	}
	return e.pools[seat].draw(e.slots[i].seatSeed(opponentStreams, seat))
}

// seat lets c play a seat of environment i, and closes the agent there unless it is one of c's.
func (e *Env) seat(i, seat int, c *Choice) error {
	k := i*e.c.Seats + seat
	if e.playing[k] == c {
		return nil
	}
	e.playing[k] = c
	return closeAgent(&e.agents[k])
}

// others returns the seats that are not driven.
func (e *Env) others() env.Seats { return (1<<e.c.Seats - 1) &^ e.driven }

// Opponent returns the ID of the opponent that plays a seat of environment i now, or NoOpponent.
func (e *Env) Opponent(i, seat int) uint16 {
	if c := e.playing[i*e.c.Seats+seat]; c != nil {
		return c.ID
	}
	return NoOpponent
}

// showOpponents writes the IDs of environment i's opponents to ids, [N, S], unless it is nil.
func (e *Env) showOpponents(i int, ids []uint16) {
	row := part(ids, i, e.c.Seats)
	for seat := range row {
		row[seat] = e.Opponent(i, seat)
	}
}

// A Tally counts the finished episodes in which a driven seat met an opponent. An episode counts
// once for each driven seat and each seat that the opponent plays: once in a game of two seats.
type Tally struct {
	Wins, Draws, Losses uint64 // of the driven seat, by comparing the Results of both seats
	Truncated           uint64 // ended by the step limit, without a result
}

// An OpponentTally is the tally of one environment against one opponent.
type OpponentTally struct {
	ID uint16 // of the opponent's Choice
	Tally
}

// TalliesOf returns the tallies of environment i, in the order in which it met its opponents first: read-only, and
// valid until its next step. They are not part of a snapshot, and stay when another position is put there.
func (e *Env) TalliesOf(i int) []OpponentTally { return e.tallies[i] }

// SetTalliesOf replaces the tallies of environment i, each against another opponent.
func (e *Env) SetTalliesOf(i int, tallies []OpponentTally) {
	e.tallies[i] = append(e.tallies[i][:0], tallies...)
	for _, t := range tallies {
		e.count(t.ID)
	}
}

// Tallies returns the tallies of all environments together, by ID. It must not be called during a step.
func (e *Env) Tallies() []Tally {
	sums := make([]Tally, e.counted)
	for _, tallies := range e.tallies {
		for _, t := range tallies {
			sum := &sums[t.ID]
			*sum = Tally{sum.Wins + t.Wins, sum.Draws + t.Draws, sum.Losses + t.Losses, sum.Truncated + t.Truncated}
		}
	}
	return sums
}

// tallyOf returns the tally of environment i against the opponent in a seat.
func (e *Env) tallyOf(i, seat int) *Tally {
	id := e.Opponent(i, seat)
	k := slices.IndexFunc(e.tallies[i], func(t OpponentTally) bool { return t.ID == id })
	if k < 0 {
		k = len(e.tallies[i])
		e.tallies[i] = append(e.tallies[i], OpponentTally{ID: id})
	}
	return &e.tallies[i][k].Tally
}

// tally counts the episode of environment i, which has just ended.
func (e *Env) tally(i int) {
	s, sl := e.states[i], &e.slots[i]
	e.climb(i)
	for others := e.others(); others != 0; others = others.Rest() {
		other := others.First()
		t := e.tallyOf(i, other)
		for own := e.driven; own != 0; own = own.Rest() {
			a, b := s.Result(own.First()), s.Result(other)
			switch {
			case sl.cut:
				t.Truncated++
			case a > b:
				t.Wins++
			case a < b:
				t.Losses++
			default:
				t.Draws++
			}
		}
	}
}
