package match

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"blockyard/agents/contest"
	"blockyard/datasets/record"
	"blockyard/env"
)

// A Played is a game that was played, or a line of a journal. Slices are by seat.
type Played struct {
	Number int        `json:"number"`               // from 0
	Stage  string     `json:"stage,omitempty"`      // of a tournament: "round 3", "semi-final", …
	Seats  []int      `json:"seats"`                // the player in every seat
	Seed   string     `json:"seed"`                 // a whole number
	Points []int      `json:"points"`               // nil if only the ranks are known
	Ranks  []int      `json:"ranks"`                // from 1; equal ranks are a draw
	Reason string     `json:"reason,omitempty"`     // why it was over; Limit if a limit stopped it
	Faults []string   `json:"faults,omitempty"`     // why a player was ended or lost at once; "" for nothing
	UsedMS []float64  `json:"used_ms,omitempty"`    // by all answers
	MostMS []float64  `json:"longest_ms,omitempty"` // by one answer
	Times  []Times    `json:"times,omitempty"`      // of all answers
	Rounds int        `json:"rounds"`               // turns, as records count them
	Names  []string   `json:"seat_names,omitempty"` // what the contest and the log call the seats
	Odd    [][]string `json:"odd,omitempty"`        // about the players' output
	After  []float64  `json:"after_s,omitempty"`    // seconds of the clock until a score that ends the game was reached

	// Stalled is how often the game was begun and did not count, because the machine was too busy to time it.
	Stalled int `json:"stalled,omitempty"`

	Print Print `json:"print,omitempty"` // if repetitions are looked for

	Unit    int             `json:"-"` // games of one unit are one sample
	Alike   bool            `json:"-"` // every seat of it chose what it did in the game before it of its pair
	Tallies []contest.Tally `json:"-"` // how often a program has answered
	Void    string          `json:"-"` // why the game does not count; "" if it does
	Repeats int             `json:"-"` // earlier game, from 1, that this one repeats and that counts for both; 0 for none
}

// Times say whose the time of a program's answers was; see contest.Usage.
type Times struct {
	WallMS   float64 `json:"wall_ms"`
	CPUMS    float64 `json:"cpu_ms"`
	WaitedMS float64 `json:"waited_ms"`
	HostMS   float64 `json:"host_ms"`
}

// TimesOf returns a usage in milliseconds.
func TimesOf(u contest.Usage) Times {
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	return Times{ms(u.Wall), ms(u.CPU), ms(u.Waited), ms(u.Host)}
}

// Waiting is for how long the machine and the host kept the program waiting.
func (t *Times) Waiting() float64 { return t.WaitedMS + t.HostMS }

func (t *Times) add(o Times, scale float64) {
	t.WallMS, t.CPUMS = t.WallMS+scale*o.WallMS, t.CPUMS+scale*o.CPUMS
	t.WaitedMS, t.HostMS = t.WaitedMS+scale*o.WaitedMS, t.HostMS+scale*o.HostMS
}

// MaxAttempts is how often a game is begun. If the machine was too busy every time, it is void.
const MaxAttempts = 3

// Stall makes a game void that was begun so often, and reports whether it was.
func (p *Played) Stall() bool {
	stalled := p.Stalled >= MaxAttempts
	if stalled {
		p.Void = fmt.Sprintf("the machine was overloaded in %d attempts", p.Stalled)
	}
	return stalled
}

// A Runner plays games between players that have numbers.
type Runner interface {
	// Play plays a game of which Number, Seed and Seats are set, and sets what came of it. The record is valid, and of an
	// unfinished game, also with an error; it is nil if there is none.
	Play(ctx context.Context, g *Played) (*record.Record, error)
}

// Limit is the reason of a game that a limit of the command stopped.
const Limit = "limit"

// note sets what came of a game between agents, of so many actions, which a brief record does not have.
func (p *Played) note(g *env.Game, rec *record.Record, actions int) {
	if p.Note(rec.Scores, rec.Results, actions, rec.Stopped); len(p.Seats) > 1 {
		p.Print = Fingerprint(g, rec)
	}
}

