package conform_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"blockyard/datasets/conform"
	"blockyard/datasets/conform/blockbattlelog"
	"blockyard/datasets/record/jsonl"

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/require"
)

// tally checks one line of a transcript of AI Block Battle.
func tally(t testing.TB, line string) (*conform.Tally, error) {
	t.Helper()
	out := new(conform.Tally)
	_, err := blockbattlelog.New().Check(out, []byte(line))
	return out, err
}

// What a line is and whether it is compressed is seen from the content, whatever the name.
func TestAnyNameAnyMixture(t *testing.T) {
	var text []byte
	for name := range given["blockbattle"] {
		text = append(append(text, lines(t, "blockbattle/"+name)[0]...), '\n')
	}
	plain := filepath.Join(t.TempDir(), "x.gz")
	require.NoError(t, os.WriteFile(plain, text, 0o644))
	zipped := filepath.Join(t.TempDir(), "x.json")
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	_, err := w.Write(text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.NoError(t, os.WriteFile(zipped, z.Bytes(), 0o644))
	for _, path := range []string{plain, zipped} {
		rep, err := conform.File(blockbattlelog.New(), path, jsonl.MaxBytes)
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(rep.String(), path+": 1 logs, 1 rounds, 2 games, "), rep.String())
		require.Zero(t, rep.Differ)
	}
}

// uncompared reports whether the value at a path is an input of the replay or not of the game.
func uncompared(path string) bool {
	for _, word := range strings.Split(path, ".") {
		switch word {
		case "out", "piece", "next", "holes", "in", "seed", "pieces": // inputs
			return true
		case "id", "bots", "forced_pieces", "rules": // not of the game
			return true
		}
	}
	return false
}

// Every value but the inputs and what is not of the game is compared, once. The values of a round
// do not depend on those of another one, so the same value is altered in all rounds of a game at
// once, and as many differences are to be found.
func TestBlockbattleEveryAlteredValueIsFound(t *testing.T) {
	altered := 0
	for name, ids := range map[string][]string{
		"classic_games": {`"c036"`, `"c042"`}, "port_games": {`"r032"`, `"r036"`}, "classic_rounds": nil,
	} {
		for i, line := range lines(t, "blockbattle/"+name) {
			known := func(id string) bool { return strings.Contains(line, id) }
			if ids != nil && !slices.ContainsFunc(ids, known) || ids == nil && i%12 != 0 {
				continue
			}
			altered += alterAll(t, name, line)
		}
	}
	require.Greater(t, altered, 2700)
}

// alterAll checks a record once for every group of its values, with the group altered, and returns
// how many values there were.
func alterAll(t *testing.T, name, line string) (altered int) {
	rec := decode(t, line)
	groups := map[string][]leaf{}
	for _, l := range leaves("", rec, true, nil) {
		if uncompared(l.path) || strings.HasSuffix(l.path, ".round") && name == "classic_rounds" {
			continue
		}
		key := l.path
		if rest, ok := strings.CutPrefix(key, ".rounds."); ok { // alike in all rounds
			_, key, _ = strings.Cut(rest, ".")
		}
		groups[key] = append(groups[key], l)
	}
	for key, group := range groups {
		altered += len(group)
		var restores []func()
		for _, l := range group {
			restores = append(restores, l.change())
		}
		text, err := json.Marshal(rec)
		require.NoError(t, err)
		found, err := tally(t, string(text))
		for _, restore := range restores {
			restore()
		}
		switch {
		case err != nil: // it was empty and became something else
			require.Contains(t, []string{".document", ".document_differs"}, key, "%s: %v", name, err)
		case key == ".document":
			require.Positive(t, found.Differ, "%s %s", name, key)
		default:
			require.Equal(t, len(group), found.Differ, "%s %.20s %s: %s", name, line, key, found.First)
		}
	}
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
				text, err := json.Marshal(changed)
				require.NoError(t, err)
				found, err := tally(t, string(text))
				require.NoError(t, err)
				require.Positive(t, found.Differ, "log of %s, line %d %s: %.80s", rec.Game, i, kind, rec.Log[i][1])
			}
		}
	}
}

func TestBlockbattleMalformedRecordsAreRefused(t *testing.T) {
	game := lines(t, "blockbattle/port_games")[2]
	single := lines(t, "blockbattle/classic_rounds")[0]
	for name, text := range map[string]string{
		"no JSON":         `{"rounds":`,
		"no known kind":   `{"id":"c000"}`,
		"a list":          `[1,2]`,
		"null":            `null`,
		"no rounds":       `{"rounds":[],"rules":"port"}`,
		"unknown rules":   strings.Replace(game, `"port"`, `"other"`, 1),
		"wrong type":      strings.Replace(game, `"pts":`, `"pts":"x`, 1),
		"no such piece":   strings.Replace(game, `"next":"`, `"next":"Q`, 1),
		"three players":   `{"rules":"port","rounds":[{"round":1,"piece":"I","next":"I","p":[{},{},{}]}]}`,
		"hole in column":  `{"rules":"port","rounds":[{"round":1,"piece":"I","next":"I","p":[{"holes":[[10]]},{}]}]}`,
		"three holes":     `{"rules":"port","rounds":[{"round":1,"piece":"I","next":"I","p":[{"holes":[[1,2,3]]},{}]}]}`,
		"short board":     strings.Replace(single, `"field":"0000000000;`, `"field":"`, 1),
		"odd cell":        strings.Replace(single, `"field":"0000000000;`, `"field":"0000000x00;`, 1),
		"other solid":     strings.Replace(single, `"solid":`, `"solid":1`, 1),
		"negative points": strings.Replace(single, `"pts":`, `"pts":-1`, 1),
		"nothing given":   strings.Split(single, `"res":`)[0] + `"res":{"p":[{},{}]}}`,
		"other dialect":   `{"dialect":"x","game":"g","player":"player1","log":[["host","action moves 1"]]}`,
		"other player":    `{"dialect":"classic","game":"g","player":"player0","log":[["host","action moves 1"]]}`,
		"empty log":       `{"dialect":"classic","game":"g","player":"player1","log":[]}`,
	} {
		_, err := check(t, blockbattlelog.New(), "", text)
		require.ErrorContains(t, err, "file:2: ", name)
	}
}

// short returns a record with only the first n elements of its list, because the fuzzer is slow on
// long lines.
func short(t testing.TB, line, list string, n int) []byte {
	var rec map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(line), &rec))
	var all []json.RawMessage
	require.NoError(t, json.Unmarshal(rec[list], &all))
	text, err := json.Marshal(all[:min(n, len(all))])
	require.NoError(t, err)
	rec[list] = text
	out, err := json.Marshal(rec)
	require.NoError(t, err)
	return out
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
