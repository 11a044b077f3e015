package viewer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"blockyard/datasets/viewer/analysis"
	"blockyard/env/games"
)

// A counting is an analyst for which the legal actions are worth less and less, in the order of their ids.
type counting struct{ asked []int }

func (c *counting) Agents(game string) []string { return []string{"first", "other"} }

func (c *counting) Analyse(_ context.Context, r analysis.Request) (*analysis.Position, error) {
	c.asked = append(c.asked, r.Turn)
	if r.Turn == 13 {
		return nil, errors.New("thirteen is not my turn")
	}
	g, err := games.Lookup(r.Record.Game)
	if err != nil {
		return nil, err
	}
	out := &analysis.Position{Game: g.Name, Turn: r.Turn, Agent: r.Agent, Unit: "minus the number", Seats: []analysis.Seat{}}
	for set := r.State.Acting(); set != 0; set = set.Rest() {
		seat := set.First()
		legal := r.State.Legal(seat, nil)
		s := analysis.Seat{Seat: seat, Player: r.Record.Agents[seat], Legal: len(legal), Ranked: len(legal)}
		for i, a := range legal {
			m := analysis.Move{Rank: i + 1, Action: a, Text: g.Text(a), Value: float64(-i), Loss: float64(i),
				Worth: fmt.Sprint(-i), Line: []analysis.Ply{{Seat: seat, Action: a, Text: "reply"}}}
			if i > 0 {
				m.Lost = fmt.Sprint(-i)
			}
			if i < 3 {
				s.Moves = append(s.Moves, m)
			}
			if a == r.Moves[seat] {
				s.Played = &m
			}
		}
		out.Seats = append(out.Seats, s)
	}
	return out, nil
}

func analysed(t *testing.T) (http.Handler, *counting) {
	dir, _ := samples(t)
	l, err := NewLibrary([]string{dir})
	require.NoError(t, err)
	a := new(counting)
	return NewServer(l, a), a
}

// The panel lists the moves of every seat that has to choose, shows them on the board, and finds the largest losses.
func TestAnalysisPanel(t *testing.T) {
	server, asked := analysed(t)
	b := browseAt(t, server)
	b.Visit("#blockbattle.jsonl:1/32")
	b.counter("32 / 63")
	require.Empty(t, asked.asked, "nothing is analysed unless somebody wants it")
	b.Press("a")
	b.Await("document.querySelectorAll('#analysis .aseat').length === 2")
	require.Contains(t, b.Text("document.querySelector('#analysis').innerText"), "hand (seat 2)")
	require.Contains(t, b.Text("document.querySelector('#analysis').innerText"), "Value: minus the number")
	require.Regexp(t, `Played r\d x\d y\d+, move \d+ of \d+`, b.Text("document.querySelector('#analysis .aplayed').innerText"))
	require.Equal(t, "1", b.Text("document.querySelectorAll('#analysis .aseat:first-of-type .played').length"))
	b.Shot("analysis")

	// Looking at a move paints it in place of those that were played.
	pixels := "[...document.querySelectorAll('.frame canvas')[0].toDataURL()].reduce((h, c) => h * 31 + c.charCodeAt() | 0, 0)"
	before := b.Text(pixels)
	b.Do(chromedp.Click("#analysis .moves tbody:nth-of-type(2) .look"))
	b.Await(pixels + " !== " + before)
	require.Equal(t, "true", b.Text("document.querySelector('#analysis .here .look').getAttribute('aria-pressed')"))
	b.Do(chromedp.Click("#analysis .here .look"))
	b.Await(pixels + " === " + before)

	b.Quiet = true // the browser notes the refusal of a turn on its console
	b.Do(chromedp.Click("#analysis .hunt button"))
	b.Await("document.querySelectorAll('#analysis .losses li').length === 8")
	b.Await("document.querySelector('#analysis .hunt button').textContent === 'Search the game again'")
	require.Len(t, asked.asked, 64, "every turn once")
	b.Do(chromedp.Click("#analysis .losses li .look"))
	b.Await("Number(document.querySelector('#counter').textContent.split(' ')[1]) !== 32")
	b.Await("document.querySelectorAll('#analysis .aseat').length === 2")
	b.Shot("analysis-losses")

	require.Contains(t, b.Text("document.querySelector('#analysis .hunt').innerText"), "Turn 13: thirteen is not my turn")
	b.Visit("#tetrisduel.jsonl:1/13")
	b.counter("13 / 560")
	b.Press("a")
	b.Await("document.querySelector('#analysis').innerText.includes('thirteen is not my turn')")
	b.Visit("about")
	b.Quiet = false
	for _, s := range []struct {
		name    string
		w, h    int64
		density float64
		dark    bool
	}{{"phone", 390, 844, 2, false}, {"dark", 1280, 800, 1, true}, {"large", 1920, 1080, 1, false}} {
		b.Size(s.w, s.h, s.density, s.dark)
		for _, at := range []string{
			"blockbattle.jsonl:1/40", "tetrisduel.jsonl:1/200", "blocking4.jsonl:1/22", "dropblox.jsonl:1/30", "wintetris.jsonl:1/9",
		} {
			b.Visit("#" + at)
			b.Await(painted)
			b.Do(chromedp.Click("#analyse"))
			b.Await("document.querySelectorAll('#analysis .aseat').length > 0")
			require.Equal(t, "true", b.Text("document.documentElement.scrollWidth <= innerWidth"), "%s %s", s.name, at)
			b.Shot("analysis-" + s.name + "-" + word(at))
		}
	}
	b.Clean()
}

