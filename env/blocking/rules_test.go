package blocking

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/envtest"
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

func (s *State) copied() *State { c := *s; return &c }

func TestWrongAnswers(t *testing.T) {
	for _, answer := range []string{
		"", "0 0", "0 0 A401", "0 0 A002", "0 0 A000", "0 0 V001",
		"1 0 A001", "-1 0 A001", "0 13 A001", "0x0 0 A001", "000 0 A001",
	} {
		_, legal := fresh(2).Judge(0, answer)
		require.False(t, legal, answer)
	}
	_, legal := fresh(2).Judge(0, " 0  0 A111\r")
	require.True(t, legal, "blanks, and another code of the same cells")
}

// A game is decided early unless it is played out, and then ends no earlier and not otherwise.
func TestEarlyEnd(t *testing.T) {
	decided := 0
	play(t, 0, 1500, func(s *State, seat int, legal []env.Action) {
		next, long := s.copied(), s.copied()
		env.After(next, seat, legal[0])
		if next.Reason != Decided {
			return
		}
		decided++
		long.PlayOut = true
		for a := legal[0]; ; a = long.Legal(seat, nil)[0] {
			env.After(long, seat, a)
			if long.Acting() == 0 {
				break
			}
			seat = long.Acting().First()
		}
		require.Equal(t, Blocked, long.Reason)
		for i := range int(s.Seats) {
			require.GreaterOrEqual(t, long.Score(i), next.Score(i))
			if next.Rank(i) == 1 {
				require.Equal(t, next.Result(i), long.Result(i))
			}
		}
	})
	require.Positive(t, decided)
}

