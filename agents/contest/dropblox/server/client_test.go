//go:build unix

package server

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"blockyard/agents/contest"
	"blockyard/agents/contest/dropblox"
	"blockyard/agents/contest/dropblox/protocol"
	"blockyard/datasets/program/web/webtest"
	"blockyard/env/envtest"
)

// script makes a program of a shell script, which the shell reads: tests that fork in parallel would keep the kernel
// from executing a new file.
func script(t *testing.T, text string) *dropblox.Program {
	path := envtest.File(t, "dropblox_ai", "#!/bin/sh\n"+text+"\n")
	return &dropblox.Program{Program: contest.Program{Argv: []string{"sh", path}, Cage: contest.Trusted}, Name: path}
}

func client(url string, who [2]string) *dropblox.Contest {
	return dropblox.NewContest(url, dropblox.Config{Team: who[0], Password: who[1]})
}

// Two teams with programs of their own play a round at the same time. Their own histories
// and the server's hold the same states and moves.
func TestTwoTeamsCompete(t *testing.T) {
	rounds, asked := make(chan Round, 2), make(chan struct{})
	root := t.TempDir()
	_, url, stop := open(t, Config{
		Clock: 10 * time.Minute, History: filepath.Join(root, "server"), Players: 2, Rounds: 1,
		Notice: 50 * time.Millisecond, Round: func(r Round) { rounds <- r; <-asked },
	})
	programs := map[[2]string]string{blue: `echo left; echo nonsense; printf 'left\r\nrotate'`, red: `echo "$1" >&2`}
	var group errgroup.Group
	var results sync.Map // by team
	for who, text := range programs {
		p := script(t, text)
		group.Go(func() error {
			game := envtest.Must(client(url, who).Compete(t.Context(), nil))
			meta := dropblox.Meta{ID: game.ID, Started: time.Now()}
			f := envtest.Must(dropblox.CreateFolder(filepath.Join(root, "client"), meta, nil))
			r, err := (&dropblox.Player{Program: p, Game: game, History: f, Margin: time.Second}).Play(t.Context())
			results.Store(who[0], r)
			return err
		})
	}
	require.NoError(t, group.Wait())
	round := <-rounds
	require.Len(t, round.Ranks, 2)
	require.ErrorContains(t, envtest.Failed(client(url, blue).Compete(t.Context(), nil)), "the competition is over")
	close(asked) // the server ends a moment after its last round
	stop()
	for _, rank := range round.Ranks {
		result, _ := results.Load(rank.Team)
		r := result.(dropblox.Result)
		require.Equal(t, dropblox.Result{Reason: dropblox.Blocked, Turns: rank.Turns, Score: rank.Score, Used: r.Used, Longest: r.Longest,
			Left: r.Left}, r)
		require.Greater(t, r.Turns, 5)
		theirs, ours := folder(root, "client", rank.Game), folder(root, "server", rank.Game)
		require.Len(t, theirs, 2*r.Turns+1)
		require.Equal(t, ours, theirs)
	}
}

// folder reads states and moves of a game.
func folder(root, whose, id string) map[string]string {
	match := envtest.Must(filepath.Glob(filepath.Join(root, whose, id+"_*", "*")))
	out := map[string]string{}
	for _, path := range match {
		if filepath.Base(path) == "meta" {
			continue
		}
		out[filepath.Base(path)] = string(envtest.Must(os.ReadFile(path)))
	}
	return out
}

func TestPractiseAgainstTheClock(t *testing.T) {
	t.Parallel()
	s, url, _ := open(t, Config{Clock: 12 * time.Second})
	game := envtest.Must(client(url, blue).Practice(t.Context()))
	p := dropblox.Player{Program: script(t, `[ -e $0.begun ] && exec sleep 60; touch $0.begun`), Game: game, Margin: 4 * time.Second}
	r := envtest.Must(p.Play(t.Context()))
	require.Equal(t, dropblox.Time, r.Reason)
	require.Equal(t, 2, r.Turns, "one that was in time, one that was ended within the margin")
	require.Eventually(t, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return !s.games[game.ID].running(time.Now())
	}, time.Minute, 10*time.Millisecond)
}

// A turn that comes too late for the server ends the game there, and so here.
func TestLateTurn(t *testing.T) {
	t.Parallel()
	_, url, _ := open(t, Config{Clock: 500 * time.Millisecond})
	game := envtest.Must(client(url, blue).Practice(t.Context()))
	time.Sleep(600 * time.Millisecond)
	require.NoError(t, game.Submit(t.Context(), nil))
	end := game.Status()
	require.True(t, end.Over)
	require.Equal(t, dropblox.Time, end.Reason)
	require.Zero(t, end.Turns)
}

func TestClientIsDenied(t *testing.T) {
	_, url, _ := open(t, Config{Clock: time.Minute})
	require.ErrorIs(t, envtest.Failed(client(url, [2]string{"blue", "wrong"}).Practice(t.Context())), dropblox.ErrDenied)
	require.ErrorIs(t, envtest.Failed(client(url, [2]string{"green", "b"}).Compete(t.Context(), nil)), dropblox.ErrDenied)
}

