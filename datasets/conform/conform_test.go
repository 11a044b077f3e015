package conform_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/datasets/conform"
	"blockyard/datasets/conform/blockbattlelog"
	"blockyard/datasets/conform/blockinglog"
	"blockyard/datasets/conform/dropbloxlog"
	"blockyard/datasets/conform/tetrisduellog"
	"blockyard/datasets/record/jsonl"
	"blockyard/env/envtest"
)

var checkers = map[string]func() *conform.Checker{
	"blockbattle": blockbattlelog.New, "blocking": blockinglog.New, "dropblox": dropbloxlog.New, "tetrisduel": tetrisduellog.New,
}

// given are the given files of each game, and how many records of which kinds they have.
var given = map[string]map[string]map[string]int{
	"blockbattle": {
		"classic_games": {"game": 10}, "classic_rounds": {"round": 178}, "port_games": {"game": 6}, "protocol_logs": {"log": 6},
	},
	"blocking": {"games": {"game": 6, "end": 6}, "firstmoves": {"opening": 29}, "orient": {"shape table": 1}},
	"dropblox": {
		"games": {"game": 14, "end": 14}, "cases": {"case": 108}, "generator": {"seed": 10, "draw list": 11},
		"blocks": {"block": 110}, "history": {"folder": 1},
	},
	"tetrisduel": {"games": {"game": 7, "end": 7}, "movegen": {"list": 100}, "erase": {"clear": 100}},
}

// The files agree with the rules, whether they were indexed before or not.
func TestGivenFilesConform(t *testing.T) {
	for game, files := range given {
		for _, indexed := range []bool{false, true} {
			c := checkers[game]()
			if indexed == (c.Index == nil) {
				continue
			}
			for name := range files {
				if indexed {
					conform.Index(c, path(game+"/"+name), jsonl.MaxBytes)
				}
			}
			for name, kinds := range files {
				rep := envtest.Must(conform.File(c, path(game+"/"+name), jsonl.MaxBytes))
				require.Zero(t, rep.Differ, rep.First)
				require.Subset(t, rep.Kinds, kinds, name)
				require.Contains(t, rep.String(), " values compared, 0 differ\n")
			}
		}
	}
}

// A report names the kinds of a file in order, but no parts of games.
func TestKindsOfAReport(t *testing.T) {
	rep := conform.Report{File: "f", Kinds: map[string]int{"d": 1, "c": 1, "b": 1, "a": 1, "game": 2, "turn": 9, "end": 2}}
	require.Equal(t, "f: 1 as, 1 bs, 1 cs, 1 ds, 2 games, 0 values compared, 0 differ\n", rep.String())
}

// firstGame returns the lines of the first game in a file of games, with a part in one of them.
func firstGame(t testing.TB, game, part string) (out []string) {
	found := false
	for _, line := range lines(t, game+"/games") {
		out = append(out, line)
		found = found || strings.Contains(line, part)
		if strings.Contains(line, `"end"`) {
			if found {
				return out
			}
			out = nil
		}
	}
	require.Fail(t, "no such game", part)
	return nil
}

// Every value that a record documents is compared: altered, it is found. Those that are spared are inputs, or names.
func TestEveryAlteredValueIsFound(t *testing.T) {
	moves, generator := lines(t, "blocking/firstmoves"), lines(t, "dropblox/generator")
	firstCase := strings.Replace(lines(t, "dropblox/cases")[0], `"id":0,`, "", 1) // its name, which nothing compares
	const dropblox = "kind player mode tag trajectory cmds"
	for _, c := range []struct {
		game, spared string
		text         []string
		least        int
	}{
		{"blocking", "type bots", firstGame(t, "blocking", `"decided"`), 20},
		{"blocking", "type bots", firstGame(t, "blocking", `"elimination"`), 20},
		{"blocking", "", moves[:5], 10},
		{"blocking", "", lines(t, "blocking/orient"), 200},
		{"dropblox", dropblox, firstGame(t, "dropblox", ""), 40},
		{"dropblox", dropblox + " next", []string{firstCase}, 2}, // in a case it is an input
		{"dropblox", dropblox, lines(t, "dropblox/blocks")[60:61], 2},
		{"dropblox", dropblox, []string{generator[3], generator[15]}, 2},
		{"tetrisduel", "type p1 p2 blocks", firstGame(t, "tetrisduel", ""), 40},
		{"tetrisduel", "type p1 p2 blocks", firstGame(t, "tetrisduel", `"bad"`), 40},
		{"tetrisduel", "", lines(t, "tetrisduel/movegen"), 4},
		{"tetrisduel", "", lines(t, "tetrisduel/erase"), 4},
	} {
		require.Greater(t, alterEach(t, checkers[c.game], c.spared, c.text), c.least, "%s: %.80s", c.game, c.text[0])
	}
}

