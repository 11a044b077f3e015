package webplay

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"blockyard/agents/bots"
	"blockyard/agents/play/analyst"
	"blockyard/datasets/program/web/webtest"
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/games"

	"github.com/stretchr/testify/require"
)

// A sitting is a table whose games run, and what it has recorded.
type sitting struct {
	*Table
	mu      sync.Mutex
	records []*record.Record
	full    atomic.Bool // nothing can be recorded
}

// sit runs games of persons against agents until the test ends.
func sit(t *testing.T, game string, seed uint64, names ...string) *sitting {
	g, err := games.Lookup(game)
	require.NoError(t, err)
	s := &sitting{}
	s.Table = &Table{
		Rules: g, Seed: seed, Names: names, Analyst: new(analyst.Analyst), File: "played.jsonl", Speed: 1e-3,
		Record: func(rec *record.Record) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.full.Load() {
				return errors.New("no space left on device")
			}
			s.records = append(s.records, rec)
			return record.Check(g, rec)
		},
	}
	for seat, name := range names {
		if name == "human" {
			s.Persons |= 1 << seat
		}
	}
	s.Agents = func(seed uint64) ([]env.Agent, error) {
		out := make([]env.Agent, len(names))
		for seat, name := range names {
			if name == "human" {
				continue
			}
			f, err := bots.New(g, bots.Own(name))
			if err != nil {
				return nil, err
			}
			if out[seat], err = f(seed); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- s.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-ended)
	})
	return s
}

// recorded returns the records so far.
func (s *sitting) recorded() []*record.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.records)
}

// turn waits until a person has to choose, or the game is over.
func (s *sitting) turn(t *testing.T) Position {
	ctx, stop := context.WithTimeout(t.Context(), webtest.Patience)
	defer stop()
	p := s.after(ctx, -1)
	for p.Seat < 0 && p.Frame.Over == "" && p.Error == "" {
		require.NoError(t, ctx.Err(), "%+v", p)
		p = s.after(ctx, p.Version)
	}
	return p
}

// next begins the next game.
func (s *sitting) next(t *testing.T, p Position) Position {
	require.NoError(t, s.restart(p.Version))
	for seed := p.Seed; p.Seed == seed; p = s.turn(t) {
	}
	return p
}

// Every game of placements can be played to its end, on any seat; its record replays, and nothing hidden is shown.
func TestGamesArePlayed(t *testing.T) {
	for _, c := range []struct {
		game  string
		names []string
	}{
		{"blockbattle", []string{"first", "human"}},
		{"tetrisduel", []string{"human", "human"}},
		{"blocking", []string{"random", "human", "random", "random"}},
		{"wintetris", []string{"human"}},
		{"dropblox", []string{"human"}},
	} {
		t.Run(c.game, func(t *testing.T) {
			s := sit(t, c.game, 7, c.names...)
			p := s.turn(t)
			for n := 0; p.Frame.Over == "" && n < 600; n++ {
				require.Empty(t, p.Error)
				require.True(t, s.Persons.Has(p.Seat))
				for _, m := range p.Moves {
					board := p.Frame.Boards[m.Board]
					require.Len(t, board.Cells, board.W*board.H)
					for _, k := range m.Cells {
						require.Less(t, k, len(board.Cells))
						require.NotEqual(t, "x", board.Cells[k:k+1], "%s fills what is filled", m.Text)
					}
				}
				require.NoError(t, s.choose(p.Version, p.Moves[n%len(p.Moves)].Action))
				require.ErrorIs(t, s.choose(p.Version, p.Moves[0].Action), errStale)
				p = s.turn(t)
			}
			require.NotEmpty(t, p.Frame.Over)
			require.Eventually(t, func() bool { return len(s.recorded()) == 1 }, webtest.Patience, time.Millisecond)
			require.Equal(t, c.names, s.recorded()[0].Agents)
			require.False(t, s.recorded()[0].Stopped)
		})
	}
}

