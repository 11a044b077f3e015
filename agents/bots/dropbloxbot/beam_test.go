package dropbloxbot

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/dropblox"
)

// slowBest is the worth of the best line of depth placements, every one tried, by the
// rules' own steps.
func slowBest(h *Hand, s *dropblox.State, line float32, depth int) (best float32, alive bool) {
	for _, a := range s.Legal(0, nil) {
		next := *s
		at := dropblox.At(a)
		b := s.Block(0)
		shape := dropblox.NewShape(&b)
		turn := &shape.Turn[at.R]
		next.Step(env.Alone(0, a))
		kid := []Kid{{Field: next.Taken, Row: float32(at.I) + float32(turn.Low.I+turn.High.I)/2}}
		made := s.Taken
		shape.Put(&made, at.R, at.I, at.J)
		for i := range dropblox.Rows {
			if made.Full(dropblox.Cols)>>uint(i)&1 == 0 {
				continue
			}
			kid[0].Rows++
			for _, o := range turn.Offsets[:b.Size] {
				if at.I+int(o.I) == i {
					kid[0].Eroded++
				}
			}
		}
		if depth > 1 && next.Failed {
			continue
		}
		worth := []float32{0}
		h.Rate(&Board{Line: line}, kid, 0, worth)
		if depth > 1 {
			var ok bool
			if worth[0], ok = slowBest(h, &next, kid[0].Line, depth-1); !ok {
				continue
			}
		}
		if !alive || worth[0] > best {
			best, alive = worth[0], true
		}
	}
	return best, alive
}

// A beam that drops nothing finds the best line.
func TestBeamAgainstFullSearch(t *testing.T) {
	h := &Hand{Classic}
	for seed := range uint64(4) {
		var s dropblox.State
		s.Reset(seed)
		b := NewBeam(h)
		for range 10 {
			p := Of(&s)
			p.Depth = 2
			at, done, ok := b.Choose(p, MaxWidth, search.Clock{})
			require.True(t, done && ok)
			want, alive := slowBest(h, &s, 0, 2)
			require.True(t, alive)
			require.InDelta(t, want, b.last, 1e-2)
			s.Step(env.Alone(0, at.Action()))
		}
	}
}

// Where every line ends in a game that is over the one with the most points is played.
func TestLastStand(t *testing.T) {
	var s dropblox.State
	s.Reset(0)
	for j := range s.Taken { // up to row 10, one column open
		if j != 11 {
			s.Taken[j] = within &^ (1<<10 - 1)
		}
	}
	s.Blocks = [dropblox.Known]uint16{11, 12677, 12677, 12677, 12677, 12677}
	b := NewBeam(&Hand{Classic})
	at, _, ok := b.Choose(Of(&s), 10, search.Clock{})
	require.True(t, ok)
	require.Equal(t, 11, at.J, "the five rows that are to be had")
	s.Taken[6] = within
	_, _, ok = b.Choose(Of(&s), 10, search.Clock{})
	require.False(t, ok)
}

// A watch counts the boards whose kids it rates, and those after the time that it spends with one in the middle of a
// search: how late a search ends depends on the machine, too.
type watch struct {
	Rater
	end         time.Time
	rated, late int
}

func (w *watch) Rate(from *Board, kids []Kid, left int, worth []float32) {
	if w.rated++; w.rated == 200 {
		time.Sleep(time.Until(w.end))
	}
	if !time.Now().Before(w.end) {
		w.late++
	}
	w.Rater.Rate(from, kids, left, worth)
}

// keeps holds that a search with a deadline stops at it.
func (w *watch) keeps(t *testing.T, fit func(search.Clock) bool, limit time.Duration) {
	w.end, w.rated, w.late = time.Now().Add(limit), 0, 0
	require.True(t, fit(search.Until(w.end)))
	require.LessOrEqual(t, w.late, 8, "a search looks at its clock every 8 boards")
}

// An endingWatch is a watch of an Ender.
type endingWatch struct{ watch }

func (w *endingWatch) Ended(b *Board) float32 { return w.Rater.(Ender).Ended(b) }

func TestFitKeepsTheDeadline(t *testing.T) {
	var s dropblox.State
	s.Reset(5)
	w := &watch{Rater: &Hand{Classic}}
	b := NewBeam(w)
	w.keeps(t, func(c search.Clock) bool { _, ok := b.Fit(Of(&s), c); return ok }, 60*time.Millisecond)
	at, ok := b.Fit(Of(&s), search.Until(w.end)) // too late for anything but the first boards
	require.True(t, ok)
	way, err := s.Path(at.Action(), nil)
	require.NoError(t, err, way)
}