// A history is compared byte by byte, and so are the names of its files.
func TestDropbloxAlteredHistoriesAreFound(t *testing.T) {
	line := lines(t, "dropblox/history")[0]
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
		`"files":{`:             `"files":{"extra":"",`,
	} {
		require.Contains(t, line, old)
		rep := envtest.Must(check(dropbloxlog.New(), strings.Replace(line, old, other, 1)))
		require.NotZero(t, rep.Differ, other)
		require.Equal(t, strings.Contains(other, "extra"), strings.Contains(rep.First, "number of files"))
	}
}

func TestMalformedLinesAreErrors(t *testing.T) {
	turn := `{"type":"turn","t":1,"p":1,"block":1`
	game, single := lines(t, "blockbattle/port_games")[2], lines(t, "blockbattle/classic_rounds")[0]
	port := func(player string) string {
		return `{"rules":"port","rounds":[{"round":1,"piece":"I","next":"I","p":[` + player + `]}]}`
	}
	changed := func(record, old, new string) string { return strings.Replace(record, old, new, 1) }
	for game, wants := range map[string]map[string]string{
		"blockbattle": {
			`{"rounds":`: "", `{"id":"c000"}`: "", `[1,2]`: "", `null`: "", `{"rounds":[],"rules":"port"}`: "",
			changed(game, `"port"`, `"other"`): "", changed(game, `"pts":`, `"pts":"x`): "", changed(game, `"next":"`, `"next":"Q`): "",
			port(`{},{},{}`): "", port(`{"holes":[[10]]},{}`): "", port(`{"holes":[[1,2,3]]},{}`): "",
			changed(single, `"field":"0000000000;`, `"field":"`):            "",
			changed(single, `"field":"0000000000;`, `"field":"0000000x00;`): "",
			changed(single, `"solid":`, `"solid":1`):                        "", changed(single, `"pts":`, `"pts":-1`): "",
			strings.Split(single, `"res":`)[0] + `"res":{"p":[{},{}]}}`:                             "", // nothing is given
			`{"dialect":"x","game":"g","player":"player1","log":[["host","action moves 1"]]}`:       "",
			`{"dialect":"classic","game":"g","player":"player0","log":[["host","action moves 1"]]}`: "",
			`{"dialect":"classic","game":"g","player":"player1","log":[]}`:                          "",
		},
		"blocking": {
			"{":                        "malformed record",
			"[]":                       "malformed record",
			"{}":                       `want a "type"`,
			`{"type":5}`:               "malformed record: type",
			`{"type":"lap"}`:           `want a "type"`,
			`{"type":"turn","out":""}`: "malformed turn: no game has begun",
			`{"type":"skip"}`:          "malformed skip: no game has begun",
			`{"type":"game","players":5,"letters":"ABCD"}`:                   "5 players, want 2 to 4",
			`{"type":"game","players":4,"letters":"ABCD"}`:                   "want A to D and 6 others",
			`{"type":"game","players":4,"letters":"ABCDFEGHIJ"}`:             "alphabetical",
			`{"type":"game","players":4,"letters":"ABCDFGHIJZ"}`:             "alphabetical",
			`{"equivalent":[],"player":4,"code":"A001"}`:                     "player 4",
			`{"equivalent":[],"code":"A009"}`:                                "no such shape",
			`{"A":{},"X":{}}`:                                                `no letter "X"`,
			`{"A":5}`:                                                        "malformed shape table",
			firstGame(t, "blocking", "")[0] + "\n" + `{"type":"turn","p":0}`: `no "out"`,
		},
		"dropblox": {
			"{}":                         `want a "kind"`,
			`{"kind":"end"}`:             "malformed end: no game has begun",
			`{"kind":"game","seed":"x"}`: "malformed game: dropblox: seed",
			`{"kind":"game","seed":1,"start_score":-1}`:                                       "start_score -1",
			`{"kind":"case","type":3}`:                                                        `no "type" or no "next"`,
			`{"kind":"case","type":3,"next":12678}`:                                           "type 12678",
			`{"kind":"case","type":3,"next":1,"stack":[[1]]}`:                                 "row 0 has 1 squares, want 12",
			`{"kind":"case","type":3,"next":1,"stack":[[1,1,1,1,1,1,1,1,1,1,1,1]]}`:           "a full row",
			`{"kind":"case","type":3,"next":1,"stack":[[0,1,1,1,1,1,1,1,1,1,1,70000]]}`:       "square 70000",
			`{"kind":"case","type":3,"next":1,"stack":[` + strings.Repeat("[],", 40) + `[]]}`: "41 rows",
			`{"kind":"rng","seed":"1","random":["a"]}`:                                        "malformed seed: random",
			`{"kind":"blocks","seed":"1","trajectory":"up"}`:                                  `trajectory "up"`,
			`{"kind":"history","seed":"1.5"}`:                                                 "malformed folder",
			`{"offsets":[[0,0]],"type":-1}`:                                                   "type -1",
			`{"offsets":[[0,0]],"type":1}`:                                                    `no "center"`,
		},
		"tetrisduel": {
			`{"type":"game","blocks":[1,2]}`:                                   "2 blocks, want 560",
			`{"valid":[],"block":8,"board":"` + strings.Repeat("0", 75) + `"}`: "block 8: want 1 to 7",
			`{"valid":[],"block":1,"board":"00"}`:                              "a board of 2 digits",
			`{"valid":[],"block":1,"board":"` + strings.Repeat("f", 75) + `"}`: "row 0: fff is wider",
			`{"before":"` + strings.Repeat("x", 75) + `"}`:                     `row 0: "xxx", want 3 hex digits`,
			`{"before":5}`:            "malformed clear",
			turn + `}`:                `neither "act" nor "bad"`,
			turn + `,"act":[1,2]}`:    "want [y, x, d]",
			turn + `,"act":[15,2,0]}`: "want [y, x, d]",
		},
	} {
		for text, want := range wants {
			if strings.HasPrefix(text, turn) {
				text = lines(t, game+"/games")[0] + "\n" + text
			}
			_, err := check(checkers[game](), text)
			require.ErrorContains(t, err, want, text)
			require.ErrorContains(t, err, []string{"file:1: ", "file:2: "}[strings.Count(text, "\n")])
		}
	}
}

