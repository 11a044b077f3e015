package watch

import (
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"blockyard/datasets/program/web/webtest"
	"blockyard/rpc/session/limits"

	"blockyard/agents/bots"
	"blockyard/datasets/program/web"
	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/env/games"
	"blockyard/env/vec"
	"blockyard/rpc/server"
	"blockyard/rpc/server/listen"
	"blockyard/rpc/wire/client"

	"github.com/stretchr/testify/require"
)

// start runs a server with tokens and returns it and its address.
func start(t testing.TB, tokens ...limits.Token) (*server.Server, string) {
	s := server.New(server.Config{
		Games: games.All, Version: "test", Tokens: tokens, Limits: limits.DefaultLimits(),
		Agents: func(*env.Game, bots.Text) (vec.AgentFactory, error) { return nil, nil },
	})
	l := envtest.Must(listen.Listen("tcp:127.0.0.1:0", tokens, listen.Credentials{}))
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	t.Cleanup(func() {
		require.NoError(t, l.Close())
		require.NoError(t, s.Shutdown(context.Background()))
		require.NoError(t, <-ended)
	})
	return s, "tcp:" + l.Addr().String()
}

// play opens games and resets them.
func play(t testing.TB, address, token, game string, n int) *client.Games {
	c := envtest.Closing(t, envtest.Must(client.Dial(context.Background(), address, token, nil)))
	g := envtest.Must(c.Open(game, map[string]any{"num_envs": n, "seed": 1, "illegal": "random"}))
	require.NoError(t, g.Reset(nil))
	copied(t, g)
	return g
}

// copied waits until the games are copied for those who watch, which is after the response and before the next one.
func copied(t testing.TB, g *client.Games) { require.NoError(t, g.Client().Call("ping", nil)) }

// step steps all games with the action 0, which a legal one replaces if it is illegal.
func step(t testing.TB, g *client.Games, rows int) {
	require.NoError(t, g.Step(make([]byte, 2*rows)))
	copied(t, g)
}

// handler returns a handler that pauses between no two answers.
func handler(s *server.Server) *Handler {
	h := NewHandler(s)
	h.pause = 0
	return h
}

