package blocking

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/envtest/rulebook"
)

// fresh is a game that has all definitions of the table of rules §3.1.
func fresh(seats int) *State {
	s := New(seats, 0)
	s.Letters = 1<<Letters - 1
	for i := range seats {
		s.Left[i] = s.Letters
	}
	return s
}

// accepts reports whether an answer is legal for the seat to move (rules §4.3).
func accepts(s *State, answer string) bool {
	c, err := s.Table().ParseCode(answer)
	if err != nil || !s.Anchored(int(s.Turn), c) {
		return false
	}
	a := s.Table().Action(c)
	return a != env.None && env.Apply(Game, s.copied(), env.Alone(int(s.Turn), a)) == nil
}

func (s *State) copied() *State { c := *s; return &c }

// after is s after the seat to move has answered.
func after(t *testing.T, s *State, answer string) *State {
	c, err := s.Table().ParseCode(answer)
	require.NoError(t, err)
	n := s.copied()
	require.NoError(t, env.Apply(Game, n, env.Alone(int(s.Turn), s.Table().Action(c))))
	return n
}

func TestOpeningsOfQ(t *testing.T) {
	s := fresh(2)
	var got []string
	for f := range 2 {
		for r := range 4 {
			for n := 1; n <= 5; n++ {
				if code := fmt.Sprintf("Q%d%d%d", f, r, n); accepts(s, "0 0 "+code) {
					got = append(got, code)
				}
			}
		}
	}
	require.Equal(t, []string{"Q001", "Q033", "Q101", "Q113"}, got)
	require.Equal(t, after(t, s, "0 0 Q001"), after(t, s, "0 0 Q113"))
	require.Equal(t, after(t, s, "0 0 Q033"), after(t, s, "0 0 Q101"))
	var listed []string
	for _, c := range s.List(0) {
		if c.L == 'Q'-'A' {
			listed = append(listed, c.String())
		}
	}
	require.Equal(t, []string{"0 0 Q001", "0 0 Q033"}, listed)
}

func TestOpenings(t *testing.T) {
	want := []int{1, 2, 2, 3, 2, 6, 2, 1, 2, 2, 6, 4, 6, 4, 4, 3, 2, 2, 2, 2, 0} // different openings, rules §3.1
	for seats, seat := range map[int]int{2: 1, 4: 3, 3: 2} {
		s := fresh(seats)
		s.Turn = uint8(seat)
		got := make([]int, Letters)
		for _, c := range s.List(seat) {
			got[c.L]++
		}
		require.Equal(t, want, got)
	}
	three := fresh(3)
	require.Len(t, three.List(0), 8)
	three.Turn = 1
	require.Len(t, three.List(1), 8)
}

func TestWrongAnswers(t *testing.T) {
	s := fresh(2)
	for _, answer := range []string{
		"0 0 A002", "0 0 A401", "1 0 A001", "0 0 Q002", "0 0 U001", "0 0 A0011", "PASS",
		"", "0 0", "0 0 A001 x", "-1 0 A001", "0 13 A001", "+0 0 A001", "0x0 0 A001", "000 0 A001",
		"0 0 a001", "0 0 V001", "0 0 A041", "0 0 A000",
	} {
		require.False(t, accepts(s, answer), answer)
	}
	require.True(t, accepts(s, "0 0 A001"))
	require.True(t, accepts(s, " 0  0 A111\r"), "blanks, and another code of the same cells")
}

// The eight states of Q (rules §3.3), and of two more letters, as rows of square numbers.
func TestOrientations(t *testing.T) {
	for form, want := range map[string]string{
		"Q00": "123 .4. .5.", "Q01": "..1 542 ..3", "Q02": ".5. .4. 321", "Q03": "3.. 245 1..",
		"Q10": "1.. 245 3..", "Q11": "321 .4. .5.", "Q12": "..3 542 ..1", "Q13": ".5. .4. 123",
		"F00": "123 4..", "F01": "41 .2 .3", "F02": "..4 321", "F03": "3. 2. 14",
		"F10": "14 2. 3.", "F11": "321 ..4", "F12": ".3 .2 41", "F13": "4.. 123",
		"T00": "12. .34 .5.", "T01": "..1 532 .4.", "T02": ".5. 43. .21", "T03": ".4. 235 1..",
		"T10": "1.. 235 .4.", "T11": ".21 43. .5.", "T12": ".4. 532 ..1", "T13": ".5. .34 12.",
	} {
		shape := &DefaultTable.Shapes[form[0]-'A']
		squares, w, h := shape.turned(int(form[1]-'0'), int(form[2]-'0'))
		rows := make([]string, h)
		for y := range rows {
			rows[y] = strings.Repeat(".", w)
		}
		for n, c := range squares {
			rows[c.Y] = rows[c.Y][:c.X] + string(rune('1'+n)) + rows[c.Y][c.X+1:]
		}
		require.Equal(t, want, strings.Join(rows, " "), form)
	}
}

