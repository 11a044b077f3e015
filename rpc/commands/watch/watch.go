// Package watch shows games of the clients of a server while they are played, over HTTP: pictures as JSON, for
// "datasets view --web --live". Who watches needs the token of the clients whose games it sees.
//
//	GET /watch?count=16    the answer; count is 1 to 64
//	Authorization: Bearer TOKEN
package watch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"blockyard/datasets/program/named"
	"blockyard/datasets/program/web"
	"blockyard/datasets/program/web/ask"
	"blockyard/datasets/viewer"
	"blockyard/rpc/server"
	"blockyard/rpc/wire"
)

// Limits on those who watch.
const (
	pause     = 100 * time.Millisecond // between two answers, whoever asks
	mostConns = 16                     // of strangers, and of each token
)

// An Answer is the pictures of some games.
type Answer struct {
	Games   []Picture `json:"games"`
	Handles int       `json:"handles"` // open with this token
	Envs    int       `json:"envs"`    // in these handles
	Waiting bool      `json:"waiting"` // some handles show nothing yet: their games appear after their next step
}

// A Picture is a game of a client as it was between two of its requests.
type Picture struct {
	ID      string       `json:"id"` // "SESSION.HANDLE.ENV"
	Game    string       `json:"game"`
	Title   string       `json:"title"`
	Players []string     `json:"players"`
	Frame   viewer.Frame `json:"frame"`
}

// A Handler answers those who watch.
type Handler struct {
	srv     *server.Server
	pause   time.Duration
	turns   web.Turns      // one answer at a time, by token and address
	painter viewer.Painter // of who has the turn
}

// NewHandler shows the games of a server.
func NewHandler(srv *server.Server) *Handler { return &Handler{srv: srv, pause: pause} }

// ServeHTTP implements http.Handler: it answers GET /watch?count=N with N of the server's games as JSON, to programs
// on this machine and not to web pages.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	web.Handler(h.answer).ServeHTTP(w, r)
}

func (h *Handler) answer(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	count, err := strconv.Atoi(r.FormValue("count"))
	switch {
	case r.Method != http.MethodGet || r.URL.Path != "/watch":
		want := named.Text("want GET /watch?count=N; datasets view --web --live shows it")
		return ask.Status(http.StatusNotFound, errors.New(want))
	case err != nil || count < 1 || count > server.MaxWatched:
		return ask.Status(http.StatusBadRequest,
			fmt.Errorf("count: %.20q, want 1 to %d", r.FormValue("count"), server.MaxWatched))
	}
	secret := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	holder, err := h.srv.Ledger().Recognize(secret)
	if err != nil { // strangers take nobody's turn
		return unauthorized(err)
	}
	name := holder.Name()
	web.Known(r, "token "+name)
	if err := h.turns.Enter(r.Context(), name, web.Asked(r)); err != nil { // web.ErrBusy, or nobody waits for the answer
		w.Header().Set("Retry-After", "1")
		return ask.Status(http.StatusTooManyRequests, fmt.Errorf("%w: this server answers once per %v", err, pause))
	}
	defer func() { time.AfterFunc(h.pause, h.turns.Leave) }()
	got, err := h.srv.Watch(secret, count)
	if err != nil {
		return unauthorized(err)
	}
	out := Answer{Games: []Picture{}, Handles: got.Handles, Envs: got.Envs, Waiting: !got.Known}
	for _, g := range got.Games {
		out.Games = append(out.Games, Picture{
			ID: fmt.Sprintf("%d.%d.%d", g.Session, g.Handle, g.Env), Game: g.Game.Name,
			Title: cmp.Or(g.Game.Title, g.Game.Name), Players: g.Players,
			Frame: h.painter.Position(g.State, g.Players, g.Steps, true),
		})
	}
	web.Answer(w, out)
	return nil
}

func unauthorized(err error) error {
	if refusal, ok := errors.AsType[*wire.Error](err); ok {
		err = errors.New(strings.Replace(refusal.Msg, " in hello", "", 1))
	}
	return ask.Status(http.StatusUnauthorized, err)
}

// Serve answers on a listener until ctx is done, to clients that call it by one of the names; see package web.
func (h *Handler) Serve(ctx context.Context, l net.Listener, names web.Names, log *slog.Logger) error {
	return web.Serve(ctx, l, h, web.Limits{Read: 10 * time.Second, Write: 30 * time.Second, Idle: time.Minute,
		HeaderBytes: 16 << 10, Strangers: mostConns, Names: names, Log: log})
}
