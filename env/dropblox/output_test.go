package dropblox

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// What counts as a command and what is shown (rules §8.3).
func TestReadOutput(t *testing.T) {
	for text, want := range map[string]string{
		"":                      `[] []`,
		"left\nup\n":            `[left up] []`,
		"rotate\r\nright\rdown": `[rotate right down] []`,
		"Left\n left\nleft \n":  `[] ["Left" " left" "left "]`,
		"drop\nhold\n\nleft":    `[left] ["drop" "hold" ""]`,
		"\n":                    `[] [""]`,
		"\r\n\r":                `[] ["" ""]`,
		"left\n\r\nright":       `[left right] [""]`,
	} {
		commands, foreign := ReadOutput(text)
		require.Equal(t, want, fmt.Sprintf("%v %q", commands, foreign), "%q", text)
	}
	require.Equal(t, `["left", "rotate"]`, string(AppendMoves(nil, []Command{Left, Rotate})))
	require.Equal(t, "[]", string(AppendMoves(nil, nil)))
}

// However the output is cut into pieces, the lines are the same, and a line without an end
// does not grow.
func TestOutputInPieces(t *testing.T) {
	const text = "left\r\n\rup\n\nhello world\r\nrotate"
	lines := func(size int) (out []string) {
		var o Output
		add := func(line string) { out = append(out, line) }
		for at := 0; at < len(text); at += size {
			o.Write([]byte(text[at:min(at+size, len(text))]), add)
		}
		o.Close(add)
		return out
	}
	want := lines(len(text))
	require.Equal(t, []string{"left", "", "up", "", "hello world", "rotate"}, want)
	for size := 1; size < len(text); size++ {
		require.Equal(t, want, lines(size), size)
	}
	var o Output
	for range 100 {
		o.Write(make([]byte, 1000), nil)
	}
	o.Close(func(line string) { require.Len(t, line, MaxLine) })
}
