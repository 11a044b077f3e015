package viewer

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"blockyard/datasets/program/web"
	"blockyard/datasets/program/web/ask"
	"blockyard/datasets/program/web/webtest"
	"blockyard/env"
	"blockyard/env/games"

	"github.com/stretchr/testify/require"
)

// shows is a server's --watch, whose games take a step with every request.
func shows(t *testing.T, game string, asked *atomic.Int64) *httptest.Server {
	g, err := games.Lookup(game)
	require.NoError(t, err)
	seats := g.MinSeats
	players := []string{"client", "learned:ply=2", "hand", "hand"}[:seats]
	var states []env.State
	for k := range mostGames {
		s := g.New(seats)
		s.Reset(uint64(k))
		states = append(states, s)
	}
	var painter Painter
	server := httptest.NewServer(web.Handler(func(w http.ResponseWriter, r *http.Request) error {
		if r.Header.Get("Authorization") != "Bearer secret" {
			return ask.Status(http.StatusUnauthorized, fmt.Errorf("this server requires a token"))
		}
		var count int
		fmt.Sscan(r.FormValue("count"), &count)
		turn := int(asked.Add(1))
		list := []map[string]any{}
		for k, s := range states[:count] {
			m := env.NoMoves
			for set := s.Acting(); set != 0; set = set.Rest() {
				legal := s.Legal(set.First(), nil)
				m[set.First()] = legal[(turn*7+k)%len(legal)]
			}
			if s.Acting() != 0 {
				s.Step(m)
			}
			list = append(list, map[string]any{"id": fmt.Sprint("1.1.", k), "game": g.Name, "title": g.Title,
				"players": players, "frame": painter.Position(s, players, turn, true)})
		}
		web.Answer(w, map[string]any{"games": list, "handles": 1, "envs": 1024, "waiting": false})
		return nil
	}))
	t.Cleanup(server.Close)
	return server
}

// The page shows as many games as are chosen, as they go on, and says why it shows none.
func TestLiveGrid(t *testing.T) {
	var asked atomic.Int64
	server := shows(t, "blockbattle", &asked)
	b := webtest.Open(t, (&Live{Address: server.URL, Token: "secret"}).routes())
	b.Visit("")
	tiles := "document.querySelectorAll('.tile').length"
	b.Await(tiles + " === 16 && document.querySelector('#totals').textContent === '16 of 1,024 games'")
	b.Await("Number(document.querySelector('.tile small').textContent.split(' ')[1]) > 5")
	b.Await(painted)
	for _, s := range []struct {
		name string
		w, h int64
		dark bool
	}{{"phone-dark", 390, 844, true}, {"phone", 390, 844, false}, {"dark", 1280, 800, true}, {"light", 1280, 800, false}} {
		b.Size(s.w, s.h, 1, s.dark)
		b.Await(fmt.Sprintf("innerWidth === %d && document.documentElement.scrollWidth <= innerWidth", s.w))
		b.Shot("live-" + s.name)
	}
	b.Text("(() => { const s = document.querySelector('#count'); s.value = 4; s.dispatchEvent(new Event('change')); })()")
	b.Await(tiles + " === 4")
	b.Clean()
	b.Quiet = true // the browser notes failed requests on its console
	server.Close()
	b.Await("document.querySelector('#trouble').textContent.includes('does a server run there with --watch?')")
}

// Many pages ask the server no more often than one, and what it refuses is said before a page is served.
func TestLiveAsksRarely(t *testing.T) {
	var asked atomic.Int64
	server := shows(t, "blocking", &asked)
	h := &Live{Address: strings.TrimPrefix(server.URL, "http://"), Token: "secret"}
	began := time.Now()
	for range 20 {
		w := httptest.NewRecorder()
		h.routes().ServeHTTP(w, httptest.NewRequest("GET", "/api/live?count=9", nil))
		require.Equal(t, 200, w.Code)
		var got struct{ Games []json.RawMessage }
		require.NoError(t, json.NewDecoder(w.Body).Decode(&got))
		require.Len(t, got.Games, 9)
	}
	require.LessOrEqual(t, asked.Load(), 1+int64(time.Since(began)/refreshed))
	var out bytes.Buffer
	for address, want := range map[string]string{
		server.URL: "requires a token", "127.0.0.1:1": "does a server run there", "%": "want HOST:PORT",
	} {
		live := Live{Address: address, Token: "wrong", PageFlags: web.PageFlags{Listen: "127.0.0.1:0"}}
		require.ErrorContains(t, live.Serve(context.Background(), &out, &out), want)
	}
	require.Empty(t, out.String())
}

// No web page of another site sees the games.
func TestLiveRefusesForeignPages(t *testing.T) {
	address := shows(t, "blocking", new(atomic.Int64)).URL
	live := Live{Address: address, Token: "secret", PageFlags: web.PageFlags{Listen: "127.0.0.1:0"}}
	ctx, stop := context.WithCancel(t.Context())
	in, out := io.Pipe()
	ended := make(chan error)
	go func() { ended <- live.Serve(ctx, out, io.Discard) }()
	line, err := bufio.NewReader(in).ReadString('\n')
	require.NoError(t, err)
	webtest.Refuses(t, strings.Trim(line, "htp:/\n"), "/api/live?count=1", http.StatusOK)
	stop()
	require.NoError(t, <-ended)
}