// A game that does not follow the rules is followed as far as it goes.
func TestGamesThatBreakOff(t *testing.T) {
	differs := func(game string, differ int, first string, text ...string) {
		rep := envtest.Must(check(checkers[game](), text...))
		require.Equal(t, differ, rep.Differ, rep.First)
		require.Contains(t, rep.First, first)
	}
	blocking, drop := firstGame(t, "blocking", `"decided"`), firstGame(t, "dropblox", "")
	duel := firstGame(t, "tetrisduel", "")
	for game, text := range map[string][]string{"blocking": blocking, "dropblox": drop, "tetrisduel": duel} {
		differs(game, 1, "the next game begins before its end", slices.Concat(text[:2], text)...)
	}
	differs("tetrisduel", 1, "file:3: game 31, the next game", slices.Concat(duel[:2], duel)...)
	illegal := strings.Replace(duel[1], `"act":[`, `"act":[0,5,0],"was":[`, 1)
	differs("tetrisduel", 1, "game 31, half-turn 1, act is in the list", slices.Concat(duel[:1], []string{illegal}, duel[2:])...)

	last := len(blocking) - 1
	const goesOn = "the game goes on\n  recorded: true\n  replayed: false\n  answer: "
	differs("blocking", 1, goesOn, slices.Concat(blocking[:last], blocking[1:2], blocking[1:2])...)
	last = len(drop) - 1
	differs("dropblox", 2, "", slices.Concat(drop[:last], drop[last-1:])...) // the number of the turn, and that there is none
	for game, text := range map[string][]string{"blocking": blocking, "tetrisduel": duel} {
		rep := envtest.Must(check(checkers[game](), text[0], text[len(text)-1]))
		require.Contains(t, rep.First, "none: the game is not over")
	}
	left := slices.DeleteFunc(slices.Clone(blocking), func(line string) bool { return strings.Contains(line, `"skip"`) })
	require.Contains(t, envtest.Must(check(blockinglog.New(), left...)).First, "passed over without a record")
}

