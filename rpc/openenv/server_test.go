package openenv

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"

	"blockyard/env/envtest"
	"blockyard/rpc/session/limits"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/env/games"
	"blockyard/env/vec"
	"blockyard/rpc/server"
)

// A world is a server on a port of its own.
type world struct {
	*Server
	guests *server.Server
	url    string
}

// patience bounds what a test waits for: it only ends one that hangs.
const patience = time.Minute

// start starts a server of a game, against a random opponent.
func start(t testing.TB, game string, sc server.Config, change func(*Config)) *world {
	g := envtest.Must(games.Lookup(game))
	random := envtest.Must(bots.New(g, bots.Own("random")))
	if sc.Limits == (limits.Limits{}) {
		sc.Limits = limits.DefaultLimits()
	}
	w := &world{guests: server.New(sc)}
	c := Config{Game: g, Opponent: vec.AgentFactory(random), Opponents: "random", Penalty: 0.25, Rules: games.Rules(g),
		Version: "0.0.1", Ledger: w.guests.Ledger(), Log: slog.New(slog.DiscardHandler)}
	if change != nil {
		change(&c)
	}
	w.Server = envtest.Must(New(c))
	l := envtest.Must(net.Listen("tcp", "127.0.0.1:0"))
	w.url = "http://" + l.Addr().String()
	ended := make(chan error, 1)
	go func() { ended <- w.Serve(l) }()
	t.Cleanup(func() {
		require.NoError(t, w.Close())
		require.NoError(t, <-ended)
		require.Eventually(t, func() bool { return w.guests.Counts().Sessions == 0 }, patience, time.Millisecond)
		require.Zero(t, w.guests.Counts().Envs)
		require.Zero(t, w.guests.Counts().Memory)
	})
	return w
}

// ask sends a request and returns the status and the answer. Headers are pairs of name and value.
func (w *world) ask(t *testing.T, method, path, body string, headers ...string) (int, map[string]any) {
	q := envtest.Must(http.NewRequest(method, w.url+path, bytes.NewBufferString(body)))
	for k := 0; k < len(headers); k += 2 {
		q.Header.Set(headers[k], headers[k+1])
	}
	r := envtest.Must(http.DefaultClient.Do(q))
	defer r.Body.Close()
	b := envtest.Must(io.ReadAll(r.Body))
	var out map[string]any
	if len(b) > 0 && b[0] == '{' {
		require.NoError(t, json.Unmarshal(b, &out), string(b))
	}
	return r.StatusCode, out
}

// want is ask for an answer with a status, and returns the answer.
func (w *world) want(t *testing.T, status int, method, path, body string, headers ...string) map[string]any {
	got, out := w.ask(t, method, path, body, headers...)
	require.Equal(t, status, got, "%s %s: %v", method, path, out)
	return out
}

// refuses is want of an answer that says why a request is refused.
func (w *world) refuses(t *testing.T, status int, says, method, path, body string, headers ...string) {
	require.Contains(t, w.want(t, status, method, path, body, headers...)["detail"], says)
}

// begun starts a server and a session in which an episode has begun.
func begun(t *testing.T, game string, change func(*Config)) (*world, *player) {
	w := start(t, game, server.Config{}, change)
	p := w.dial(t, "")
	p.reset(`{"seed": 5}`)
	return w, p
}

// A player is a client over a WebSocket.
type player struct {
	*websocket.Conn
	t *testing.T
}

// dial opens a WebSocket with a session of its own and a token.
func (w *world) dial(t *testing.T, token string) *player { return w.dialAt(t, "/ws", token) }

func (w *world) dialAt(t *testing.T, path, token string) *player {
	o := &websocket.DialOptions{HTTPHeader: http.Header{}}
	if token != "" {
		o.HTTPHeader.Set("Authorization", "Bearer "+token)
	}
	conn, _ := envtest.Must2(websocket.Dial(t.Context(), w.url+path, o))
	conn.SetReadLimit(1 << 20)
	t.Cleanup(func() { conn.CloseNow() })
	return &player{conn, t}
}

// send sends a message and returns the type and data of the answer.
func (p *player) send(text string) (string, map[string]any) {
	require.NoError(p.t, p.Write(context.Background(), websocket.MessageText, []byte(text)))
	return p.receive()
}

// plays sends a message that is answered by an observation, and returns the result.
func (p *player) plays(text string) map[string]any {
	kind, r := p.send(text)
	require.Equal(p.t, "observation", kind, r)
	return r
}

// reset begins an episode with the data of a reset.
func (p *player) reset(data string) map[string]any {
	return p.plays(`{"type": "reset", "data": ` + data + `}`)
}

// state returns the state of the episode.
func (p *player) state() map[string]any {
	_, s := p.send(`{"type": "state"}`)
	return s
}

// refused sends a message that is answered by an error.
func (p *player) refused(text, says string) {
	kind, e := p.send(text)
	require.Equal(p.t, "error", kind, text)
	require.Contains(p.t, e["message"], says, text)
}

// closed waits until the server has closed the connection, and returns the error of that.
func (p *player) closed() error {
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	_, _, err := p.Read(ctx)
	require.Error(p.t, err)
	require.NoError(p.t, ctx.Err())
	return err
}

// receive returns the type and data of the next message.
func (p *player) receive() (string, map[string]any) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var m map[string]any
	require.NoError(p.t, wsjson.Read(ctx, p.Conn, &m))
	data, _ := m["data"].(map[string]any)
	return m["type"].(string), data
}

// step plays a move.
func (p *player) step(move string) map[string]any {
	return p.plays(jsonOf(map[string]any{"type": "step", "data": map[string]string{"move": move}}))
}

// observationOf is the observation of a result.
func observationOf(result map[string]any) map[string]any {
	return result["observation"].(map[string]any)
}

// movesOf returns the legal moves of a result.
func movesOf(result map[string]any) []string { return texts(observationOf(result)["legal_moves"]) }

// texts are a list of JSON whose entries are texts.
func texts(list any) (all []string) {
	for _, entry := range list.([]any) {
		all = append(all, entry.(string))
	}
	return all
}

func jsonOf(v any) string { return string(envtest.Must(json.Marshal(v))) }