// A clock is used, and evenly; none runs out. With 300 seconds every turn has enough.
func TestBudget(t *testing.T) {
	// played is a game of so many turns a point by the budget, up to a score: how much it uses, and its shortest turn.
	played := func(clock time.Duration, turns float64, last int) (used, shortest time.Duration) {
		left, done := clock, 0.0
		shortest = clock
		for score := range last {
			for ; done < turns*float64(score+1); done++ {
				b := Budget(score, left)
				require.Positive(t, b)
				require.LessOrEqual(t, b, left/50)
				left, shortest = left-b, min(shortest, b)
			}
		}
		return clock - left, shortest
	}
	for _, seconds := range []int{10, 25, 60, 120} {
		clock := time.Duration(seconds) * time.Second
		used, shortest := played(clock, turnsAPoint, lastScore)
		require.Greater(t, used, clock*6/10, "%d s", seconds)
		require.Greater(t, shortest, min(enough, clock/1500)/3, "%d s", seconds)
	}
	const whole = 300 * time.Second
	_, shortest := played(whole, 2, lastScore)
	require.GreaterOrEqual(t, shortest, enough)
	played(whole-time.Second, 2, 1000) // a game at its slowest: one point in two turns
	require.Zero(t, Budget(600, -time.Second))
	require.Greater(t, Budget(500, whole/2), 3*Budget(0, whole), "a turn that may be the last gets more")
}

// A program's turn: commands that lead somewhere, one write each; no word about what cannot
// be played.
func TestAnswer(t *testing.T) {
	b := NewBeam(&Hand{Classic})
	var s dropblox.State
	s.Reset(1)
	for range 12 {
		p := s.Position()
		var out bytes.Buffer
		require.NoError(t, Answer(b, []string{string(p.AppendJSON(nil)), "3"}, time.Now(), &out))
		commands, foreign := dropblox.ReadOutput(out.String())
		require.Empty(t, foreign)
		taken := s.Taken
		blk := s.Block(0)
		for _, c := range commands {
			require.True(t, c.Carry(&blk, &taken), c)
		}
		s.Play(commands)
	}
	p := s.Position()
	text := string(p.AppendJSON(nil))
	var none bytes.Buffer
	for _, args := range [][]string{{}, {text}, {text, "soon"}, {text, "NaN"}, {"{}", "3"}, {text, "1", "2"}} {
		require.Error(t, Answer(b, args, time.Now(), &none), args)
	}
	for _, seconds := range []string{"0", "-3"} {
		require.NoError(t, Answer(b, []string{text, seconds}, time.Now(), new(bytes.Buffer)), "an answer at once")
	}
	p.Failed = true
	require.NoError(t, Answer(b, []string{string(p.AppendJSON(nil)), "3"}, time.Now(), &none))
	require.Empty(t, none.String())
	// A preview block that is not where blocks appear ends what is known.
	odd := strings.Replace(text, `"center": {"i": 8, "j": 6}`, `"center": {"i": 0, "j": 0}`, 1)
	require.NoError(t, Answer(b, []string{odd, "1"}, time.Now(), new(bytes.Buffer)))
}

// A search of a problem like one before it allocates nothing.
func TestSearchesAllocateNothing(t *testing.T) {
	for _, r := range []Rater{&Hand{Classic}, shippedRater()} {
		beam := NewBeam(r)
		choose := func(p *Problem) {
			at, _, _ := beam.Choose(p, 20, search.Clock{})
			if _, ends := r.(Ender); ends {
				beam.Lookahead(p, at, 16, search.Clock{})
			}
		}
		all := late(t)[:3]
		for range 2 {
			for _, p := range all {
				choose(p)
			}
		}
		for _, p := range all {
			// The mean of two rounds down what the runtime makes for itself.
			require.Zero(t, testing.AllocsPerRun(2, func() { choose(p) }))
		}
	}
}

// middles are problems of a game in progress, every 20th turn.
func middles() (out []*Problem) {
	var s dropblox.State
	s.Reset(4)
	b := NewBeam(&Hand{Classic})
	for !s.Failed && s.Turns < 200 {
		p := Of(&s)
		if s.Turns%20 == 19 {
			out = append(out, p)
		}
		at, _, _ := b.Choose(p, 3, search.Clock{})
		s.Step(env.Alone(0, at.Action()))
	}
	return out
}

// TestLeftmostPlaysTheCommands plays whole games by the agent and by the commands "left": both give the same boards.
func TestLeftmostPlaysTheCommands(t *testing.T) {
	for seed := range uint64(20) {
		var agent, words dropblox.State
		agent.Reset(seed)
		words.Reset(seed)
		for turns := 0; !agent.Failed; turns++ {
			require.Less(t, turns, 100)
			a, err := Leftmost{}.Act(t.Context(), &agent, 0)
			require.NoError(t, err)
			require.Contains(t, agent.Legal(0, nil), a)
			agent.Step(env.Moves{a})
			words.Turn(slices.Repeat([]string{"left"}, dropblox.Cols)...)
			require.Equal(t, words.Taken, agent.Taken, "seed %d, turn %d", seed, turns)
			require.Equal(t, words.Points, agent.Points)
		}
		require.True(t, words.Failed)
	}
}
