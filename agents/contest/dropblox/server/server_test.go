package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/contest/dropblox/protocol"
	"blockyard/agents/contest/dropblox/teams"
	"blockyard/env/dropblox"
	"blockyard/env/envtest"
)

// A hall is a server whose clock stands still until it is moved.
type hall struct {
	*Server
	t      *testing.T
	mu     sync.Mutex
	at     time.Time
	rounds []Round
	dir    string
}

var blue, red = [2]string{"blue", "b"}, [2]string{"red", "r"}

// twoTeams is a file of teams whose passwords are checked fast.
const twoTeams = `blue:pbkdf2-sha256:1:Ymx1ZS1zYWx0LTAw:m7+2xkSn4SXBrOKnCSJnXDr7hyNGGFvX3Oz9SsvpfFU
red:pbkdf2-sha256:1:cmVkLXNhbHQtMDAw:w8rYp4YDrG/ZOn6i3TQg+MSMFvhuOIjYtoUhFAxDSio`

// guard knows the two teams.
var guard = sync.OnceValue(func() *teams.Guard {
	return teams.NewGuard(envtest.Must(teams.Read("teams", strings.NewReader(twoTeams))))
})

// perMinute is how many practice games a team may start in most tests.
const perMinute = 30

// newServer is New with limits where c has none, and without a log if it has none.
func newServer(c Config) *Server {
	c.Players = max(1, c.Players)
	c.Practice = cmp.Or(c.Practice, perMinute)
	c.HistoryBytes = cmp.Or(c.HistoryBytes, 1<<30)
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	return New(c)
}

func newHall(t *testing.T, c Config) *hall {
	h := &hall{t: t, at: time.Unix(1_700_000_000, 0), dir: filepath.Join(t.TempDir(), "history")}
	c.Teams, c.History = guard(), h.dir
	if c.Clock == 0 {
		c.Clock = 300 * time.Second
	}
	c.Round = func(r Round) { h.rounds = append(h.rounds, r) }
	h.Server = newServer(c)
	h.Server.now = func() time.Time {
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.at
	}
	return h
}

// open serves a contest on a port of this machine until the test ends.
func open(t testing.TB, c Config) (*Server, string, func()) {
	l := envtest.Must(net.Listen("tcp", "127.0.0.1:0"))
	c.Teams = cmp.Or(c.Teams, guard())
	s := newServer(c)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	stop := sync.OnceFunc(func() {
		cancel()
		require.NoError(t, <-ended)
	})
	t.Cleanup(stop)
	return s, "http://" + l.Addr().String(), stop
}

// pass lets time pass.
func (h *hall) pass(d time.Duration) {
	h.mu.Lock()
	h.at = h.at.Add(d)
	h.mu.Unlock()
	h.Tick()
}

func (h *hall) post(path, body string) (*httptest.ResponseRecorder, *protocol.Reply) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, strings.NewReader(body)))
	require.Equal(h.t, "application/json", w.Header().Get("Content-Type"))
	return w, envtest.Must(protocol.ReadReply(bytes.NewReader(w.Body.Bytes())))
}

// ask asks as a team; more are further fields.
func (h *hall) ask(who [2]string, path, more string) *protocol.Reply {
	w, reply := h.post(path, `{"team_name": "`+who[0]+`", "password": "`+who[1]+`"`+more+`}`)
	require.Equal(h.t, http.StatusOK, w.Code)
	return reply
}

func move(id protocol.ID, made, list string) string {
	return `, "game_id": "` + string(id) + `", "moves_made": ` + made + `, "move_list": ` + list
}

func (h *hall) file(id protocol.ID, name string) string {
	match := envtest.Must(filepath.Glob(filepath.Join(h.dir, string(id)+"_1700*", name)))
	if len(match) == 0 {
		return ""
	}
	return string(envtest.Must(os.ReadFile(match[0])))
}

func position(text json.RawMessage) *dropblox.Position {
	return envtest.Must(dropblox.ParsePosition(text))
}

