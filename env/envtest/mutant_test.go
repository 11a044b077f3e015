package envtest

import (
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/envtest/toy"
)

// A mutant is a toy game with a fault, which is one way to break a promise.
type mutant struct{ toy.State }

// broken is the fault that all mutants have now, "" for none.
var broken string

func mutate(g *env.Game, f string) *env.Game {
	m := *g
	m.New = func(seats int) env.State { return &mutant{State: *g.New(seats).(*toy.State)} }
	switch f {
	case "textTwice":
		m.Text = func(a env.Action) string { return toy.Text(a &^ 1) }
	case "parseAll":
		m.Parse = func(s string) (env.Action, error) {
			if a, err := toy.Parse(s); err == nil {
				return a, nil
			}
			return 0, nil
		}
	case "planeNames":
		m.PlaneNames = m.PlaneNames[:1]
	case "rangesFew":
		m.GlobalRanges = make([]env.Range, m.Globals()-1)
	case "rangesNarrow":
		m.GlobalRanges = slices.Repeat([]env.Range{{High: 0.01}}, m.Globals())
	}
	return &m
}

var (
	remembered uint8
	clock      uint64
	sink       []env.Action
)

func (s *mutant) Reset(seed uint64) {
	remembered = s.Last[0]
	if broken == "resetFewSeeds" {
		seed /= 2
	}
	s.State.Reset(seed)
	if broken == "resetRemembers" {
		s.Last[0] = remembered
	}
}

func (s *mutant) Hide(viewers env.Seats, seed uint64) {
	switch next := s.State.Next; broken {
	case "hideNothing":
	case "hideGeneratorOnly":
		s.State.Hide(viewers, seed)
		s.State.Next = next
	case "hideShows":
		s.State.Hide(viewers, seed)
		s.Card = s.State.Next
	case "hideFromClock":
		clock++
		s.State.Hide(viewers, clock)
		s.Last[viewers.First()] = uint8(clock) % 4
	default:
		s.State.Hide(viewers, seed)
	}
}

func (s *mutant) CopyFrom(src env.State) {
	last := s.Last
	*s = *src.(*mutant)
	if broken == "copyForgets" {
		s.Last = last
	}
}

func (s *mutant) Check() error {
	switch {
	case broken == "checkNothing":
		return nil
	case broken == "checkVague" && s.State.Check() != nil:
		return errors.New("no such card")
	case broken == "checkTooMuch" && s.Played > 3:
		return errors.New("too late in the game")
	}
	return s.State.Check()
}

func (s *mutant) Acting() env.Seats {
	if broken == "neverEnds" {
		return 3
	}
	return s.State.Acting()
}

func (s *mutant) Hash() uint64 {
	points := s.Points
	switch own := *s; broken {
	case "hashSkips":
		s.Card = 0
		defer func() { *s = own }()
	case "hashMixes":
		points[0] &= 1
	}
	h := fnv.New64a()
	fmt.Fprint(h, s.Seats, s.Turns, s.Played, s.Card, s.Next, points, s.Last)
	return h.Sum64()
}

func (s *mutant) Legal(seat int, dst []env.Action) []env.Action {
	n := len(dst)
	switch broken {
	case "legalForgetsDst":
		dst = dst[:0]
	case "legalForAll":
		return append(dst, 0)
	case "legalAllocates":
		sink = make([]env.Action, 1)
	case "legalWrites":
		s.Last[seat] ^= 1
	}
	dst = s.State.Legal(seat, dst)
	switch own := dst[min(n, len(dst)):]; {
	case broken == "legalDescends" && len(own) > 1:
		own[0], own[1] = own[1], own[0]
	case broken == "legalTooMany" && len(own) == 3:
		dst = append(dst, 8, 9)
	}
	return dst
}

func (s *mutant) Step(m env.Moves) {
	next := s.State.Next
	s.State.Step(m)
	switch broken {
	case "drawUnrecorded":
		s.State.Next = 1 + uint8(s.Rand.Next()%3)
	case "drawTooMany":
		for range env.MaxDraws {
			s.Draw(9)
		}
		s.State.Next = 1 + uint8(s.Draw(3))
	case "noneBreaks":
		if m == env.NoMoves {
			s.Card = 0
		}
	case "stepPanics":
		if next == 2 {
			panic("broken rules")
		}
	}
}

func (s *mutant) After(seat int, a env.Action) {
	if broken != "afterStays" {
		s.State.After(seat, a)
	}
}

func (s *mutant) Result(seat int) float32 {
	if broken == "resultEarly" && s.Points[seat] > 3 {
		return 1
	}
	return s.State.Result(seat)
}

func (s *mutant) Observe(seat int, planes []uint8, globals []float32) {
	keep, kept := planes[5], globals[1]
	s.State.Observe(seat, planes, globals)
	switch broken {
	case "observeSkips":
		planes[5] = keep
	case "observeSkipsGlobal":
		globals[1] = kept
	case "observeTooHigh":
		planes[5] = 4
	case "observeNaN":
		globals[1] = float32(math.NaN())
	}
}

func (s *mutant) Show(f *env.Frame) {
	s.State.Show(f)
	switch b := &f.Boards[0]; broken {
	case "showBlank":
		b.Cells[0].Kind = 99
	case "showGhost":
		b.Set(0, 0, env.Cell{Kind: env.CellGhost, Letter: 'A', Ink: 1})
	case "showColourless":
		b.Set(0, 0, env.Cell{Kind: env.CellPiece, Letter: 'A'})
	}
}

