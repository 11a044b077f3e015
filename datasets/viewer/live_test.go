package viewer

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A history folder grows by states and moves; who watches sees after each step whether it goes on, and why not.
func TestHistories(t *testing.T) {
	type files map[string]string // by name; without a text it is removed
	state3 := historyTexts(t)["state3"]
	changed := func(old, other string) string {
		require.Contains(t, state3, old)
		return strings.Replace(state3, old, other, 1)
	}
	failed := changed("playing", "failed")
	for name, steps := range map[string][]struct {
		states      int // so many are written, and then the files
		files       files
		age         time.Duration // of the folder, before the test; 0 as it is
		live        bool
		turn        int // of the last frame
		over, fault string
	}{
		"it grows": {
			{states: 1, live: true}, {states: 40, live: true, turn: 39},
			{states: 1 << 30, turn: 127, over: "The board is full · 27 points"},
		},
		"the time is up in a turn": {{states: 4, files: files{"state3": failed}, turn: 3, over: "Time is up · 0 points"}},
		"the time is up after it":  {{states: 4, files: files{"state4": failed}, turn: 3, over: "Time is up · 0 points"}},
		"points from nowhere": {{
			states: 4, files: files{"state3": changed(`"score": 0`, `"score": 5`)}, turn: 2,
			fault: "/state3: by the rules, no commands lead there",
		}},
		"a move is half written, and stays so": {
			{states: 3, files: files{"move2": `["le`}, live: true, turn: 2},
			{states: 3, files: files{"move2": `["le`}, age: time.Minute, turn: 2, fault: "/move2: unexpected end"},
		},
		"a move is missing": {{states: 4, files: files{"move2": ""}, live: true, turn: 3}},
		// Meta says that a limit of turns has ended the game, at the same time by the file system's clock.
		"it is stopped": {
			{states: 4, files: files{"meta": `{"program":"./bot","turns":0}`}, age: -time.Hour, live: true, turn: 3},
			{files: files{"meta": `{"program":"./bot","turns":3,"reason":"turns"}`}, age: -time.Hour, turn: 3, over: "Stopped here"},
		},
	} {
		dir, began := filepath.Join(t.TempDir(), "0_1360540800"), time.Now()
		require.NoError(t, os.Mkdir(dir, 0o755))
		c := serve(t, dir)
		for _, s := range steps {
			write(t, dir, s.states)
			for file, text := range s.files {
				_ = os.Remove(filepath.Join(dir, file))
				if text != "" {
					require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644))
				}
			}
			if at := began.Add(-s.age); s.age != 0 {
				require.NoError(t, os.Chtimes(dir, at, at))
			}
			g := c.list("").Games[0]
			d := c.game(g.ID)
			end := c.frames(g.ID, d.Replay.Frames-1, 1).Frames[0]
			require.Equal(t, s.turn, end.Turn, name)
			require.Equal(t, s.fault == "", d.Replay.Error == "", name)
			require.Contains(t, d.Replay.Error, s.fault, name)
			require.Contains(t, end.Over, s.over, name)
			require.Equal(t, s.over != "", end.Red, name)
			if s.fault == "" {
				require.Equal(t, []bool{s.live, s.live}, []bool{g.Live, d.Replay.Live}, name)
			}
			require.Equal(t, int64(1360540800000), g.Time)
		}
	}
}

// A game of Dropblox, as a history or a record, is shown as the commands that lead to its resting places, illegal ones
// passed over. The last frame of a turn has the ghost where the next position has the squares, unless rows vanish.
func TestDropbloxFrames(t *testing.T) {
	dir, _ := samples(t)
	c := serve(t, dir)
	loose := regexp.MustCompile("[^x]")
	settled := func(f Frame) string { return loose.ReplaceAllString(f.Boards[0].Cells, ".") }
	var all []Frame
	for _, id := range []string{"history/0_1360540800", "dropblox.jsonl:1"} {
		turns := 0
		all = c.all(id)
		for n, f := range all {
			require.Len(t, f.Boards[0].Cells, 12*24)
			require.Len(t, f.Trays[0].Pieces, 5)
			require.Equal(t, fmt.Sprintf("Turn %d", f.Turn), f.Label)
			if n == 0 {
				continue
			}
			before := all[n-1]
			if f.Turn == before.Turn {
				require.Equal(t, before.Made+1, f.Made)
				require.Equal(t, settled(before), settled(f))
				continue
			}
			require.Equal(t, before.Of, before.Made, "all commands of turn %d were seen", before.Turn)
			require.Equal(t, before.Turn+1, f.Turn)
			if f.Seats[0].Score != before.Seats[0].Score {
				continue
			}
			turns++
			for k, cell := range before.Boards[0].Cells {
				if strings.ContainsRune("xabcdefghij", cell) {
					require.Contains(t, "xABCDEFGHIJ", string(f.Boards[0].Cells[k]), "frame %d, cell %d", n, k)
				}
			}
		}
		require.Greater(t, turns, 10)
	}
	total := len(c.game("history/0_1360540800").Replay.Starts)
	for name, text := range historyTexts(t) {
		var moves []string
		if strings.HasPrefix(name, "move") && json.Unmarshal([]byte(text), &moves) == nil {
			total += len(moves)
		}
	}
	require.Len(t, c.all("history/0_1360540800"), total)
	rec, end := firstOf(t, "../games/dropblox.jsonl"), all[len(all)-1]
	require.Equal(t, len(rec.Choices), end.Turn)
	require.True(t, end.Red)
	require.Equal(t, "The board is full · "+points(rec.Scores[0]), end.Over)
	starts := c.game("dropblox.jsonl:1").Replay.Starts
	require.Len(t, starts, len(rec.Choices)+1)
	require.Equal(t, 7, all[starts[7]].Turn)
}