func TestPractice(t *testing.T) {
	h := newHall(t, Config{})
	r := h.ask(blue, protocol.CreatePractice, "")
	require.Equal(t, protocol.OK, r.Ret)
	require.Regexp(t, "^[A-Z0-9]{12}$", string(r.Game.ID))
	require.Equal(t, 300.0, *r.Seconds)
	require.Zero(t, r.Game.Moves)
	first := position(r.Game.State)
	require.NotContains(t, h.file(r.Game.ID, "state0"), "seed")

	h.pass(1500 * time.Millisecond)
	id := r.Game.ID
	r = h.ask(blue, protocol.SubmitMove, move(id, "0", `["left", "Left", "hold", "rotate", "drop", "right"]`))
	require.Equal(t, protocol.OK, r.Ret)
	require.Equal(t, 1, r.Game.Moves)
	require.Equal(t, 299.0, *r.Seconds, "counted in whole seconds that have begun")
	require.Equal(t, first.Preview[0], position(r.Game.State).Block)
	require.Equal(t, `["left", "rotate"]`, h.file(id, "move0"))
	require.Contains(t, h.file(id, "meta"), `"team":"blue","mode":"practice"`)

	for _, c := range []struct {
		who  [2]string
		more string
		code int
	}{
		{blue, move("NOSUCHGAME12", "1", "[]"), protocol.NoSuchGame},
		{blue, move("../../etc", "1", "[]"), protocol.NoSuchGame},
		{red, move(id, "1", "[]"), protocol.NotYours},
		{blue, move(id, "0", `["left"]`), protocol.OutOfStep},
		{blue, move(id, "2", "[]"), protocol.OutOfStep},
		{blue, move(id, "-1", "[]"), protocol.OutOfStep},
	} {
		r := h.ask(c.who, protocol.SubmitMove, c.more)
		require.Equal(t, protocol.Fail, r.Ret)
		require.Equal(t, c.code, r.Code)
		require.NotEmpty(t, r.Reason)
		if c.code == protocol.OutOfStep { // so that who repeats himself can go on
			require.Equal(t, 1, r.Game.Moves)
			require.NotNil(t, r.Seconds)
		}
	}
}

func TestPracticeUntilBlocked(t *testing.T) {
	h := newHall(t, Config{})
	r := h.ask(blue, protocol.CreatePractice, "")
	id := r.Game.ID
	turns := 0
	for ; !position(r.Game.State).Failed; turns++ {
		require.Less(t, turns, 100)
		r = h.ask(blue, protocol.SubmitMove, move(id, strconv.Itoa(turns), "[]"))
		require.Equal(t, protocol.OK, r.Ret)
	}
	last := r.Game.State
	r = h.ask(blue, protocol.SubmitMove, move(id, "0", "[]"))
	require.Equal(t, protocol.GameOver, r.Code, "whatever moves_made says")
	require.JSONEq(t, string(last), string(r.State))
	require.JSONEq(t, string(last), string(r.Game.State))
	require.Contains(t, h.file(id, "meta"), `"reason":"blocked"`)
	h.pass(time.Hour)
	require.Contains(t, h.file(id, "meta"), `"reason":"blocked"`)
}

func TestPracticeOutOfTime(t *testing.T) {
	h := newHall(t, Config{})
	r := h.ask(blue, protocol.CreatePractice, "")
	h.pass(300 * time.Second)
	reply := h.ask(blue, protocol.SubmitMove, move(r.Game.ID, "0", "[]"))
	require.Equal(t, protocol.OK, reply.Ret, "not more than 300 seconds")
	h.pass(time.Millisecond)
	late := h.ask(blue, protocol.SubmitMove, move(r.Game.ID, "1", "[]"))
	require.Equal(t, protocol.GameOver, late.Code)
	require.Zero(t, *late.Seconds)
	require.True(t, position(late.State).Failed)
	require.Equal(t, 1, late.Game.Moves)
	require.Contains(t, h.file(r.Game.ID, "state1"), `"failed"`)
	require.Empty(t, h.file(r.Game.ID, "move1"))
	require.Contains(t, h.file(r.Game.ID, "meta"), `"reason":"time"`)
}

