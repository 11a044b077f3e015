package rulebook

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const text = `# A game

## 1. Board

Cells.

### 1.1 Corners

Four.

<!-- points -->
| rows | points |
|---|---|
| ` + "`1`" + ` | 10 |

## 2. Pieces

<!-- talk -->
` + "```" + `
host: a
bot (12 ms): b
` + "```" + `
`

func TestBook(t *testing.T) {
	b := Parse("RULES.md", text)
	require.Len(t, b.Sections, 3)
	require.Equal(t, "Corners", b.Section("1.1").Title)
	require.Contains(t, b.Section("1").Text, "Four.")
	require.NotContains(t, b.Section("1").Text, "Pieces")
	require.Nil(t, b.Section("1.2"))
	require.Equal(t, []map[string]string{{"rows": "1", "points": "10"}}, b.Table(t, "points"))
	require.Equal(t, [][]string{{"host: a", "bot (12 ms): b"}}, b.Blocks(t, "talk"))
	require.Equal(t, []string{"left", "down", "down"}, Words(t, "left down*2"))
	var cells []string
	Board(t, "#. .=", 2, func(x, up int, c byte) { cells = append(cells, fmt.Sprint(x, up, string(c))) })
	require.Equal(t, []string{"0 1#", "1 0="}, cells)
}

func TestDialogue(t *testing.T) {
	lines := Dialogue(t, []string{"host: one", "host: two…", "host: …", "host: four", "bot (12 ms): b", "host: end"})
	require.Equal(t, Line{true, "b", 12 * time.Millisecond}, lines[4])
	ended := false
	s := Script{T: t, Lines: lines, Late: errors.New("late"), End: func() { ended = true }}
	answer, _, elapsed, err := s.Ask(t.Context(), []string{"one", "two and more", "three", "four"}, time.Second)
	require.NoError(t, err)
	require.Equal(t, "b", answer)
	require.Equal(t, 12*time.Millisecond, elapsed)
	_, _, _, err = s.Ask(t.Context(), []string{"end"}, time.Second)
	require.ErrorIs(t, err, context.Canceled)
	require.True(t, ended)
	s.Lines = lines
	_, _, elapsed, err = s.Ask(t.Context(), []string{"one", "two and more", "three", "four"}, time.Millisecond)
	require.ErrorIs(t, err, s.Late)
	require.Equal(t, time.Millisecond, elapsed)
	for _, c := range []struct {
		sent []string
		want string
	}{
		{[]string{"one", "two", "four"}, ""},
		{[]string{"one", "too", "four"}, `the rules have "two…", the host sends "too"`},
		{[]string{"one", "two", "three"}, "no line after … agrees"},
		{[]string{"one"}, `the host does not send "two…"`},
		{[]string{"one", "two", "four", "five"}, "no line after … agrees"},
	} {
		require.Equal(t, c.want, difference(lines[:4], c.sent), c.sent)
	}
	require.Equal(t, `the host also sends "two"`, difference(lines[:1], []string{"one", "two"}))
}
