package blockingbot

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/blocking"
	"blockyard/env/envtest"
)

// positions calls each with every position of some random games with these seats.
func positions(seats, games int, each func(s *blocking.State)) {
	rng := rand.New(rand.NewPCG(5, uint64(seats)))
	s := blocking.New(seats, 0)
	for g := range games {
		s.Reset(uint64(g))
		for s.Acting() != 0 {
			each(s)
			seat := s.Acting().First()
			legal := s.Legal(seat, nil)
			s.Step(env.Alone(seat, legal[rng.IntN(len(legal))]))
		}
	}
}

// By sides, and by corners as well.
var (
	fourWays  = [][2]int{{1, 0}, {-1, 0}, {0, 1}, {0, -1}}
	eightWays = append([][2]int{{1, 1}, {1, -1}, {-1, 1}, {-1, -1}}, fourWays...)
)

// slowReach floods one cell at a time.
func slowReach(s *blocking.State, seat, far int, ways [][2]int) map[[2]int]int {
	allowed, connected := s.Open(seat)
	found := map[[2]int]int{}
	var queue [][2]int
	for y := range blocking.Size {
		for x := range blocking.Size {
			if connected.Has(x, y) {
				found[[2]int{x, y}] = 0
				queue = append(queue, [2]int{x, y})
			}
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		for _, d := range ways {
			to := [2]int{at[0] + d[0], at[1] + d[1]}
			inside := to[0] >= 0 && to[1] >= 0 && to[0] < blocking.Size && to[1] < blocking.Size
			if _, old := found[to]; inside && !old && found[at] < far && allowed.Has(to[0], to[1]) {
				found[to] = found[at] + 1
				queue = append(queue, to)
			}
		}
	}
	return found
}

// In more than 100,000 positions if BLOCKYARD_LONG is set.
func TestFloodAgreesWithASlowOne(t *testing.T) {
	games, looked := envtest.Many(3, 1500), 0
	var m analysis
	check := func(s *blocking.State) {
		looked++
		reached := make([]map[[2]int]int, s.Seats)
		for seat := range reached {
			m.flood(s, seat)
			if !(s.Out | s.Stuck).Has(seat) {
				reached[seat] = slowReach(s, seat, steps, fourWays)
				m.widen(seat)
				require.Len(t, slowReach(s, seat, blocking.Size*blocking.Size, eightWays), m.sides[seat].ever.Count())
			}
		}
		for seat, own := range reached {
			var within [steps + 1]int
			alone, tied := 0, 0
			for cell, k := range own {
				for far := k; far <= steps; far++ {
					within[far]++
				}
				sooner, level := false, false
				for other := range reached {
					if d, ok := reached[other][cell]; ok && other != seat {
						sooner, level = sooner || d < k, level || d == k
					}
				}
				switch {
				case !sooner && !level:
					alone++
				case !sooner:
					tied++
				}
			}
			for k := range within {
				require.Equal(t, within[k], m.sides[seat].reach[k].Count(), "seat %d within %d", seat, k)
			}
			gotAlone, gotTied := m.first(s, seat)
			require.Equal(t, [2]int{alone, tied}, [2]int{gotAlone, gotTied})
		}
	}
	for seats := 2; seats <= 4; seats++ {
		positions(seats, games, check)
	}
	require.True(t, looked > 100_000 || games == 3, "%d positions", looked)
	t.Logf("%d positions", looked)
}

// One analysis, which keeps what it has found, looks at the positions of games and at all that follow them: more than
// 100,000 if BLOCKYARD_LONG is set.
func TestPlaceAgreesWithTheLegalList(t *testing.T) {
	var m analysis
	games, looked := envtest.Many(1, 20), 0
	var legal []env.Action
	check := func(s *blocking.State) {
		seat := s.Acting().First()
		for i := range int(s.Seats) {
			m.flood(s, i)
			m.place(s, i)
		}
		legal = s.Legal(seat, legal[:0])
		letters, of, cover := uint32(0), [blocking.Letters]uint16{}, blocking.Board{}
		for _, a := range legal {
			o, x, y := s.Table().Placement(a)
			letters |= 1 << o.Letter
			of[o.Letter]++
			for _, c := range o.Cells {
				cover.Set(x+int(c.X), y+int(c.Y))
			}
		}
		d := &m.sides[seat]
		if len(legal) != d.places || letters != d.playable || of != d.of || cover != d.cover {
			require.Fail(t, "another list", "%d places, want %d; letters %b, want %b; cover %v, want %v",
				d.places, len(legal), d.playable, letters, d.cover, cover)
		}
		looked++
	}
	child := blocking.New(2, 0)
	for seats := 2; seats <= 4; seats++ {
		positions(seats, games, func(s *blocking.State) {
			check(s)
			for _, a := range s.Legal(s.Acting().First(), nil) {
				child.CopyFrom(s)
				if child.Step(env.Alone(s.Acting().First(), a)); child.Acting() != 0 {
					check(child)
				}
			}
		})
	}
	require.True(t, looked > 100_000 || games == 1, "%d positions", looked)
}

// What a seat lays is within the cells that it might ever cover, which only become fewer. What it can place beyond some
// cells are its placements that have none of them.
func TestEverAndBeyond(t *testing.T) {
	for seats := 2; seats <= 4; seats++ {
		var m analysis
		var before blocking.State
		var ever, cells [env.MaxSeats]blocking.Board
		private := 0
		positions(seats, 5, func(s *blocking.State) {
			fresh := s.Points == [env.MaxSeats]int16{}
			for i := range seats {
				m.flood(s, i)
				m.place(s, i)
				m.widen(i)
				now := s.Cells[i]
				now.Without(&cells[i])
				now.Or(&m.sides[i].ever)
				now.Without(&ever[i])
				require.True(t, fresh || now.Empty(), "seat %d: %v after %v", i, s, before)
				ever[i], cells[i] = m.sides[i].ever, s.Cells[i]
			}
			before = *s
			seat := s.Acting().First()
			other := &m.sides[(seat+1)%seats]
			for _, not := range []*blocking.Board{&other.cover, &other.ever} {
				want := uint32(0)
				for _, a := range s.Legal(seat, nil) {
					o, x, y := s.Table().Placement(a)
					met := false
					for _, c := range o.Cells {
						met = met || not.Has(x+int(c.X), y+int(c.Y))
					}
					if !met {
						want |= 1 << o.Letter
					}
				}
				require.Equal(t, want, m.beyond(s, seat, not))
				private += bits.OnesCount32(want)
			}
		})
		require.Positive(t, private)
	}
}

// The rival's half is what the rival sees as its own, and back: with two seats both tell the
// same of a side.
func TestHalvesAreTheSameFunction(t *testing.T) {
	var r FeatureReader
	positions(2, 4, func(s *blocking.State) {
		a, b := fill(&r, s, 0), fill(&r, s, 1)
		require.Equal(t, a[:sideLen], b[sideLen:2*sideLen])
		require.Equal(t, a[sideLen:2*sideLen], b[:sideLen])
		for i, v := range a {
			require.True(t, v >= -8 && v <= 8, "%s is %v", FeatureNames[i], v)
		}
	})
}

func TestFeaturesOfAPosition(t *testing.T) {
	s := blocking.New(2, 0)
	s.Force(blocking.Deal(1<<18 - 1)) // A to R
	s.Reset(0)
	s.Step(env.Alone(0, move(t, s, "0 0 R001")))
	s.Step(env.Alone(1, move(t, s, "12 12 R005")))
	x := fill(new(FeatureReader), s, 0)
	for name, want := range map[string]float32{
		"own squares": 5. / 40, "rival squares": 5. / 40, "margin": 0,
		"own pieces": 1.7, "own has R": 0, "own has A": 1, "rival has R": 0, "own has S": 0,
		"own corners": .4, "own largest": 1, "own stuck": 0, "wait": 0, "seats 2": 1, "seats 3": 0,
		"own fits A": 1, "rest squares": 0,
	} {
		require.InDelta(t, want, x[slices.Index(FeatureNames, name)], 1e-6, name)
	}
	require.InDelta(t, .5, fill(new(FeatureReader), s, 1)[slices.Index(FeatureNames, "wait")], 1e-6)
}

// A table with the letters' forms exchanged gives the same features in the same position.
func TestFeaturesKnowFormsNotLetters(t *testing.T) {
	other := func(l int) int { // the letter whose form l has: the first four keep theirs
		if l > 3 {
			l = 4 + blocking.Letters - 1 - l
		}
		return l
	}
	var text strings.Builder
	for l := range blocking.Letters {
		from := blocking.DefaultTable.Shapes[other(l)]
		fmt.Fprintf(&text, "%c %d %d %s\n", 'A'+l, from.Cols, from.Rows, from.Text)
	}
	shapes := envtest.Must(blocking.ReadShapes(strings.NewReader(text.String())))
	id := envtest.Must(blocking.Use(blocking.NewTable(shapes)))
	mirrored := func(set uint32) (out uint32) {
		for l := range blocking.Letters {
			out |= set >> l & 1 << other(l)
		}
		return out
	}
	var r, others FeatureReader
	positions(2, 2, func(s *blocking.State) {
		twin := *s
		twin.TableID, twin.Letters = id, mirrored(s.Letters)
		for i := range int(s.Seats) {
			twin.Left[i] = mirrored(s.Left[i])
		}
		require.Equal(t, fill(&r, s, 0), fill(&others, &twin, 0))
	})
}

func TestPlacer(t *testing.T) {
	for seats := 2; seats <= 4; seats++ {
		last := 0
		positions(seats, 5, func(s *blocking.State) {
			if s.Points != [env.MaxSeats]int16{} { // the game has begun
				require.Equal(t, last, placer(s))
			}
			last = int(s.Turn)
		})
	}
}

// move reads a code.
func move(t testing.TB, s *blocking.State, answer string) env.Action {
	a, ok := s.Judge(int(s.Turn), answer)
	require.True(t, ok, answer)
	return a
}

// fill returns all features of s as seat sees it.
func fill(r *FeatureReader, s *blocking.State, seat int) (out [Len]float32) {
	r.Shared(s, seat, out[OwnLen:])
	r.Own(s, seat, out[:OwnLen])
	return out
}