// TestRulesShapes compares the table of shapes in RULES.md. The openings are as many in every corner.
func TestRulesShapes(t *testing.T) {
	var forms [Letters]int
	for _, o := range DefaultTable.Oriented {
		forms[o.Letter]++
	}
	openings := func(seats, seat int) (n [Letters]int) {
		s := fresh(seats)
		s.Turn = uint8(seat)
		for _, c := range s.List(seat) {
			n[c.L]++
		}
		return n
	}
	all := openings(2, 0)
	for seats, seat := range map[int]int{2: 1, 4: 3, 3: 2} {
		require.Equal(t, all, openings(seats, seat))
	}
	for seat := range 2 { // of three, who begin with A to D
		require.Equal(t, [Letters]int{all[0], all[1], all[2], all[3]}, openings(3, seat))
	}
	rows := rulebook.Open(t, ".").Table(t, "shapes")
	require.Len(t, rows, Letters)
	for l, row := range rows {
		s := &DefaultTable.Shapes[l]
		require.Equal(t, map[string]string{
			"letter": LetterText(1 << l), "squares": fmt.Sprint(len(s.Squares)), "cols": fmt.Sprint(s.Cols),
			"rows": fmt.Sprint(s.Rows), "text": s.Text, "different forms": fmt.Sprint(forms[l]),
			"different openings": fmt.Sprint(all[l]),
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
		seats := rulebook.Number(t, row["players"])
		text := map[int]string{2: "ABCDEFGIJKLNOQRSTU", 3: "ABCDEFGHIJKLM", 4: "ABCDEFGHIJ"}[seats]
		letters, s := envtest.Must(ParseLetters(text, seats)), New(seats, 0)
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
		var scores, ranks []int
		for seat := range seats {
			scores, ranks = append(scores, s.Score(seat)), append(ranks, s.Rank(seat))
			won := 0
			for other := range seats {
				won += cmp.Compare(s.Score(seat), s.Score(other))
			}
			require.Equal(t, float32(won)/float32(seats-1), s.Result(seat))
		}
		require.Equal(t, fmt.Sprintf("%s [%s] [%s] %s", row["turns"], row["scores"], row["ranks"], row["end"]),
			fmt.Sprint(turns, scores, ranks, s.Reason), "%v", row)
	}
}

// upsideDown is the default table with every shape drawn from the bottom row up and the
// letters in the opposite order but for A to D.
func upsideDown() *Table {
	var text strings.Builder
	for l := Letters - 1; l >= 0; l-- {
		from := DefaultTable.Shapes[l]
		if l > 3 {
			from = DefaultTable.Shapes[4+Letters-1-l]
		}
		rows := ""
		for y := from.Rows - 1; y >= 0; y-- {
			rows += from.Text[y*from.Cols : (y+1)*from.Cols]
		}
		fmt.Fprintf(&text, "%c %d %d %s\n\n", 'A'+l, from.Cols, from.Rows, rows)
	}
	return NewTable(envtest.Must(ReadShapes(strings.NewReader(text.String()))))
}

func TestAnotherTable(t *testing.T) {
	other := upsideDown()
	g, again := envtest.Must(With(other)), envtest.Must(Use(upsideDown()))
	require.Equal(t, g.New(2).(*State).TableID, again, "equal definitions are one table")
	require.Zero(t, envtest.Must(Use(DefaultTable)))
	require.Equal(t, DefaultTable.Actions, other.Actions, "the same forms, numbered otherwise")
	play(t, again, 50, func(s *State, seat int, legal []env.Action) {
		require.Equal(t, slowLegal(s, seat), legal)
		for _, a := range legal {
			require.Equal(t, a, envtest.Must(g.Parse(g.Text(a))), g.Text(a))
		}
	})
	require.NotEqual(t, Game.Text(4000), g.Text(4000))
}

func TestReadShapesRefuses(t *testing.T) {
	line := func(i int, with string) string {
		lines := strings.Split(defaultShapes, "\n")
		lines[i] = with
		return strings.Join(lines, "\n")
	}
	for text, want := range map[string]string{
		"":                                 "0 of 21",
		line(20, ""):                       "20 of 21",
		line(2, "A 1 1 #"):                 "line 3: A is defined twice",
		line(1, "B 2 1 #"):                 "line 2: B: 2 x 1",
		line(1, "B 2 1 #?"):                `'?'`,
		line(1, "B 2 1 .."):                "0 squares",
		line(1, "B 3 2 ######"):            "6 squares",
		line(1, "B 3 1 #.#"):               "not connected",
		line(1, "V 1 1 #"):                 `no letter "V"`,
		line(1, "b 1 1 #"):                 `no letter "b"`,
		line(1, "B one 1 #"):               "want letter cols rows string",
		line(1, "B 99999999999999 1 #"):    "do not agree",
		line(1, "B 0 0 #"):                 "0 x 0",
		line(1, "B 14 1 #............."):   "14 x 1",
		strings.Repeat("x", 200000) + "\n": "shapes",
	} {
		require.ErrorContains(t, envtest.Failed(ReadShapes(strings.NewReader(text))), want)
	}
}

func FuzzReadShapes(f *testing.F) {
	f.Add(defaultShapes)
	f.Add("A 1 1 #\n")
	f.Fuzz(func(t *testing.T, text string) {
		shapes, err := ReadShapes(strings.NewReader(text))
		if err != nil {
			return
		}
		table := NewTable(shapes)
		for i := range table.Oriented {
			o := &table.Oriented[i]
			require.LessOrEqual(t, o.W+o.H, 6)
			require.Less(t, int(o.Base), table.Actions)
		}
	})
}

func FuzzParseCode(f *testing.F) {
	f.Add("0 0 A001")
	f.Add("12 12 Q133")
	f.Fuzz(func(t *testing.T, line string) {
		c, err := DefaultTable.ParseCode(line)
		if err != nil {
			return
		}
		again := envtest.Must(DefaultTable.ParseCode(c.String()))
		require.Equal(t, c, again)
		if a := DefaultTable.Action(c); a != env.None {
			require.Less(t, int(a), DefaultTable.Actions)
		}
	})
}