// fault has the seat to move answer nothing that counts.
func TestFaults(t *testing.T) {
	two := New(2, 0)
	two.Step(env.NoMoves)
	require.Equal(t, Elimination, two.Reason)
	require.Equal(t, []int{-1, 0}, []int{two.Score(0), two.Score(1)})
	require.Equal(t, []float32{-1, 1}, []float32{two.Result(0), two.Result(1)})

	four := New(4, 0)
	four = after(t, four, "0 0 A001")
	four.Step(env.NoMoves)
	require.Equal(t, Running, four.Reason)
	require.EqualValues(t, 2, four.Turn)
	four.Step(env.NoMoves)
	four.Step(env.NoMoves)
	require.Equal(t, Elimination, four.Reason)
	require.Equal(t, []int{1, -1, -1, -1}, []int{four.Score(0), four.Score(1), four.Score(2), four.Score(3)})
	require.Equal(t, []float32{1, -1. / 3, -1. / 3, -1. / 3},
		[]float32{four.Result(0), four.Result(1), four.Result(2), four.Result(3)})
}

// A game is decided early unless it is played out, and then ends no earlier and not otherwise.
func TestEarlyEnd(t *testing.T) {
	decided := 0
	play(t, 0, 1500, func(s *State, seat int, legal []env.Action) {
		next := s.copied()
		env.After(next, seat, legal[0])
		if next.Reason != Decided {
			return
		}
		decided++
		s.PlayOut = true
		long := s.copied()
		s.PlayOut = false
		env.After(long, seat, legal[0])
		for long.Acting() != 0 {
			seat := long.Acting().First()
			env.After(long, seat, long.Legal(seat, nil)[0])
		}
		require.Equal(t, Blocked, long.Reason)
		for i := range int(s.Seats) {
			require.GreaterOrEqual(t, long.Score(i), next.Score(i))
		}
		require.Equal(t, next.Result(seatAhead(next)), long.Result(seatAhead(next)))
	})
	require.Positive(t, decided)
}

func seatAhead(s *State) int {
	best := 0
	for i := range int(s.Seats) {
		if s.Score(i) > s.Score(best) {
			best = i
		}
	}
	return best
}

// TestRulesShapes compares the table of shapes in RULES.md.
func TestRulesShapes(t *testing.T) {
	forms, openings := make([]int, Letters), make([]int, Letters)
	for _, o := range DefaultTable.Oriented {
		forms[o.Letter]++
	}
	for _, c := range fresh(2).List(0) {
		openings[c.L]++
	}
	rows := rulebook.Open(t, ".").Table(t, "shapes")
	require.Len(t, rows, Letters)
	for l, row := range rows {
		s := &DefaultTable.Shapes[l]
		require.Equal(t, map[string]string{
			"letter": LetterText(1 << l), "squares": fmt.Sprint(len(s.Squares)), "cols": fmt.Sprint(s.Cols),
			"rows": fmt.Sprint(s.Rows), "text": s.Text, "different forms": fmt.Sprint(forms[l]),
			"different openings": fmt.Sprint(openings[l]),
		}, row)
	}
}

// TestRulesAnswers judges the answers in RULES.md.
func TestRulesAnswers(t *testing.T) {
	cells := map[string]*State{}
	for _, row := range rulebook.Open(t, ".").Table(t, "answers") {
		answer := row["first answer of player 0"]
		a, legal := fresh(2).Judge(0, answer)
		require.Equal(t, row["legal"], map[bool]string{true: "yes", false: "no"}[legal], answer)
		if !legal {
			continue
		}
		cells[answer] = fresh(2)
		cells[answer].Step(env.Alone(0, a))
		if same, ok := strings.CutPrefix(row["why"], "the same cells as "); ok {
			require.Equal(t, cells["0 0 "+same].Cells, cells[answer].Cells)
		}
	}
}

// TestRulesExamples plays the games of RULES.md.
func TestRulesExamples(t *testing.T) {
	for _, row := range rulebook.Open(t, ".").Table(t, "examples") {
		var seats int
		_, err := fmt.Sscan(row["players"], &seats)
		require.NoError(t, err)
		letters, err := ParseLetters("ABCDEFGIJKLNOQRSTU", 2)
		if seats > 2 {
			letters, err = ParseLetters("ABCDEFGHIJKLM"[:drawn[seats]+4], seats)
		}
		require.NoError(t, err)
		s := New(seats, 0)
		s.Force(Deal(letters))
		s.Reset(0)
		require.Equal(t, letters, s.Letters)
		s.PlayOut = row["early end"] == "off"
		answers, turns := strings.Split(row["answers in turn"], ", "), 0
		for s.Reason == Running {
			require.NotEmpty(t, answers, "%v: the game goes on", row)
			seat, answer := int(s.Turn), answers[0]
			if answer == "first" {
				answer = s.List(seat)[0].String()
			} else {
				answers = answers[1:]
			}
			a, legal := s.Judge(seat, answer)
			require.Equal(t, answer != "none", legal, answer)
			s.Step(env.Alone(seat, a))
			turns++
		}
		var scores, ranks []string
		for seat := range seats {
			scores, ranks = append(scores, fmt.Sprint(s.Score(seat))), append(ranks, fmt.Sprint(s.Rank(seat)))
		}
		require.Equal(t, []string{row["turns"], row["scores"], row["ranks"], row["end"]},
			[]string{fmt.Sprint(turns), strings.Join(scores, " "), strings.Join(ranks, " "), s.Reason.String()}, "%v", row)
	}
}
