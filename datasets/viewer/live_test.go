package viewer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"blockyard/datasets/record"

	"github.com/stretchr/testify/require"
)

// aged makes a folder look as if nothing had been written there for a while.
func aged(t *testing.T, path string, by time.Duration) {
	at := time.Now().Add(-by)
	require.NoError(t, os.Chtimes(path, at, at))
}

// The end of a history says whether the board was full or the time was up.
func TestHistoryOutOfTime(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "h")
	write(t, dir, 4)
	text := must(os.ReadFile(filepath.Join(dir, "state3")))
	failed := bytes.Replace(text, []byte("playing"), []byte("failed"), 1)
	require.NotEqual(t, text, failed)
	for _, name := range []string{"state3", "state4"} { // in the turn, and after it
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), failed, 0o644))
		c := serve(t, dir)
		d := c.game("h")
		require.False(t, d.Replay.Live)
		end := c.frames("h", d.Replay.Frames-1, 1).Frames[0]
		require.Equal(t, 3, end.Turn)
		require.Equal(t, "Time is up · 0 points", end.Over)
		require.True(t, end.Red)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "state3"), text, 0o644))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "state3"), bytes.Replace(text, []byte(`"score": 0`),
		[]byte(`"score": 5`), 1), 0o644))
	c := serve(t, dir)
	require.Contains(t, c.game("h").Replay.Error, "h/state3: by the rules, no commands lead there")
	require.Equal(t, 2, c.game("h").Replay.Turns-1)
}

// A game that a limit of turns has ended has no failed state: its meta says that it is over, and nothing is live, also if
// that was written in the same moment, by the file system's clock, as what the viewer has seen.
func TestHistoryStopped(t *testing.T) {
	dir, at := filepath.Join(t.TempDir(), "h"), time.Now().Add(time.Hour)
	write(t, dir, 4)
	meta := func(text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "meta"), []byte(text), 0o644))
		require.NoError(t, os.Chtimes(dir, at, at))
	}
	meta(`{"program":"./bot","turns":0}`)
	c := serve(t, dir)
	require.True(t, c.list("").Games[0].Live)
	require.True(t, c.game("h").Replay.Live)
	require.NoError(t, os.Remove(filepath.Join(dir, "meta")))
	meta(`{"program":"./bot","turns":3,"reason":"turns"}`)
	require.False(t, c.list("").Games[0].Live)
	d := c.game("h")
	require.False(t, d.Replay.Live)
	require.Empty(t, d.Replay.Error)
	require.Contains(t, c.frames("h", d.Replay.Frames-1, 1).Frames[0].Over, "Stopped here")
}

// A history folder grows by states and moves; its frames are the commands of rules §14.
func TestHistoryGrows(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "0_1360540800")
	write(t, dir, 1)
	c := serve(t, dir)
	g := c.list("").Games[0]
	require.True(t, g.Live)
	require.Equal(t, int64(1360540800000), g.Time)
	d := c.game(g.ID)
	require.Equal(t, 1, d.Replay.Frames)
	require.True(t, d.Replay.Live)

	write(t, dir, 40)
	total := 1
	for turn := range 39 {
		var moves []string
		require.NoError(t, json.Unmarshal([]byte(historyTexts(t)[fmt.Sprintf("move%d", turn)]), &moves))
		total += 1 + len(moves)
	}
	d = c.game(g.ID)
	require.Equal(t, total, d.Replay.Frames)
	require.True(t, d.Replay.Live)
	require.Equal(t, 39, c.frames(g.ID, total-1, 1).Frames[0].Turn)

	write(t, dir, 1<<30)
	d = c.game(g.ID)
	require.False(t, d.Replay.Live)
	require.Empty(t, d.Replay.Error)
	end := c.frames(g.ID, d.Replay.Frames-1, 1).Frames[0]
	require.True(t, end.Red)
	require.Equal(t, "The board is full · 27 points", end.Over)
	require.Equal(t, 127, end.Turn)
	require.Equal(t, []int{27}, c.list("").Games[0].Scores)
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
	rec, end := firstOf(t, "../games/dropblox.jsonl"), all[len(all)-1]
	require.Equal(t, len(rec.Choices), end.Turn)
	require.True(t, end.Red)
	require.Equal(t, "The board is full · "+points(rec.Scores[0]), end.Over)
	starts := c.game("dropblox.jsonl:1").Replay.Starts
	require.Len(t, starts, len(rec.Choices)+1)
	require.Equal(t, 7, all[starts[7]].Turn)
}

// A move file half written is waited for; one that stays so is complained of.
func TestHalfWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "h")
	write(t, dir, 3)
	move := filepath.Join(dir, "move2")
	require.NoError(t, os.WriteFile(move, []byte(`["le`), 0o644))
	c := serve(t, dir)
	d := c.game("h")
	require.Empty(t, d.Replay.Error)
	require.True(t, d.Replay.Live)
	aged(t, dir, time.Minute)
	require.Contains(t, c.game("h").Replay.Error, "h/move2: unexpected end")
	require.NoError(t, os.Remove(move))
	write(t, dir, 4)
	require.NoError(t, os.Remove(filepath.Join(dir, "move2")))
	fresh := serve(t, dir) // a missing move file is a turn without commands
	require.Equal(t, 3, fresh.frames("h", fresh.game("h").Replay.Frames-1, 1).Frames[0].Turn)
}

// Records are listed as they are appended; a long game in parts is followed.
func TestRecordsGrow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	text := must(os.ReadFile("../games/tetrisduel.jsonl"))
	rec := must(mustRecord(text))
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

func mustRecord(text []byte) (*record.Record, error) {
	r, err := record.NewReader("text", bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	return r.Read()
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