// Note sets what came of a game by the rules: the scores and results of its seats, of which there is one or more, how
// many actions it had, and whether it was stopped before its end.
func (p *Played) Note(scores []int, results []float32, actions int, stopped bool) {
	p.Points, p.Ranks = scores, contest.Ranks(scores)
	switch len(scores) {
	case 1:
		if p.Rounds = actions; stopped {
			p.Reason = Limit
		}
	case 2:
		won := cmp.Compare(results[0], results[1])
		p.Ranks = []int{1 + max(0, -won), 1 + max(0, won)}
	}
}

// Fault is why the player of a seat was ended or lost at once; "" for nothing.
func (p *Played) Fault(seat int) string {
	if seat < len(p.Faults) {
		return p.Faults[seat]
	}
	return ""
}

// compared returns the games that count. Players that play the seed of a unit alone, one after the other, are compared
// by their points: their games are one.
func compared(played []Played) (out []*Played) {
	for i := range played {
		g, k := &played[i], len(out)-1
		switch {
		case g.Void != "" || g.Repeats > 0:
		case len(g.Seats) == 1 && k >= 0 && out[k].Unit == g.Unit && !slices.Contains(out[k].Seats, g.Seats[0]):
			o := new(*out[k])
			out[k] = o
			o.Seats, o.Points = append(slices.Clip(o.Seats), g.Seats...), append(slices.Clip(o.Points), g.Points...)
			o.After, o.Ranks = append(slices.Clip(o.After), g.After...), contest.Ranks(o.Points)
		default:
			out = append(out, g)
		}
	}
	return out
}

// Letter names a player: A to Z, then AA, AB, ...
func Letter(player int) string {
	if player < 26 {
		return string(rune('A' + player))
	}
	return Letter(player/26-1) + Letter(player%26)
}

// Prove returns an error unless a record replays, through the rules of g, to the points and ranks of a game. Where the
// rules place no seat of two before the other, because they drew or the game was stopped, decided says whether the
// contest may have done so, for example because of the loser's fault.
func Prove(g *env.Game, rec *record.Record, points, ranks []int, decided func(loser, winner int) bool) error {
	if rec.Seats != len(points) || rec.Seats != len(ranks) {
		return fmt.Errorf("a record of %d seats, want %d", rec.Seats, len(points))
	}
	if err := record.Check(g, rec); err != nil {
		return err
	}
	for seat, own := range points {
		if shown := rec.Scores[seat]; shown != own && shown >= 0 { // below 0 is a seat that was eliminated
			return fmt.Errorf("seat %d has %d points, %d by its record", seat+1, own, shown)
		}
		for other := range seat {
			noted := cmp.Compare(ranks[other], ranks[seat])
			played := cmp.Compare(rec.Results[seat], rec.Results[other])
			loser, winner := seat, other
			if noted > 0 {
				loser, winner = other, seat
			}
			if noted != played && (played != 0 || !decided(loser, winner)) {
				return fmt.Errorf("seats %d and %d have the ranks %d and %d, and the results %g and %g by the record",
					other+1, seat+1, ranks[other], ranks[seat], rec.Results[other], rec.Results[seat])
			}
		}
	}
	return nil
}

// A Print identifies a game: two with the same Print were played move for move alike. It is "" if it is not known.
type Print string

// Fingerprint is that of a record with legal choices: a hash of who chose what in every step, whatever the seats, and
// of what is seen in the end. Games of different seeds have different ones if the rules draw anything that shows.
func Fingerprint(g *env.Game, rec *record.Record) Print {
	h, names := sha256.New(), slices.Sorted(slices.Values(rec.Agents))
	replay := record.NewReplay(g, rec)
	replay.Legal = true
	var end env.State
	var step []uint32 // how many seats act, and of each the place of its agent among the names and what it chose
	for state, m := range replay.All() {
		step, end = append(step[:0], uint32(state.Acting().Len())), state
		for set := state.Acting(); set != 0; set = set.Rest() {
			seat := set.First()
			step = append(step, uint32(slices.Index(names, rec.Agents[seat]))<<16|uint32(m[seat]))
		}
		slices.Sort(step[1:])
		_ = binary.Write(h, binary.LittleEndian, step)
	}
	var seen []string
	planes, globals := make([]uint8, g.Planes.Len()), make([]float32, g.Globals())
	for seat := 0; end != nil && seat < end.SeatCount(); seat++ {
		end.Observe(seat, planes, globals)
		numbers, _ := binary.Append(nil, binary.LittleEndian, globals) // no error: they are of a fixed size
		seen = append(seen, fmt.Sprintf("%q %s%s", rec.Agents[seat], planes, numbers))
	}
	slices.Sort(seen)
	fmt.Fprintf(h, "%q%s", names, seen)
	return Print(hex.EncodeToString(h.Sum(nil)))
}

