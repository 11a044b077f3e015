package blocking

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/envtest"
)

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
		_, err := ReadShapes(strings.NewReader(text))
		require.ErrorContains(t, err, want)
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
		again, err := DefaultTable.ParseCode(c.String())
		require.NoError(t, err)
		require.Equal(t, c, again)
		if a := DefaultTable.Action(c); a != env.None {
			require.Less(t, int(a), DefaultTable.Actions)
		}
	})
}