// However many games a team begins, few of them are kept.
func TestPracticeIsBounded(t *testing.T) {
	h := newHall(t, Config{})
	var ids []protocol.ID
	for k := range 40 {
		h.pass(2 * time.Second) // as many per minute as are permitted
		ids = append(ids, h.ask(blue, protocol.CreatePractice, "").Game.ID)
		require.LessOrEqual(t, len(h.games), kept)
		if k%3 == 0 { // the newest is over before older ones are
			h.games[string(ids[k])].close("test")
		}
	}
	going := 0
	for _, g := range h.practice["blue"] {
		if g.running(h.at) {
			going++
		}
	}
	require.LessOrEqual(t, going, running)
	require.Len(t, h.practice["blue"], kept)
	require.Len(t, h.games, kept)
	require.Equal(t, protocol.NoSuchGame, h.ask(blue, protocol.SubmitMove, move(ids[0], "0", "[]")).Code)
	require.Equal(t, protocol.OK, h.ask(blue, protocol.SubmitMove, move(ids[38], "0", "[]")).Ret)
}

// TestRefusals: for the bodies that are refused, see package protocol.
func TestRefusals(t *testing.T) {
	h := newHall(t, Config{})
	for _, c := range []struct {
		path, body string
		status     int
		want       string
	}{
		{"/get_compete_game/", blueLogin + `}`, 404, "no such request"},
		{protocol.CreatePractice, `{"team_name": "blue", "password": "r"}`, 401, "wrong team name or password"},
		{protocol.GetCompete, `{"team_name": "blue"}`, 401, "wrong team name or password"},
		{protocol.SubmitMove, `{}`, 401, "wrong team name or password"},
		{protocol.SubmitMove, ``, 400, "want a JSON object"},
		{protocol.SubmitMove, blueLogin + `, "game_id": "x", "move_list": []}`, 400, "moves_made is missing"},
		{protocol.SubmitMove, blueLogin + `, "x": "` + strings.Repeat("x", protocol.MaxRequest) + `"}`, 413, "too large"},
	} {
		w, reply := h.post(c.path, c.body)
		require.Equal(t, c.status, w.Code, "%s %.80s", c.path, c.body)
		require.Equal(t, protocol.Fail, reply.Ret)
		require.Contains(t, reply.Reason, c.want)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, protocol.GetCompete, nil))
	require.Equal(t, http.StatusMethodNotAllowed, w.Code)
	require.Equal(t, "POST", w.Header().Get("Allow"))
	require.NoDirExists(t, h.dir)
}

// A history that cannot be written costs nobody his game.
func TestHistoryThatCannotBeWritten(t *testing.T) {
	var said bytes.Buffer
	h := newHall(t, Config{Log: slog.New(slog.NewTextHandler(&said, nil))})
	require.NoError(t, os.WriteFile(h.dir, nil, 0o600))
	r := h.ask(blue, protocol.CreatePractice, "")
	require.Equal(t, protocol.OK, h.ask(blue, protocol.SubmitMove, move(r.Game.ID, "0", "[]")).Ret)
	lines := strings.Split(strings.TrimSpace(said.String()), "\n")
	require.Len(t, lines, 2)
	require.Contains(t, lines[0], "level=WARN")
	require.Contains(t, lines[0], "without further history")
	require.Contains(t, lines[1], "team=blue")
	require.Equal(t, Counts{
		Teams: 2, Running: 1, Practice: 1, Turns: 1, Requests: map[int]int{http.StatusOK: 2}, HistoryErrors: 1,
	}, h.Counts())
}

// compete asks for the common game and expects one.
func (h *hall) compete(who [2]string) *protocol.Reply {
	r := h.ask(who, protocol.GetCompete, "")
	require.Equal(h.t, protocol.OK, r.Ret)
	return r
}

// waits expects a team to be told to wait, and returns how long.
func (h *hall) waits(who [2]string) float64 {
	r := h.ask(who, protocol.GetCompete, "")
	require.Equal(h.t, protocol.Wait, r.Ret)
	require.Nil(h.t, r.Game)
	return *r.WaitTime
}

