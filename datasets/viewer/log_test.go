package viewer

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"blockyard/datasets/record"
	"blockyard/datasets/record/gamelog"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// logOf writes the log of a recorded game of two seats, in which bots write what is no text of a page, and returns it.
func logOf(t *testing.T, dir string) string {
	rec, _, err := ReadGame(t.Context(), "../games/blockbattle.jsonl", 1, 0)
	require.NoError(t, err)
	var b strings.Builder
	fmt.Fprintln(&b, "player1 is Ann\nplayer2 is <b>Bob</b>")
	for turn := range 20 {
		fmt.Fprintf(&b, "Turn %d, round %d\n", turn, turn+1)
		fmt.Fprintf(&b, "player1 < update game round %d\nplayer1 < action moves 10000\nplayer1 > drop\n", turn+1)
		fmt.Fprintf(&b, "player1 ! depth %d, <script>document.title = \"mine\"</script>\nplayer1 @ 1.500 ms of 10000.000 ms\n", turn)
		if turn == 3 {
			fmt.Fprintln(&b, "player2 ! Traceback (most recent call last):\nplayer2 !   File \"bot.py\", line 7\nplayer2 * the bot has ended")
			fmt.Fprintf(&b, "player2 ! %s\n", strings.Repeat("long ", 1000))
		}
	}
	end, err := gamelog.Record(rec)
	require.NoError(t, err)
	path := filepath.Join(dir, "game-001.log")
	require.NoError(t, os.WriteFile(path, []byte(b.String()+end+"\n"+b.String()+end+"\n"), 0o644))
	return path
}

// A contest's log is shown as its games, with what each bot got, answered and wrote beside the turn.
func TestLog(t *testing.T) {
	dir := t.TempDir()
	path := logOf(t, dir)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "other.log"), []byte("INFO started\n"), 0o644))
	for _, shown := range []string{path, dir} {
		c := serve(t, shown)
		games := c.list("").Games
		require.Len(t, games, 2, "a log of something else is none")
		for _, g := range games {
			require.Equal(t, "blockbattle", g.Game)
			require.Empty(t, c.game(g.ID).Replay.Error)
			frames := c.frames(g.ID, 0, 30).Frames
			require.Equal(t, &gamelog.Said{Input: "update game round 4\naction moves 10000", Answer: "drop",
				Errors: "depth 3, <script>document.title = \"mine\"</script>", Time: "1.500 ms of 10000.000 ms"}, frames[3].Seats[0].Said)
			require.Contains(t, frames[3].Seats[1].Said.Errors, "\n  File \"bot.py\", line 7\n")
			require.Nil(t, frames[4].Seats[1].Said)
			require.Nil(t, frames[25].Seats[0].Said)
		}
	}
	rec, _, err := ReadGame(t.Context(), path, 2, 0)
	require.NoError(t, err)
	require.NotEmpty(t, rec.Choices)
	var page strings.Builder
	_, err = WriteHTML(context.Background(), &page, path, 1)
	require.NoError(t, err)

	path = filepath.Join(dir, "other.log")
	_, _, err = ReadGame(t.Context(), path, 1, 0)
	require.ErrorContains(t, err, "does not end with the record of its game")
	require.Equal(t, "other.log: "+errNoGame.Error(), serve(t, path).list("").Games[0].Error)
	require.NoError(t, os.WriteFile(path, []byte("a is b\nrecord {\"game\":\n"), 0o644))
	require.Contains(t, serve(t, path).list("").Games[0].Error, "other.log:2: ")
	_, err = record.Open(path)
	require.NoError(t, err)
}

// The page shows what was said as text, on every width, and leaves what the user folds folded.
func TestLogPage(t *testing.T) {
	b := browse(t, logOf(t, t.TempDir()))
	for _, s := range []struct {
		name string
		w, h int64
		dark bool
	}{{"wide", 1280, 1000, false}, {"wide-dark", 1280, 1000, true}, {"phone", 390, 844, false}, {"phone-dark", 390, 844, true}} {
		b.Size(s.w, s.h, 1, s.dark)
		b.Visit("#game-001.log:1/3")
		b.Await("document.querySelectorAll('.said').length === 2 && document.querySelector('.said .errors')")
		require.Contains(t, b.Text("document.querySelector('.said .errors pre').textContent"), "depth 3, <script>")
		require.Equal(t, "true", b.Text("document.documentElement.scrollWidth <= innerWidth"), s.name)
		b.Text("document.querySelector('#log').scrollIntoView() || ''")
		b.Shot("log-" + s.name)
	}
	b.Text("document.querySelector('.said .time summary').click() || ''")
	b.Await("!document.querySelector('.said .time').open")
	b.Press(kb.ArrowRight)
	b.counter("4 / 63")
	require.Equal(t, "false", b.Text("document.querySelector('.said .time').open"))
	require.Contains(t, b.Text("document.querySelectorAll('.said')[1].innerText"), "Nothing in this turn")
	b.Clean()
}