// Records are listed as they are appended; a long game in parts is followed.
func TestRecordsGrow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	text := must(os.ReadFile("../games/tetrisduel.jsonl"))
	rec := firstOf(t, "../games/tetrisduel.jsonl")
	add := func(text string) {
		f := must(os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644))
		must(f.WriteString(text))
		require.NoError(t, f.Close())
	}
	add(string(text) + string(text[:200]))
	c := serve(t, path)
	require.Len(t, c.list("").Games, 1, "the second is not whole")
	add(string(text[200:]))
	require.Len(t, c.list("").Games, 2)
	require.Equal(t, len(rec.Choices)+1, c.game("run.jsonl:2").Replay.Frames)

	part := func(part, from, to int, more bool) string {
		p := map[string]any{"choices": rec.Choices[from:to], "part": part, "more": more}
		if part == 0 {
			p["game"], p["rules"], p["seed"] = rec.Game, rec.Rules, fmt.Sprint(rec.Seed)
			p["seats"], p["agents"] = rec.Seats, rec.Agents
		}
		if !more {
			p["scores"], p["results"] = rec.Scores, rec.Results
		}
		return string(must(json.Marshal(p))) + "\n"
	}
	add(part(0, 0, 100, true))
	games := c.list("").Games
	require.Len(t, games, 3)
	require.Equal(t, "run.jsonl:3", games[0].ID, "a game being played comes first")
	require.True(t, games[0].Live)
	d := c.game("run.jsonl:3")
	require.Equal(t, 101, d.Replay.Frames)
	require.True(t, d.Replay.Live)
	add(part(1, 100, 300, true))
	require.Equal(t, 301, c.game("run.jsonl:3").Replay.Frames)
	add(part(2, 300, len(rec.Choices), false))
	require.Equal(t, rec.Scores, c.list("").Games[2].Scores)
	d = c.game("run.jsonl:3")
	require.Equal(t, len(rec.Choices)+1, d.Replay.Frames)
	require.False(t, d.Replay.Live)
	require.Empty(t, d.Replay.Error)

	// Another file in its place is another list, and what was open is not shown any more.
	gen := c.game("run.jsonl:1").Gen
	copyFile(t, "../games/blocking.jsonl", path)
	require.Len(t, c.list("").Games, 1)
	d = c.game("run.jsonl:1")
	require.NotEqual(t, gen, d.Gen)
	require.Equal(t, 31, d.Replay.Frames)
	require.NoError(t, os.Remove(path))
	require.Empty(t, c.list("").Games)
}

// Any bytes as a state or as a move file are shown or complained of.
func FuzzHistory(f *testing.F) {
	f.Add(`{"state":"playing"}`, `["left"]`)
	f.Add(``, `null`)
	f.Fuzz(func(t *testing.T, state, moves string) {
		at := folder{t.TempDir(), "p"}
		for name, text := range map[string]string{"state0": state, "move0": moves, "state1": state} {
			require.NoError(t, os.WriteFile(filepath.Join(at.path, name), []byte(text), 0o644))
		}
		r, err := (&entry{history: &at, Players: []string{"a"}}).replay(t.Context())
		if err != nil {
			return
		}
		c := r.(*commands)
		c.advance(time.Now().Add(time.Second))
		for n := range min(c.info().Frames, 50) {
			c.frame(n)
		}
	})
}
