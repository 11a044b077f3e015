package dropblox

import (
	"encoding/json"
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
			got, err := ParsePosition(text)
			require.NoError(t, err)
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
		_, err := ParsePosition([]byte(good[:n]))
		require.Error(t, err)
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
		again, err := ParsePosition(p.AppendJSON(nil))
		require.NoError(t, err)
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