func request(h *Handler, query, token string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", query, nil)
	r.Host = "127.0.0.1:80"
	r.Header.Set("Authorization", "Bearer "+token)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// look asks a handler.
func look(t *testing.T, h *Handler, query, token string, status int) Answer {
	w := request(h, query, token)
	require.Equal(t, status, w.Code, w.Body)
	var got Answer
	require.NoError(t, json.NewDecoder(w.Body).Decode(&got))
	return got
}

// Games are seen as they were at the end of the last request, spread over all handles, and nobody waits.
func TestGamesAreSeen(t *testing.T) {
	s, address := start(t)
	h := handler(s)
	require.Empty(t, look(t, h, "/watch?count=4", "", 200).Games)
	many, few := play(t, address, "", "BlockBattle-v0", 100), play(t, address, "", "Blocking-v0", 1)
	got := look(t, h, "/watch?count=4", "", 200)
	require.Empty(t, got.Games)
	require.True(t, got.Waiting)
	require.Equal(t, 101, got.Envs)
	for n := range 3 {
		step(t, many, 200)
		step(t, few, 2)
		got = look(t, h, "/watch?count=4", "", 200)
		require.False(t, got.Waiting)
		require.Len(t, got.Games, 3, "two of the many and the only one of the few")
		require.Equal(t, []string{"client", "client"}, got.Games[0].Players)
		require.Equal(t, n+1, got.Games[1].Frame.Turn)
		require.Len(t, got.Games[1].Frame.Boards, 2)
		require.Equal(t, "Blocking", got.Games[2].Title)
	}
	require.Len(t, look(t, h, "/watch?count=64", "", 200).Games, 3, "as many as were asked for last")
	require.NoError(t, few.Client().Close())
	require.Eventually(t, func() bool { return look(t, h, "/watch?count=64", "", 200).Handles == 1 },
		time.Minute, 10*time.Millisecond)
}

// Who watches sees only games of clients with the same token.
func TestTokensSeeTheirOwn(t *testing.T) {
	s, address := start(t, limits.Token{Name: "a", Secret: "one"}, limits.Token{Name: "b", Secret: "two"})
	h := handler(s)
	g := play(t, address, "one", "WinTetris-v0", 2)
	look(t, h, "/watch?count=4", "one", 200)
	step(t, g, 2)
	require.Len(t, look(t, h, "/watch?count=4", "one", 200).Games, 2)
	require.Zero(t, look(t, h, "/watch?count=4", "two", 200).Envs)
	look(t, h, "/watch?count=4", "three", 401)
	look(t, h, "/watch?count=4", "", 401)
}

// However often strangers ask, they have no turn and wait for none: they are refused while the owner of a token waits.
func TestStrangersTakeNoTurn(t *testing.T) {
	s, _ := start(t, limits.Token{Name: "a", Secret: "one"})
	h := handler(s)
	require.NoError(t, h.turns.Enter(t.Context(), "another", ""))
	var owner sync.WaitGroup
	owner.Go(func() { look(t, h, "/watch?count=4", "one", 200) })
	waits(t, h, 1)
	for _, token := range []string{"", "two"} {
		for range 500 {
			look(t, h, "/watch?count=4", token, 401) // not 429: it learns nothing of others either
		}
	}
	waits(t, h, 1)
	h.turns.Leave()
	owner.Wait()
}

// waits waits until so many wait for their turn.
func waits(t *testing.T, h *Handler, n int) {
	require.Eventually(t, func() bool { return h.turns.Waiting() == n }, time.Minute, 100*time.Microsecond)
}

// However often one token asks, the owner of another has a turn: tokens are what web.Turns takes for clients. What is too
// much of the first is refused.
func TestTokensTakeTurns(t *testing.T) {
	s, _ := start(t, limits.Token{Name: "a", Secret: "one"}, limits.Token{Name: "b", Secret: "two"})
	h := handler(s)
	require.NoError(t, h.turns.Enter(t.Context(), "another", ""))
	answers := make(chan int, 1000)
	for range web.MaxWaiting + 50 {
		go func() { answers <- request(h, "/watch?count=4", "one").Code }()
	}
	for range 50 {
		require.Equal(t, http.StatusTooManyRequests, <-answers)
	}
	var owner sync.WaitGroup
	owner.Go(func() { look(t, h, "/watch?count=4", "two", http.StatusOK) })
	require.Equal(t, http.StatusTooManyRequests, <-answers, "one of the first token makes room")
	h.turns.Leave()
	owner.Wait()
	for range web.MaxWaiting - 1 {
		require.Equal(t, http.StatusOK, <-answers)
	}
}

// What is not a program's request for a few games is refused, and so is one too many.
func TestRefused(t *testing.T) {
	s, _ := start(t)
	h := handler(s)
	for query, status := range map[string]int{
		"/": 404, "/watch": 400, "/watch?count=0": 400, "/watch?count=65": 400, "/watch?count=x": 400,
	} {
		look(t, h, query, "", status)
	}
	l := envtest.Must(net.Listen("tcp", "127.0.0.1:0"))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- h.Serve(ctx, l, nil, slog.New(slog.DiscardHandler)) }()
	webtest.Refuses(t, l.Addr().String(), "/watch?count=x", http.StatusBadRequest)
	stop()
	require.NoError(t, <-ended)
	r := httptest.NewRequest("GET", "/watch?count=4", nil)
	r.Host = "[::1]:80"
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	require.Equal(t, 200, w.Code)
}

// There is a pause between two answers, whoever asks.
func TestAnswersPause(t *testing.T) {
	s, _ := start(t)
	h := NewHandler(s)
	begun := time.Now()
	for range 3 {
		look(t, h, "/watch?count=4", "", 200)
	}
	require.GreaterOrEqual(t, time.Since(begun), 2*pause)
}