func TestAnalysisRequests(t *testing.T) {
	server, _ := analysed(t)
	c := serveAt(t, server)
	require.Equal(t, []string{"first", "other"}, c.game("blockbattle.jsonl:1").Agents)
	require.Equal(t, []string{"first", "other"}, c.game("history/0_1360540800").Agents)
	for path, want := range map[string]string{
		"analysis?id=blockbattle.jsonl:1&turn=3&agent=third":      "want one of",
		"analysis?id=blockbattle.jsonl:1&agent=first":             `turn: "", want a number`,
		"analysis?id=blockbattle.jsonl:1&turn=64&agent=first":     "the game has turns 0 to 63",
		"analysis?id=history/0_1360540800&turn=999&agent=first":   "the game has turns 0 to 127",
		"analysis?id=nothing&turn=1&agent=first":                  "there is no game",
		"marked?id=blockbattle.jsonl:1&turn=3&seat=0&action=1601": "action 1601 is not legal for seat 0",
		"marked?id=blockbattle.jsonl:1&turn=3&seat=3&action=1":    "is not legal for seat 3",
		"marked?id=blockbattle.jsonl:1&turn=3&seat=4&action=1":    "seat:",
		"marked?id=dropblox.jsonl:1&turn=3&seat=0&action=0":       "action 0 is not legal",
		"marked?id=history/0_1360540800&turn=3&seat=0&action=1":   "action 1 is not legal",
		"marked?id=blockbattle.jsonl:1&turn=999&seat=0&action=1":  "the game has turns 0 to 63",
		"marked?id=blockbattle.jsonl:1&turn=63&seat=0&action=1":   "is not legal",
		"game?id=blockbattle.jsonl:1&known=-1":                    "known:",
	} {
		var refused map[string]string
		require.GreaterOrEqual(t, c.get("/api/"+path, &refused), 400, path)
		require.Contains(t, refused["error"], want, path)
	}
}

// In Dropblox, a marked move is a ghost where the block comes to rest, and nothing else changes.
func TestMarkedDropblox(t *testing.T) {
	server, _ := analysed(t)
	c := serveAt(t, server)
	l, err := NewLibrary([]string{"../games/dropblox.jsonl"})
	require.NoError(t, err)
	l.Refresh(time.Now().Add(time.Minute))
	rec, _, err := l.list()[0].read(t.Context())
	require.NoError(t, err)
	starts := c.game("dropblox.jsonl:1").Replay.Starts
	for turn := 30; turn < 60; turn++ {
		last := c.frames("dropblox.jsonl:1", starts[turn+1]-1, 1).Frames[0] // after all commands: the ghost is where it rests
		first := c.frames("dropblox.jsonl:1", starts[turn], 1).Frames[0]
		var marked Frame
		path := fmt.Sprintf("/api/marked?id=dropblox.jsonl:1&turn=%d&seat=0&action=%d", turn, rec.Choices[turn])
		require.Equal(t, http.StatusOK, c.get(path, &marked))
		was, is, rests := first.Boards[0].Cells, marked.Boards[0].Cells, last.Boards[0].Cells
		ghosts := 0
		for k := range is {
			isGhost := func(glyph byte) bool { return glyph >= 'a' && glyph <= 'j' }
			ghost := isGhost(is[k])
			if ghost {
				ghosts++
			}
			inPlay := rests[k] >= 'A' && rests[k] <= 'J'
			require.Equal(t, isGhost(rests[k]) || inPlay && ghost, ghost, "turn %d, cell %d", turn, k)
			require.Equal(t, was[k] == 'x', is[k] == 'x')
		}
		require.Positive(t, ghosts)
	}
}
