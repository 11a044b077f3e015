package conform_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"blockyard/datasets/conform"
	"blockyard/datasets/conform/blockbattlelog"

	"github.com/stretchr/testify/require"
)

// tally checks one line of a transcript of AI Block Battle.
func tally(t testing.TB, line string) (*conform.Tally, error) {
	t.Helper()
	out := new(conform.Tally)
	_, err := blockbattlelog.New().Check(out, []byte(line))
	return out, err
}

// A file may have records of all kinds.
func TestAnyMixture(t *testing.T) {
	var text []string
	for name := range given["blockbattle"] {
		text = append(text, lines(t, "blockbattle/"+name)[0])
	}
	rep := must(check(t, blockbattlelog.New(), text...))
	require.True(t, strings.HasPrefix(rep.String(), "file: 1 logs, 1 rounds, 2 games, "), rep.String())
	require.Zero(t, rep.Differ)
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
		found, err := tally(t, string(must(json.Marshal(rec))))
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
				text := must(json.Marshal(changed))
				found := must(tally(t, string(text)))
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
	rec[list] = must(json.Marshal(all[:min(n, len(all))]))
	return must(json.Marshal(rec))
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
				text := must(json.Marshal(cut))
				return must(tally(t, string(text))).Differ
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