// Any line, before a game and twice in it, does not make a checker panic.
func FuzzGames(f *testing.F) {
	heads := map[string]string{}
	for _, game := range []string{"blocking", "dropblox", "tetrisduel"} {
		heads[game] = lines(f, game+"/games")[0]
		for name := range given[game] {
			most := map[bool]int{true: 40, false: 1}[name == "games"]
			for _, line := range lines(f, game+"/"+name)[:most] {
				f.Add(game, line)
			}
		}
	}
	f.Fuzz(func(t *testing.T, game, line string) {
		head, ok := heads[game]
		if !ok {
			return
		}
		c, tally := checkers[game](), &conform.Tally{}
		for _, l := range []string{line, head, line, line} {
			_, _ = c.Check(tally, []byte(l))
		}
	})
}

// path is where a given file of a game is: "blocking/games".
func path(name string) string {
	found, _ := filepath.Glob("../testdata/" + name + ".json*.gz")
	return found[0]
}

// lines returns the lines of a given file.
func lines(t testing.TB, name string) (out []string) {
	in := envtest.Closing(t, envtest.Must(jsonl.Open(path(name))))
	for line, err := range in.All() {
		require.NoError(t, err)
		out = append(out, string(line))
	}
	return out
}

// check lets c read the lines as a file named "file".
func check(c *conform.Checker, text ...string) (*conform.Report, error) {
	return conform.Read(c, envtest.Must(jsonl.New("file", strings.NewReader(strings.Join(text, "\n")+"\n"))))
}

// checkRecord checks one record of a transcript of AI Block Battle.
func checkRecord(rec any) (*conform.Report, error) {
	return check(blockbattlelog.New(), string(envtest.Must(json.Marshal(rec))))
}

// decode reads a record, numbers as they are written.
func decode(t *testing.T, line string) (rec map[string]any) {
	d := json.NewDecoder(strings.NewReader(line))
	d.UseNumber()
	require.NoError(t, d.Decode(&rec))
	return rec
}

// leaf is a value somewhere in a record: its path, such as ".seen.board", and a way to change it.
type leaf struct {
	path   string
	change func()
}

// leaves lists the values of v, which stands at path, in the order of their paths: of a list its elements if deep is set,
// and otherwise the list.
func leaves(path string, v any, deep bool, set func(any)) (out []leaf) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			out = append(out, leaves(path+"."+key, v[key], deep, func(n any) { v[key] = n })...)
		}
		return out
	case []any:
		if deep && (len(v) > 0 || strings.HasSuffix(path, ".why")) {
			for i, inner := range v {
				out = append(out, leaves(fmt.Sprintf("%s.%d", path, i), inner, deep, func(n any) { v[i] = n })...)
			}
			return out
		}
	}
	return []leaf{{path, func() { set(other(path, v)) }}}
}

// other is another value that could stand at a path.
func other(path string, v any) any {
	key := path[strings.LastIndex(path, ".")+1:]
	switch v := v.(type) {
	case bool:
		return !v
	case json.Number:
		n, _ := v.Int64()
		return n + 1
	case string:
		return otherText(key, v)
	case []any:
		if len(v) > 0 {
			return v[1:]
		}
		return cmp.Or(instead[key], any([]any{[]any{"solid", "player1"}}))
	}
	return cmp.Or(instead[key], any([]any{1, 1, 1}))
}

// instead are values for keys in place of null or of an empty list.
var instead = map[string]any{
	"illegal": []any{7}, "parsed": []any{"left"}, "others": []any{"left"}, "valid": []any{"e00"}, "all": []any{"e00"},
	"winner": "player1", "document": "player1",
}

// texts are others that mean something, by the key and the text.
var texts = map[string]string{
	"bad no legal placement": "None", "bad": "no legal placement",
	"state playing": "failed", "state failed": "playing", "state p1 error": "p2 error", "state": "p1 error",
}