// Repetitions has what identifies the units so far, and their first games.
type Repetitions map[string]int

// Note marks the games of a unit if all of them repeat those of an earlier one, and reports whether they do. A unit
// that is played move for move again is no other sample. Games without a Print are unlike all others.
func (r Repetitions) Note(unit []Played) bool {
	key := ""
	for _, g := range unit {
		if g.Print == "" {
			return false
		}
		key += fmt.Sprintf("%s%v", g.Print, g.Seats)
	}
	first, again := r[key]
	if !again {
		r[key] = unit[0].Number
	}
	for k := range unit {
		if again {
			unit[k].Repeats = first + k + 1
		}
	}
	return again
}

// MarkRepeats marks the games of all units that repeat those of an earlier one: see Repetitions. The games of a unit
// follow each other.
func MarkRepeats(played []Played) {
	before := Repetitions{}
	for from, k := 0, 1; k <= len(played); k++ {
		if k == len(played) || played[k].Unit != played[from].Unit {
			before.Note(played[from:k])
			from = k
		}
	}
}

// Run plays games on the given number of workers. next returns the games that follow those played so far, and none at
// the end. keep is called with every game in order, with its record, if it has one, and why it did not end. Run ends
// with the first error of keep, or that of ctx.
func Run(ctx context.Context, workers int, runner Runner, next func() []Played,
	keep func(g *Played, rec *record.Record, err error) error) error {
	type attempt struct {
		rec *record.Record
		err error
	}
	for games := next(); len(games) > 0; games = next() {
		play := func(ctx context.Context, i int) (a attempt, _ error) {
			if a.err = ctx.Err(); a.err == nil {
				a.rec, a.err = runner.Play(ctx, &games[i])
			}
			return a, nil
		}
		i := 0
		for a := range InOrder(ctx, workers, len(games), play) {
			if err := keep(&games[i], a.rec, a.err); err != nil {
				return err
			}
			i++
		}
	}
	return ctx.Err()
}

// InOrder runs work(ctx, 0) to work(ctx, n-1) on the given number of workers, at least one, and yields the results in
// this order. A result that is ready early is kept until its turn.
//
// The sequence ends after the first error. It ends without an error if ctx ends, with the results before the first
// that is missing. When the loop over the sequence is left, the context of the work still in progress is cancelled,
// and the loop waits for its end: no work outlives the loop.
func InOrder[T any](ctx context.Context, workers, n int,
	work func(context.Context, int) (T, error)) iter.Seq2[T, error] {
	type result struct {
		index int
		value T
		err   error
	}
	return func(yield func(T, error) bool) {
		workCtx, cancel := context.WithCancel(ctx)
		results := make(chan result)
		var started atomic.Int64
		var running sync.WaitGroup
		for range max(1, min(workers, n)) {
			running.Go(func() {
				for i := int(started.Add(1)) - 1; i < n; i = int(started.Add(1)) - 1 {
					v, err := work(workCtx, i)
					results <- result{i, v, err}
					if err != nil {
						return
					}
				}
			})
		}
		go func() {
			running.Wait()
			close(results)
		}()
		defer func() {
			cancel()
			for range results {
			}
		}()
		early := map[int]result{}
		next := 0
		for r := range results {
			early[r.index] = r
			for r, ready := early[next]; ready; r, ready = early[next] {
				delete(early, next)
				next++
				if ctx.Err() != nil && Stopped(r.err) || !yield(r.value, r.err) || r.err != nil {
					return
				}
			}
		}
	}
}