func TestClientWaitsUntilStopped(t *testing.T) {
	t.Parallel()
	_, url, _ := open(t, Config{Clock: time.Minute, Players: 2})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	waited := 0
	_, err := client(url, blue).Compete(ctx, func() {
		waited++
		time.AfterFunc(500*time.Millisecond, cancel)
	})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 1, waited)
}

// A weak line breaks answers on their way, after the server has heard the question.
func weak(t *testing.T, s *Server, breaks func(n int32, path string) int) string {
	var n atomic.Int32
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		how := breaks(n.Add(1), r.URL.Path)
		if how == 0 {
			s.ServeHTTP(w, r)
			return
		}
		s.ServeHTTP(httptest.NewRecorder(), r)
		if how == 1 {
			conn, _, _ := w.(http.Hijacker).Hijack()
			conn.Close()
			return
		}
		http.Error(w, "weak", how)
	}))
	t.Cleanup(h.Close)
	return h.URL
}

func TestClientRepeatsItself(t *testing.T) {
	for _, how := range []int{1, http.StatusBadGateway} { // its connection, or an error
		s := newServer(Config{Teams: guard(), Clock: time.Minute})
		url := weak(t, s, func(n int32, path string) int {
			if path == protocol.SubmitMove && n == 2 {
				return how
			}
			return 0
		})
		game := envtest.Must(client(url, blue).Practice(t.Context()))
		require.NoError(t, game.Submit(t.Context(), nil), "the server is one turn ahead: that very turn")
		require.Equal(t, 1, game.Status().Turns)
		require.NoError(t, game.Submit(t.Context(), nil))
		require.Equal(t, 2, game.Status().Turns)
	}
}

// A client repeats itself twice after an error of the server, and more often if it asks too often, after as long as the
// server says.
func TestClientGivesUp(t *testing.T) {
	for status, c := range map[int]struct {
		times, asked int32         // of this status, and requests in all
		least        time.Duration // that it takes
		want         string
	}{
		http.StatusInternalServerError: {9, 3, 0, "500 Internal Server Error"},
		http.StatusTeapot:              {9, 1, 0, "418"},
		http.StatusTooManyRequests:     {3, 4, 3 * time.Second, ""}, // a second each, as there is no Retry-After
	} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			url := weak(t, newServer(Config{Teams: guard(), Clock: time.Minute}), func(n int32, _ string) int {
				if asked.Store(n); n <= c.times {
					return status
				}
				return 0
			})
			began := time.Now()
			_, err := client(url, blue).Practice(t.Context())
			if c.want == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, c.want)
			}
			require.Equal(t, c.asked, asked.Load())
			require.GreaterOrEqual(t, time.Since(began), c.least)
		})
	}
}

// What a server says is checked before it is believed.
func TestClientOfAStrangeServer(t *testing.T) {
	s := newServer(Config{Teams: guard(), Clock: time.Minute})
	state := string(envtest.Must(s.create("blue")).Game.State)
	seconds := func(n string) string { return `, "competition_seconds_remaining": ` + n + `}` }
	game := func(fields, state string) string {
		return `{"ret": "ok", "game": {` + fields + `"game_state": ` + state + `}`
	}
	for reply, want := range map[string]string{
		``:                 "want a JSON object",
		`{"ret": "maybe"}`: `ret "maybe"`,
		`{"ret": "ok"}`:    "holds no game",
		`{"ret": "fail", "reason": "no\u001b[2J", "code": 7}`: `"no\x1b[2J" (code 7)`,

		game(`"id": "../x", `, state) + seconds("1"):                       "letters and digits",
		game(`"id": "x", `, state) + `}`:                                   "how many seconds remain",
		game(`"id": "x", `, state) + seconds("1e300"):                      "how many seconds remain",
		game(`"id": "x", "number_moves_made": -1, `, state) + seconds("1"): "holds no game x",
		game(`"id": "x", `, `{"state": "playing"}`) + seconds("1"):         `no "score"`,
		game(`"id": "x", `, strings.Repeat(" ", protocol.MaxReply)+`{}}`):  "unexpected end",
	} {
		h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, reply)
		}))
		require.ErrorContains(t, envtest.Failed(client(h.URL, blue).Practice(t.Context())), want, "%.100s", reply)
		h.Close()
	}
}

// The server ends cleanly while a game goes on and a connection does nothing.
func TestServerStops(t *testing.T) {
	root := t.TempDir()
	_, url, stop := open(t, Config{Clock: time.Minute, History: root})
	game := envtest.Must(client(url, blue).Practice(t.Context()))
	webtest.Dial(t, strings.TrimPrefix(url, "http://"), "POST / HTTP/1.1\r\n")
	before := time.Now()
	stop()
	require.Less(t, time.Since(before), time.Second+time.Minute)
	require.Contains(t, folder(root, ".", game.ID)["state0"], `"failed"`)
}