func otherText(key, v string) string {
	for _, known := range []string{key + " " + v, key} {
		if text, ok := texts[known]; ok {
			return text
		}
	}
	switch {
	case v == "player1":
		return "player2"
	case len(v) == 75 && v[0] == '0': // a board of the duel, whose first row can be reached
		return "1" + v[1:]
	case len(v) == 75:
		return "0" + v[1:]
	case v == "":
		return "x"
	case strings.HasSuffix(v, "0"):
		return v[:len(v)-1] + "2"
	}
	return v[:len(v)-1] + "0"
}

// alter checks a record once for each kind of its values, with all values of that kind altered. It says how many they
// are. kindOf returns the kind of a path; "" is not altered.
func alter(t *testing.T, line string, deep bool, kindOf func(string) string, check func(kind, line string, n int)) {
	kinds := map[string]int{}
	for _, l := range leaves("", decode(t, line), deep, nil) {
		kinds[kindOf(l.path)]++
	}
	delete(kinds, "")
	for kind, n := range kinds {
		rec := decode(t, line)
		for _, l := range leaves("", rec, deep, nil) {
			if kindOf(l.path) == kind {
				l.change()
			}
		}
		check(kind, string(envtest.Must(json.Marshal(rec))), n)
	}
}

// alterEach checks the lines once for each of their values, with that value altered, but at most twice for the same
// path in the same type of record. Values at paths with a word that is spared are not compared. Each time it wants a
// difference or an error. It returns the number of altered values.
func alterEach(t *testing.T, checker func() *conform.Checker, spared string, text []string) (altered int) {
	seen := map[string]int{}
	for i, line := range text {
		kind := fmt.Sprint(decode(t, line)["type"])
		alter(t, line, false, unless(spared), func(path, changed string, _ int) {
			if seen[kind+path]++; seen[kind+path] > 2 {
				return
			}
			rep, err := check(checker(), slices.Concat(text[:i], []string{changed}, text[i+1:])...)
			if err == nil {
				require.NotZero(t, rep.Differ, "line %d, %s: %s", i+1, path, changed)
			}
			altered++
		})
	}
	return altered
}

// unless returns a path as it is, unless one of its words is among those that are spared.
func unless(spared string) func(path string) string {
	return func(path string) string {
		for word := range strings.FieldsSeq(spared) {
			if slices.Contains(strings.Split(path, "."), word) {
				return ""
			}
		}
		return path
	}
}

// Every value but the inputs and what is not of the game is compared, once. The values of a round
// do not depend on those of another one, so the same value is altered in all rounds of a game at
// once, and as many differences are to be found.
func TestBlockbattleEveryAlteredValueIsFound(t *testing.T) {
	altered := 0
	for name, id := range map[string]string{
		"classic_games": "c036|c042", "port_games": "r032|r036", "classic_rounds": `\d*[2579]4`,
	} {
		some := regexp.MustCompile(`"id":"?(` + id + `)\b`)
		for _, line := range lines(t, "blockbattle/"+name) {
			if some.MatchString(line) {
				altered += alterAll(t, name, line)
			}
		}
	}
	require.Greater(t, altered, 2700)
}

// alterAll checks a record once for every kind of its values, alike in all rounds, and returns the number of values.
func alterAll(t *testing.T, name, line string) (altered int) {
	// The inputs of the replay, and what is not of the game.
	spared := "out piece next holes in seed pieces id bots forced_pieces rules"
	if name == "classic_rounds" {
		spared += " round"
	}
	alter(t, line, true, func(path string) string {
		return regexp.MustCompile(`^\.rounds\.\d+\.`).ReplaceAllString(unless(spared)(path), "")
	}, func(kind, changed string, n int) {
		altered += n
		found, err := check(blockbattlelog.New(), changed)
		switch {
		case err != nil: // it was empty and became something else
			require.Contains(t, []string{".document", ".document_differs"}, kind, "%s: %v", name, err)
		case kind == ".document":
			require.Positive(t, found.Differ, "%s %s", name, kind)
		default:
			require.Equal(t, n, found.Differ, "%s %.20s %s: %s", name, line, kind, found.First)
		}
	})
	return altered
}