func TestRound(t *testing.T) {
	h := newHall(t, Config{Players: 2, Rounds: 1, Notice: time.Second})
	require.Equal(t, 0.5, h.waits(blue))
	h.pass(4 * time.Second)
	require.Equal(t, 0.5, h.waits(blue))
	require.Equal(t, 0.5, h.waits(red), "the round begins in a second")
	h.pass(700 * time.Millisecond)
	require.InDelta(t, 0.3, h.waits(blue), 1e-9, "so that all ask when it begins")
	h.pass(300 * time.Millisecond)
	b := h.compete(blue)
	h.pass(2 * time.Second)
	r := h.compete(red)
	require.NotEqual(t, b.Game.ID, r.Game.ID)
	require.JSONEq(t, string(b.Game.State), string(r.Game.State), "the same blocks")
	require.Equal(t, 300.0, *b.Seconds)
	require.Equal(t, 298.0, *r.Seconds, "the same clock")
	require.Equal(t, b.Game.ID, h.compete(blue).Game.ID, "who comes again goes on")
	require.Equal(t, protocol.OK, h.ask(blue, protocol.SubmitMove, move(b.Game.ID, "0", "[]")).Ret)
	h.pass(298 * time.Second)
	require.Empty(t, h.rounds)
	h.pass(time.Millisecond)
	require.Len(t, h.rounds, 1)
	got := h.rounds[0]
	require.Equal(t, 1, got.Number)
	require.Equal(t, []Standing{
		{1, "blue", 0, 1, "time", string(b.Game.ID)}, {1, "red", 0, 0, "time", string(r.Game.ID)},
	}, got.Ranks)
	envtest.Has(t, h.file(b.Game.ID, "meta"), `"seed":"`+got.Seed+`"`, `"mode":"compete"`)
	for _, id := range []protocol.ID{b.Game.ID, r.Game.ID} {
		require.Contains(t, h.file(id, "meta"), `"reason":"time"`)
	}
	require.Equal(t, protocol.GameOver, h.ask(red, protocol.SubmitMove, move(r.Game.ID, "0", "[]")).Code)
	over := h.ask(blue, protocol.GetCompete, "")
	require.Equal(t, protocol.NoSuchGame, over.Code)
	require.Equal(t, "the competition is over", over.Reason)
	<-h.done // the server knows that it is over
}

// A round in which all are through is closed at once, and those who wait for the next one
// get other blocks.
func TestRoundsFollowEachOther(t *testing.T) {
	seeds := []string{"1", "2"}
	h := newHall(t, Config{Players: 2, Rounds: 2})
	h.seed = func() string {
		s := seeds[0]
		seeds = seeds[1:]
		return s
	}
	var first []string
	for n := range 2 {
		h.waits(blue)
		h.waits(red)
		b, r := h.compete(blue), h.compete(red)
		first = append(first, string(b.Game.State))
		require.Equal(t, string(b.Game.State), string(r.Game.State))
		h.games[string(b.Game.ID)].close("test")
		h.Tick()
		require.Len(t, h.rounds, n)
		require.Equal(t, 0.5, h.waits(blue), "until the other is through")
		h.games[string(r.Game.ID)].close("test")
		h.Tick()
		require.Len(t, h.rounds, n+1)
	}
	require.NotEqual(t, first[0], first[1])
	require.Len(t, h.games, 2, "the first round's games are forgotten")
	require.Equal(t, "2", h.rounds[1].Seed)
}

// Who has gone away does not count as waiting.
func TestWaitingMeansAsking(t *testing.T) {
	h := newHall(t, Config{Players: 2})
	h.waits(blue)
	h.pass(waitingTime + time.Second)
	h.waits(red)
	h.pass(time.Second)
	h.waits(red)
	h.waits(blue)
	h.compete(blue)
	h.pass(301 * time.Second)
	require.Len(t, h.rounds, 1)
	require.Equal(t, "blue", h.rounds[0].Ranks[0].Team)
}

// TestRanks of a round that begins at its date, with fewer teams than it waits for, and is stopped.
func TestRanks(t *testing.T) {
	h := newHall(t, Config{Players: 9, Start: time.Unix(1_700_000_060, 0)})
	h.waits(blue)
	h.waits(red)
	h.pass(time.Minute)
	b, r := h.compete(blue), h.compete(red)
	h.games[string(b.Game.ID)].state.Points = 3
	h.games[string(r.Game.ID)].state.Points = 7
	h.Close()
	require.Equal(t, []Standing{{1, "red", 7, 0, "stopped", string(r.Game.ID)}, {2, "blue", 3, 0, "stopped", string(b.Game.ID)}}, h.rounds[0].Ranks)
	require.NotContains(t, string(b.Game.State), "seed")
}

func TestSeedsOfRounds(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		seed := randomSeed()
		require.Regexp(t, `^-?\d{1,10}$`, seed)
		seen[seed] = true
	}
	require.Greater(t, len(seen), 95)
}
