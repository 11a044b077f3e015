package blockbattle

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/env/envtest/picture"
	"blockyard/env/envtest/rulebook"
	"blockyard/env/falling"
)

// drawn makes a position from the lowest rows of the first side.
func drawn(t *testing.T, piece, picture string) *State {
	s := &State{Rules: Document, Winner: Nobody, Round: 1, Piece: uint8(strings.Index(Letters, piece))}
	s.Sides[0] = side(t, picture)
	require.NoError(t, s.Check())
	return s
}

// side makes a side from its lowest rows, as RULES.md draws boards: '#' block, '=' solid, '.' empty.
func side(t *testing.T, picture string) (d Side) {
	rulebook.Board(t, picture, Width, func(x, up int, c byte) {
		if c == '=' {
			d.Solid = max(d.Solid, uint8(up+1))
		} else {
			d.Cells.Set(x, Height-1-up)
		}
	})
	return d
}

// TestRulesExamples plays the worked examples of RULES.md, and wants one of them for every entry of its
// table of points.
func TestRulesExamples(t *testing.T) {
	book := rulebook.Open(t, ".")
	points, seen := map[string]string{}, map[string]bool{} // by rows, with " spin" after a T-spin
	for _, row := range book.Table(t, "points") {
		points[row["rows cleared at once"]] = row["points"]
		points[row["rows cleared at once"]+" spin"] = row["points with a T-spin"]
	}
	for _, row := range book.Table(t, "examples") {
		t.Run(row["case"], func(t *testing.T) {
			s := drawn(t, row["piece"], row["board"])
			d := &s.Sides[0]
			envtest.Must(fmt.Sscan(row["P c s"], &d.Points, &d.Combo, &d.Skips))
			land, end, rep := play(t, s, row["answer"])
			after := &end.Sides[0]
			require.Equal(t, row["rows"], fmt.Sprint(rep.Sides[0].Rows), "rows")
			require.Equal(t, row["gain"], fmt.Sprint(rep.Sides[0].Gain), "gain")
			require.Equal(t, row["P c s after"], fmt.Sprint(after.Points, after.Combo, after.Skips))
			require.Equal(t, row["garbage sent"], fmt.Sprint(rep.Sides[0].Lines), "garbage rows")
			require.Empty(t, rep.Losses)

			entry := row["rows"]
			if land.TSpin {
				entry += " spin"
			}
			if d.Combo == 0 && !rep.Sides[0].Cleared {
				want := row["gain"]
				if after.Skips > d.Skips {
					want += " and a skip"
				}
				require.Equal(t, points[entry], want, "the table of points")
			}
			require.Contains(t, points, entry)
			seen[entry] = true
		})
	}
	for entry, text := range points {
		require.True(t, seen[entry] || text == "impossible", "no example shows %s", entry)
	}
}

// TestRulesAnswers reads the answers of RULES.md.
func TestRulesAnswers(t *testing.T) {
	for _, row := range rulebook.Open(t, ".").Table(t, "answers") {
		tokens, _ := ParseAnswer(row["answer"], nil)
		require.Equal(t, "["+row["tokens"]+"]", fmt.Sprint(tokens), "answer %q", row["answer"])
	}
}

// TestRulesBoxes reads the boxes of RULES.md.
func TestRulesBoxes(t *testing.T) {
	rows := rulebook.Open(t, ".").Table(t, "boxes")
	require.Len(t, rows, len(Letters))
	for piece, row := range rows {
		require.Equal(t, Letters[piece:piece+1], row["piece"])
		side, list := Box(piece, 0)
		box := picture.Draw(side, side, func(x, y int) byte {
			if slices.Contains(list, falling.Cell{X: int8(x), Y: int8(y)}) {
				return '#'
			}
			return '.'
		})
		require.Equal(t, strings.Join(box, " "), row["box in orientation 0"])
	}
}