func TestAlteredLinesOfALogAreFound(t *testing.T) {
	for _, line := range lines(t, "blockbattle/protocol_logs") {
		var rec struct {
			Dialect, Game, Player string
			Log                   [][2]string `json:"log"`
		}
		require.NoError(t, json.Unmarshal([]byte(line), &rec))
		step := 1 + len(rec.Log)/50
		for i := 0; i < len(rec.Log); i += step {
			text := rec.Log[i][1]
			if rec.Log[i][0] != "host" {
				continue
			}
			end := min(i+40, len(rec.Log)) // two turns later: the line is found where it stands
			for kind, log := range map[string][][2]string{
				"altered": slices.Concat(rec.Log[:i], [][2]string{{"host", otherText("", text)}}, rec.Log[i+1:end]),
				"missing": slices.Concat(rec.Log[:i], rec.Log[i+1:end]),
				"twice":   slices.Concat(rec.Log[:i+1], rec.Log[i:end]),
			} {
				if kind != "missing" && strings.HasPrefix(text, "action ") && !strings.HasSuffix(text, " 10000") {
					continue // a bank of another size is as good
				}
				if kind == "altered" && strings.HasPrefix(text, "settings time") {
					continue // so are other settings
				}
				changed := rec
				changed.Log = log
				found := envtest.Must(checkRecord(changed))
				require.Positive(t, found.Differ, "log of %s, line %d %s: %.80s", rec.Game, i, kind, rec.Log[i][1])
			}
		}
	}
}

// short returns a record with only the first n elements of its list, because the fuzzer is slow on
// long lines.
func short(t testing.TB, line, list string, n int) []byte {
	var rec map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(line), &rec))
	var all []json.RawMessage
	require.NoError(t, json.Unmarshal(rec[list], &all))
	rec[list] = envtest.Must(json.Marshal(all[:min(n, len(all))]))
	return envtest.Must(json.Marshal(rec))
}

func FuzzBlockbattle(f *testing.F) {
	f.Add(short(f, lines(f, "blockbattle/classic_games")[3], "rounds", 1))
	f.Add(short(f, lines(f, "blockbattle/port_games")[2], "rounds", 1))
	f.Add(short(f, lines(f, "blockbattle/protocol_logs")[1], "log", 22))
	f.Add(short(f, lines(f, "blockbattle/protocol_logs")[5], "log", 22))
	f.Add([]byte(lines(f, "blockbattle/classic_rounds")[0]))
	empty := strings.Repeat("0000000000;", 19)
	f.Add([]byte(`{"round":30,"piece":"T",` +
		`"in":[{"field":"` + empty + `2220222222","out":"drop"},` +
		`{"field":"` + empty + `3333333333","skips":1,"out":"skip"}],` +
		`"res":{"p":[{},{"holes":[[1],[2,3]]}]},"document":null}`))
	f.Add([]byte(`{"dialect":"classic","game":"g","player":"player2",` +
		`"log":[["host","update game round 1"],["host","action moves 1"],["bot","drop"]]}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		c := blockbattlelog.New()
		c.Index(line)
		tally := new(conform.Tally)
		kind, err := c.Check(tally, line)
		if err == nil && (kind == "" || tally.Compared == 0) {
			t.Errorf("a %q passed without a comparison: %s", kind, line)
		}
		if (tally.Differ > 0) != (tally.First != "") {
			t.Errorf("%d differ, the first is %q", tally.Differ, tally.First)
		}
	})
}

// A game cut short agrees as far as it goes, unless our rules know that it is over; one
// that goes on after its end does not.
func TestBlockbattleGamesOfOtherLengths(t *testing.T) {
	spawns := 0
	for _, name := range []string{"classic_games", "port_games"} {
		for _, line := range lines(t, "blockbattle/"+name) {
			var rec map[string]any
			require.NoError(t, json.Unmarshal([]byte(line), &rec))
			rounds := rec["rounds"].([]any)
			differ := func(rounds []any) int {
				cut := map[string]any{"id": "cut", "rules": rec["rules"], "rounds": rounds}
				return envtest.Must(checkRecord(cut)).Differ
			}
			last := rounds[len(rounds)-1].(map[string]any)
			_, played := last["p"].([]any)[0].(map[string]any)["out"]
			require.Zero(t, differ(rounds))
			require.Zero(t, differ(rounds[:len(rounds)/2]))
			require.Positive(t, differ(append(rounds[:len(rounds):len(rounds)], last)))
			if played {
				require.Zero(t, differ(rounds[:len(rounds)-1]))
			} else {
				spawns++
				require.Equal(t, 1, differ(rounds[:len(rounds)-1]))
			}
		}
	}
	require.Positive(t, spawns)
}
