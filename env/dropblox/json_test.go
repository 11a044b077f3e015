package dropblox

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env/envtest"
	"blockyard/env/envtest/rulebook"
)

// shown is the state of rules §8.2, of the second turn of seed 0, without its line breaks.
func shown(t testing.TB) string {
	var out strings.Builder
	for _, line := range rulebook.Open(t, ".").Blocks(t, "state")[0] {
		out.WriteString(strings.TrimLeft(line, " "))
		if strings.HasSuffix(line, ",") {
			out.WriteByte(' ')
		}
	}
	return out.String()
}

func TestJSON(t *testing.T) {
	var s State
	s.Reset(0)
	s.Turn()
	p := s.Position()
	require.Equal(t, shown(t), string(p.AppendJSON(nil)))
}

// What is written is read back, in any order and spacing, with unknown keys left out.
func TestJSONRoundTrip(t *testing.T) {
	for seed := range uint64(20) {
		var s State
		s.Reset(seed)
		for !s.Failed {
			s.Turn("left", "left", "left", "left")
		}
		p := s.Position()
		text := p.AppendJSON(nil)
		var loose map[string]any
		require.NoError(t, json.Unmarshal(text, &loose))
		loose["new"] = []any{map[string]any{"a": []any{1.5e3, "\"]\\", nil, true, false}}}
		for _, text := range [][]byte{text, envtest.Must(json.MarshalIndent(loose, " ", "\t"))} {
			got := envtest.Must(ParsePosition(text))
			require.Equal(t, p, *got)
			require.Equal(t, s.Taken, got.Field())
		}
	}
}

func TestMalformedPositions(t *testing.T) {
	good, deep := shown(t), strings.Repeat("[", 1e5)+strings.Repeat("]", 1e5)
	for old, c := range map[string]struct{ other, want string }{
		`"score": 0, `:       {"", `no "score"`},
		`"playing"`:          {`"over"`, `state is "over"`},
		`"score": 0`:         {`"score": -1`, "score is -1, want 0 to"},
		`"type": 21`:         {`"type": "x"`, "cannot unmarshal string into Go struct field"},
		`"j": 5}`:            {`"j": 5`, `invalid character`},
		`{"i": 8, "j": 5}`:   {`{"i": 8}`, `preview block 0: center: a point lacks a coordinate, want "i" and "j"`},
		`[{"i": 0, "j": 0}`:  {`[{"i": 11, "j": 0}`, "offset 0: i 11 and j 0, want -10 to 10"},
		`{"i": -2, "j": 0}`:  {`{"i": -9, "j": 0}`, "a box of at most 10"},
		`"bitmap": [[0, `:    {`"bitmap": [[`, "row 0 has 11 squares"},
		`"bitmap": [[`:       {`"bitmap": [[0],[`, "bitmap has 34 rows"},
		`0]]}`:               {`0]]} x`, "invalid character 'x' after top-level value"},
		`{"state"`:           {`["state"`, `invalid character ':' after array element`},
		`"center": {"i": 7`:  {`"centre": {"i": 7`, `want "type", "center" and 1 to 10 "offsets"`},
		`{"state":`:          {`{"x": ` + deep + `, "state":`, "exceeded max depth"},
		`{"state": "playing`: {`{"state": "play` + "\n", "in string literal"},
	} {
		require.Contains(t, good, old)
		_, err := ParsePosition([]byte(strings.Replace(good, old, c.other, 1)))
		require.ErrorContains(t, err, c.want, c.other)
		require.ErrorContains(t, err, "dropblox: state: ")
	}
	for n := range len(good) {
		require.Error(t, envtest.Failed(ParsePosition([]byte(good[:n]))))
	}
}

func FuzzParsePosition(f *testing.F) {
	f.Add([]byte(shown(f)))
	f.Add([]byte(`{"state": "failed", "x": [1, {"y": null}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := ParsePosition(text)
		if err != nil {
			return
		}
		again := envtest.Must(ParsePosition(p.AppendJSON(nil)))
		require.Equal(t, p, again)
		b, taken := p.Block, p.Field()
		shape := NewShape(&b)
		var rest Poses
		if b.Fits(&Field{}) && shape.Rest(&taken, &rest) {
			for _, a := range rest.Actions(nil) {
				_, ok := shape.Path(&taken, At(a), nil)
				require.True(t, ok)
			}
		}
	})
}

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