// A game that is given up is recorded as stopped, and the next one has the next seed.
func TestAgain(t *testing.T) {
	s := sit(t, "blockbattle", 5, "human", "first")
	p := s.turn(t)
	require.Equal(t, "5", p.Seed)
	chosen := p.Moves[0]
	require.Regexp(t, `^(\w+,)*drop$`, chosen.Answer, "as a bot of the contest writes it")
	require.NoError(t, s.choose(p.Version, chosen.Action))
	p = s.turn(t)
	require.Equal(t, chosen.Text, p.Frame.Seats[0].Act, "the last action is shown")
	require.Equal(t, chosen.Answer, p.Frame.Seats[0].Answer)
	require.ErrorIs(t, s.restart(p.Version-1), errStale)
	p = s.next(t, p)
	require.Equal(t, "6", p.Seed)
	require.True(t, s.recorded()[0].Stopped)
	s.next(t, p)
	require.Len(t, s.recorded(), 1, "nobody has chosen in the second: it is not recorded")
}

// TestAGameThatCannotBeRecorded is shown to its end, with the reason, and recorded after the next one.
func TestAGameThatCannotBeRecorded(t *testing.T) {
	s := sit(t, "blockbattle", 5, "human", "first")
	s.full.Store(true)
	p := s.turn(t)
	for ; p.Frame.Over == ""; p = s.turn(t) {
		require.NoError(t, s.choose(p.Version, p.Moves[0].Action))
	}
	ctx, stop := context.WithTimeout(t.Context(), webtest.Patience)
	defer stop()
	for ; p.Error == ""; p = s.after(ctx, p.Version) {
		require.NoError(t, ctx.Err())
	}
	require.Contains(t, p.Error, "not recorded yet, games: 1: no space left on device")
	require.NotEmpty(t, p.Frame.Over)
	require.Empty(t, s.recorded())
	p = s.next(t, p)
	require.Empty(t, p.Error)
	require.NoError(t, s.choose(p.Version, p.Moves[0].Action))
	s.full.Store(false)
	s.next(t, s.turn(t))
	require.Len(t, s.recorded(), 2)
}

// An agent that fails ends the game with its error, and the next game can begin.
func TestAFailedAgentIsNamed(t *testing.T) {
	s := sit(t, "blockbattle", 5, "human", "exec:/nonexistent")
	p := s.turn(t)
	if p.Seat >= 0 {
		require.NoError(t, s.choose(p.Version, p.Moves[0].Action))
		p = s.turn(t)
	}
	require.Contains(t, p.Error, "nonexistent")
	require.NoError(t, s.restart(p.Version))
}

// Only those with the token may look and play, and what cannot be read is refused.
func TestRequests(t *testing.T) {
	s := sit(t, "blockbattle", 5, "human", "first")
	p := s.turn(t)
	server := NewServer(s.Table, "secret")
	ask := func(method, path, token, body string) (int, string) {
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		w := httptest.NewRecorder()
		server.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	for _, token := range []string{"", "secre", "secret2"} {
		for _, path := range []string{"GET /api/position?after=-1", "POST /api/choose", "POST /api/again", "GET /api/hints"} {
			method, path, _ := strings.Cut(path, " ")
			status, text := ask(method, path, token, "{}")
			require.Equal(t, 401, status, path)
			require.Contains(t, text, "token")
		}
	}
	for want, requests := range map[int][]string{
		200: {"GET / ", "GET /stage.js ", "GET /play.css ", "GET /api/position?after=-1 "},
		400: {"GET /api/position ", "POST /api/choose {", `POST /api/choose {"action":65535}`, "GET /api/hints?version=x ",
			"GET /api/hints?version=1&agent=exec:true ", "POST /api/choose " + `{"x":"` + strings.Repeat("x", 2000) + `"}`},
		404: {"GET /none.js ", "GET /api/choose "},
		405: {"POST /api/position "},
		409: {"POST /api/choose {}", "POST /api/again {}", "GET /api/hints?version=0&agent=learned "},
	} {
		for _, request := range requests {
			parts := strings.SplitN(request, " ", 3)
			status, text := ask(parts[0], parts[1], "secret", parts[2])
			require.Equal(t, want, status, "%.80s: %s", request, text)
		}
	}
	choice := fmt.Sprintf(`{"version":%d,"action":%d}`, p.Version, p.Moves[3].Action)
	status, _ := ask("POST", "/api/choose", "secret", choice)
	require.Equal(t, 200, status)
}