// mutants says which promise notices which fault, and what it says.
var mutants = []struct {
	fault   string
	game    *env.Game
	promise string
	says    string
}{
	{"legalDescends", toy.Pick, "legal moves", "do not ascend"},
	{"legalForAll", toy.Turns, "legal moves", "acting: false"},
	{"legalForgetsDst", toy.Pick, "legal moves", "does not append"},
	{"legalTooMany", toy.Pick, "legal moves", "MaxLegal is 3"},
	{"legalWrites", toy.Pick, "looking changes nothing", "looking changes the state"},
	{"legalWrites", toy.Pick, "illegal input", "changed the state"},
	{"legalAllocates", toy.Pick, "no allocation", "allocates"},
	{"hideNothing", toy.Pick, "hidden information", "never changes what comes"},
	{"hideNothing", toy.Turns, "nothing leaks", "shows through Hide"},
	{"hideGeneratorOnly", toy.Pick, "nothing leaks", "draw 0, unseen by seat 0"},
	{"hideShows", toy.Pick, "hidden information", "Hide changes the planes of seat 0"},
	{"hideFromClock", toy.Pick, "hidden information", "hiding twice from one seed"},
	{"observeSkips", toy.Pick, "observation", "plane element 5 unwritten"},
	{"observeSkipsGlobal", toy.Pick, "observation", `global "best other points" unwritten`},
	{"observeTooHigh", toy.Pick, "observation", "PlaneMax 3"},
	{"observeNaN", toy.Pick, "observation", "is NaN"},
	{"resultEarly", toy.Pick, "result", "the game goes on"},
	{"drawUnrecorded", toy.Pick, "forced draws", "ply 2: with draws forced, another game differs"},
	{"drawTooMany", toy.Pick, "forced draws", "were forced, ["},
	{"copyForgets", toy.Pick, "copies", "a copy in a new state is not equal"},
	{"copyForgets", toy.Pick, "bytes", "a decoded state is not equal"},
	{"resetRemembers", toy.Pick, "determinism", "ply 0: played twice, the game differs"},
	{"resetFewSeeds", toy.Pick, "seeds", "64 seeds give 33 different games, want at least 60"},
	{"checkNothing", toy.Pick, "foreign bytes", "decoded from"},
	{"checkNothing", toy.Pick, "counts", "State.Seats is 64 instead of 2, and Check accepts it"},
	{"checkVague", toy.Pick, "foreign bytes", "does not name a field"},
	{"checkTooMuch", toy.Pick, "step and check", "too late"},
	{"noneBreaks", toy.Turns, "step and check", "Card is 0, want 1 to 3"},
	{"neverEnds", toy.Pick, "copies", "goes on after"},
	{"stepPanics", toy.Pick, "result", "panic: broken rules"},
	{"hashSkips", toy.Pick, "hashes", "Card does not change the hash"},
	{"hashMixes", toy.Pick, "hashes", "positions have the same hash"},
	{"afterStays", toy.Turns, "afterstates", "is not Step"},
	{"showBlank", toy.Pick, "frames", `a cell of kind 99`},
	{"showGhost", toy.Pick, "frames", `a ghost of A without its piece`},
	{"showColourless", toy.Pick, "frames", `letter 'A' and ink 0`},
	{"textTwice", toy.Pick, "action text", "actions 0 and 1 are both"},
	{"parseAll", toy.Pick, "action text", "want an error"},
	{"planeNames", toy.Pick, "facts", "with 1 names"},
	{"rangesFew", toy.Pick, "facts", "2 ranges of 3 globals"},
	{"rangesNarrow", toy.Pick, "observation", "its range"},
}

// TestMutants breaks one promise at a time and requires the suite to notice.
func TestMutants(t *testing.T) {
	byName := map[string]promise{}
	for _, p := range promises {
		byName[p.name] = p
	}
	unbroken := maps.Clone(byName)
	for _, c := range mutants {
		p := byName[c.promise]
		t.Run(c.promise+": "+c.says, func(t *testing.T) {
			run := func(f string) error {
				broken = f
				g := mutate(c.game, f)
				return guard(func() error { return p.check(g, g.MinSeats, 1) })
			}
			require.NoError(t, run(""))
			require.ErrorContains(t, run(c.fault), c.says)
		})
		delete(unbroken, c.promise)
	}
	require.Equal(t, []string{"flat state"}, slices.Collect(maps.Keys(unbroken)), "TestFlatRefusesReferences breaks it")
}

// A shared state has what a flat one must not.
type sharedState struct {
	toy.State
	Seen []uint8
}

func TestFlatRefusesReferences(t *testing.T) {
	for _, c := range []struct {
		s    env.State
		says string
	}{
		{&sharedState{}, "sharedState.Seen is a []uint8"},
		{&struct {
			toy.State
			N int
		}{}, ".N is a int"},
		{&struct {
			toy.State
			n int32
		}{}, ".n is not exported"},
		{&struct {
			toy.State
			Deep [2]struct{ Name string }
		}{}, ".Deep[].Name is a string"},
	} {
		g := &env.Game{New: func(int) env.State { return c.s }}
		require.ErrorContains(t, flat(g, 2, 1), c.says)
	}
}

func TestPlaythroughDifference(t *testing.T) {
	require.Empty(t, firstDifference("a\nb", "a\nb"))
	require.Equal(t, `line 2: recorded "b", played "c"`, firstDifference("a\nb", "a\nc"))
	require.Contains(t, firstDifference("a", "a\nb"), "line 2: recorded game ends")
	require.Contains(t, firstDifference("a\nb", "a"), "line 2: the game ends")
	require.Equal(t, transcript(toy.Turns), transcript(toy.Turns))
	require.NotEqual(t, transcript(toy.Pick), transcript(toy.Turns))
}