// TestExampleExchange plays a round that was computed by hand.
func TestExampleExchange(t *testing.T) {
	s := &State{Rules: Document, Winner: Nobody, Round: 23, Piece: T, Next: I}
	s.Sides[0] = side(t, "......#... ####...### #####.#### ==========")
	s.Sides[1] = side(t, "#......... ##........ ###...##.. ==========")
	s.Sides[0].Points, s.Sides[0].Combo = 4, 1
	s.Sides[1].Points, s.Sides[1].Skips = 9, 1
	require.NoError(t, s.Check())
	answers := []string{"turnleft,right," + strings.Repeat("down,", 17) + "turnleft", "right,right,right,right,drop"}
	play := func(s *State, first string) Report {
		var lands [2]Landing
		for i, line := range []string{first, answers[1]} {
			tokens, odd := ParseAnswer(line, nil)
			require.Empty(t, odd)
			lands[i], _ = Execute(&s.Sides[i], int(s.Piece), tokens, s.Rules)
		}
		s.Force([]uint16{2, 4, 5, 0, 8, 4, O}) // holes 2+7, 5, 0+9, 4, then the piece
		var rep Report
		s.Play(&lands, &rep)
		return rep
	}
	spin := *s
	rep := play(&spin, answers[0])
	require.Equal(t, SideReport{Locked: rep.Sides[0].Locked, Rows: 2, Gain: 11, Lines: 4,
		Holes: []uint16{1<<2 | 1<<7, 1 << 5, 1 | 1<<9, 1 << 4}}, rep.Sides[0])
	require.Equal(t, side(t, "......#... ==========").Cells, spin.Sides[0].Cells)
	require.Equal(t, spin.Sides[1].Cells, side(t,
		"#.......#. ##.....### ###...##.. ####.##### .########. #####.#### ##.####.## ==========").Cells)
	require.Equal(t, [3]int32{15, 2, 1}, [3]int32{spin.Sides[0].Points, spin.Sides[0].Combo, spin.Sides[0].Skips})
	require.Equal(t, [4]any{int32(24), uint8(I), uint8(O), false}, [4]any{spin.Round, spin.Piece, spin.Next, spin.Over})

	// There and back is a plain single by the document, a T-spin by the classic engine.
	for rules, gain := range map[Rules]int{Document: 1, Classic: 6} {
		back := *s
		back.Rules = rules
		require.Equal(t, gain, play(&back, answers[0]+",turnright").Sides[0].Gain)
	}
	right := *s
	require.Equal(t, 6, play(&right, answers[0]+",turnleft").Sides[0].Gain)
}

func TestObserveAgainstCells(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	planes, globals := make([]uint8, Game.Planes.Len()), make([]float32, Game.Globals())
	glyphs := map[uint8]byte{CellEmpty: '.', CellBlock: '#', CellSolid: '='}
	for range 300 {
		s := randomState(r, Document)
		for seat := range s.Sides {
			s.Observe(seat, planes, globals)
			var got strings.Builder
			for _, cell := range planes {
				got.WriteByte(glyphs[cell])
			}
			both := slices.Concat(board(&s.Sides[seat], 0), board(&s.Sides[1-seat], 0))
			require.Equal(t, strings.Join(both, ""), got.String())
		}
	}
}

// TestAfterIsStepForOne compares an afterstate with the step in which the opponent throws
// its piece away, where no garbage or solid row mixes in.
func TestAfterIsStepForOne(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for i := range 2000 {
		s := randomState(r, []Rules{Document, Classic, Port}[i%3])
		s.Sides[1].Skips = 1
		if s.Sides[1].Cells.Any() == 0 {
			continue // what the other side earns without a move would come over
		}
		if i%7 == 0 {
			s.Sides[0].Cells, s.Sides[0].Skips = falling.Field{}, 1
		}
		for _, a := range s.Legal(0, nil) {
			after, step := *s, *s
			after.After(0, a)
			step.Step(env.Moves{a, SkipAction, env.None, env.None})
			me, full := &after.Sides[0], &step.Sides[0]
			require.Equal(t, full.Cells, me.Cells)
			require.Equal(t, [4]int32{full.Points, full.Combo, full.Skips, int32(full.Solid)},
				[4]int32{me.Points, me.Combo, me.Skips, int32(me.Solid)})
			if step.Sides[1].Lost == NotLost {
				require.Equal(t, step.Over, after.Over)
				require.Equal(t, step.Result(0), after.Result(0))
			}
			require.Equal(t, s.Sides[1].Cells, after.Sides[1].Cells)
		}
	}
}

func TestMoreGarbageThanRows(t *testing.T) {
	s := drawn(t, "I", "#########. #########.")
	s.Round, s.Sides[0].Combo = 41, 40
	s.Sides[1].Solid = 17
	require.NoError(t, s.Check())
	s.Step(env.Moves{action(0, 1, 9, 19), action(0, 0, 0, 2), env.None, env.None})
	require.True(t, s.Over)
	require.Equal(t, LostGarbage, s.Sides[1].Lost)
	require.Equal(t, float32(1), s.Result(0))
	require.NoError(t, s.Check())
}

// No game reaches counts that grow faster than its rounds, or more rounds than solid rows leave room for.
func TestCountsThatNoGameReaches(t *testing.T) {
	const rounds = SolidInterval * (Height + 1)
	for field, change := range map[string]func(*State){
		"Round":           func(s *State) { s.Round = rounds + 1 },
		"Sides[0].Combo":  func(s *State) { s.Sides[0].Combo = 1 << 30 },
		"Sides[1].Skips":  func(s *State) { s.Sides[1].Skips = s.Round + 1 },
		"Sides[1].Points": func(s *State) { s.Sides[1].Points = 1 << 30 },
	} {
		s := drawn(t, "I", "#########.")
		change(s)
		require.ErrorContains(t, s.Check(), field)
	}
}
