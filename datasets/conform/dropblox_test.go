package conform_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/datasets/conform"
	"blockyard/datasets/conform/dropbloxlog"
)

// dropbloxLines returns the lines of a given file.
func dropbloxLines(t testing.TB, name string) []string {
	t.Helper()
	return lines(t, "../testdata/dropblox/"+name)
}

var dropbloxFiles = map[string]map[string]int{
	"games.jsonl.gz":     {"game": 14, "end": 14},
	"cases.jsonl.gz":     {"case": 108},
	"generator.jsonl.gz": {"seed": 10, "draw list": 11},
	"blocks.jsonl.gz":    {"block": 110},
	"history.jsonl.gz":   {"folder": 1},
}

func TestDropbloxGivenFilesConform(t *testing.T) {
	for name, want := range dropbloxFiles {
		rep, err := check(t, dropbloxlog.New(), dropbloxLines(t, name))
		require.NoError(t, err)
		require.Zero(t, rep.Differ, rep.First)
		for kind, n := range want {
			require.Equal(t, n, rep.Kinds[kind], name)
		}
	}
}

// Every value that a record documents is compared: altered, it is found.
func TestDropbloxEveryAlteredValueIsFound(t *testing.T) {
	a := alteration{
		checker: dropbloxlog.New,
		spared: map[string]bool{
			"kind": true, "player": true, "mode": true, "tag": true, "trajectory": true, "cmds": true,
		},
		change: changeDropblox,
	}
	games := dropbloxLines(t, "games.jsonl.gz")
	for k, line := range games { // the first game is enough, and the shortest
		if strings.Contains(line, `"kind":"end"`) {
			games = games[:k+1]
			break
		}
	}
	require.Greater(t, a.run(t, games), 40)
	a.spared["next"] = true // in a case it is an input
	cases := dropbloxLines(t, "cases.jsonl.gz")
	for name, text := range map[string][]string{
		"cases": withoutID(cases[:1]), "blocks": dropbloxLines(t, "blocks.jsonl.gz")[60:61],
		"generator": {dropbloxLines(t, "generator.jsonl.gz")[3], dropbloxLines(t, "generator.jsonl.gz")[15]},
	} {
		require.Greater(t, a.run(t, text), 2, name)
	}
}

// withoutID takes the number of a case out: it is a name and nothing to compare.
func withoutID(text []string) []string {
	return []string{strings.Replace(text[0], `"id":0,`, "", 1)}
}

// changeDropblox makes a value another that could stand in its place.
func changeDropblox(v any) any {
	switch v := v.(type) {
	case []any:
		if len(v) > 1 {
			return v[1:]
		}
		return []any{[]any{3, 3}}
	case string:
		switch v {
		case "playing":
			return "failed"
		case "failed", "blocked":
			return "playing"
		}
		return v + "7"
	}
	return []any{1, 1}
}

// A history is compared byte by byte, and so are the names of its files.
func TestDropbloxAlteredHistoriesAreFound(t *testing.T) {
	line := dropbloxLines(t, "history.jsonl.gz")[0]
	for old, other := range map[string]string{
		`"result":27`:           `"result":28`,
		`"result_time":126`:     `"result_time":127`,
		`"first_arg2":"299"`:    `"first_arg2":"299.0"`,
		`"turns":127`:           `"turns":126`,
		`"seed":-77`:            `"seed":78`,
		`"state100"`:            `"state999"`,
		`"move3"`:               `"move333"`,
		`"ai_stdout":["`:        `"ai_stdout":["left\n`,
		`\"state\": \"failed\"`: `\"state\": \"playing\"`,
		`\"preview\": [`:        `\"preview\":[`,
	} {
		require.Contains(t, line, old)
		rep, err := check(t, dropbloxlog.New(), []string{strings.Replace(line, old, other, 1)})
		require.NoError(t, err)
		require.NotZero(t, rep.Differ, other)
	}
	rep, err := check(t, dropbloxlog.New(), []string{strings.Replace(line, `"files":{`, `"files":{"extra":"",`, 1)})
	require.NoError(t, err)
	require.Contains(t, rep.First, "number of files")
}

func TestDropbloxMalformedLinesAreErrors(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"{", "malformed record"},
		{"{}", `want a "kind"`},
		{`{"kind":"lap"}`, `want a "kind"`},
		{`{"kind":"turn"}`, "malformed turn: no game has begun"},
		{`{"kind":"end"}`, "malformed end: no game has begun"},
		{`{"kind":"game","seed":"x"}`, "malformed game: dropblox: seed"},
		{`{"kind":"game","seed":1,"start_score":-1}`, "start_score -1"},
		{`{"kind":"case","type":3}`, `no "type" or no "next"`},
		{`{"kind":"case","type":3,"next":12678}`, "type 12678"},
		{`{"kind":"case","type":3,"next":1,"stack":[[1]]}`, "row 0 has 1 squares, want 12"},
		{`{"kind":"case","type":3,"next":1,"stack":[[1,1,1,1,1,1,1,1,1,1,1,1]]}`, "a full row"},
		{`{"kind":"case","type":3,"next":1,"stack":[[0,1,1,1,1,1,1,1,1,1,1,70000]]}`, "square 70000"},
		{`{"kind":"case","type":3,"next":1,"stack":[` + strings.Repeat("[],", 40) + `[]]}`, "41 rows"},
		{`{"kind":"rng","seed":"1","random":["a"]}`, "malformed seed: random"},
		{`{"kind":"blocks","seed":"1","trajectory":"up"}`, `trajectory "up"`},
		{`{"kind":"history","seed":"1.5"}`, "malformed folder"},
		{`{"offsets":[[0,0]],"type":-1}`, "type -1"},
		{`{"offsets":[[0,0]],"type":1}`, `no "center"`},
	} {
		_, err := check(t, dropbloxlog.New(), []string{c.line})
		require.ErrorContains(t, err, c.want, c.line)
		require.ErrorContains(t, err, "file:1: ")
	}
}

// A game that does not follow the rules is followed as far as it goes.
func TestDropbloxGamesThatBreakOff(t *testing.T) {
	text := dropbloxLines(t, "games.jsonl.gz")
	rep, err := check(t, dropbloxlog.New(), append([]string{text[0], text[1]}, text...))
	require.NoError(t, err)
	require.Equal(t, 1, rep.Differ)
	require.Contains(t, rep.First, "the next game begins before its end")
	for k, line := range text {
		if strings.Contains(line, `"kind":"end"`) {
			rep, err = check(t, dropbloxlog.New(), append(text[:k:k], text[k-1], line))
			require.NoError(t, err)
			require.Equal(t, 2, rep.Differ, "the number of the turn, and that there is none")
			return
		}
	}
}

func FuzzDropblox(f *testing.F) {
	for name := range dropbloxFiles {
		for _, line := range dropbloxLines(f, name)[:1] {
			f.Add(line)
		}
	}
	f.Add(dropbloxLines(f, "games.jsonl.gz")[1])
	head := dropbloxLines(f, "games.jsonl.gz")[0]
	f.Fuzz(func(t *testing.T, line string) {
		c, tally := dropbloxlog.New(), &conform.Tally{}
		for _, l := range []string{line, head, line, line} {
			_, _ = c.Check(tally, []byte(l))
		}
	})
}
