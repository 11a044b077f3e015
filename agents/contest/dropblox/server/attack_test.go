package server

import (
	"bufio"
	"bytes"
	"context"
	"crypto/pbkdf2"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/contest/dropblox/protocol"
	"blockyard/agents/contest/dropblox/teams"
	"blockyard/datasets/program/web/webtest"
	"blockyard/env/envtest"
)

// attacked is open with a clock of a minute. It returns the server's address.
func attacked(t testing.TB, c Config) (s *Server, address string) {
	c.Clock = time.Minute
	s, url, _ := open(t, c)
	return s, strings.TrimPrefix(url, "http://")
}

// post posts a request on a connection of its own and returns the status and the reply.
func post(address, path, body string) (int, *protocol.Reply) {
	c := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: hang}
	r := envtest.Must(c.Post("http://"+address+path, "application/json", strings.NewReader(body)))
	defer r.Body.Close()
	return r.StatusCode, envtest.Must(protocol.ReadReply(r.Body))
}

// request is the text of one that posts a body.
func request(path, body string) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", path, len(body), body)
}

// hang bounds what a test waits for: it only ends one that hangs.
const hang = 2 * time.Minute

const blueLogin = `{"team_name": "blue", "password": "b"`

// Strangers that keep connections open, asking again and again, in silence or in the middle of a
// request, and that come back when they are thrown out, keep no team out.
func TestStrangersKeepNobodyOut(t *testing.T) {
	const asking, others = 520, 90
	s, address := attacked(t, Config{})
	over, stop := context.WithCancel(t.Context())
	var strangers sync.WaitGroup
	var came atomic.Int32
	haunt := func(text string, again time.Duration) {
		for first := true; over.Err() == nil; {
			if conn, err := net.Dial("tcp", address); err == nil {
				unhook := context.AfterFunc(over, func() { _ = conn.Close() })
				go func() { _, _ = io.Copy(io.Discard, conn) }()
				for err == nil && over.Err() == nil {
					_, err = io.WriteString(conn, text)
					if first {
						came.Add(1)
						first = false
					}
					time.Sleep(again)
				}
				unhook()
				_ = conn.Close()
			}
		}
	}
	for range asking {
		strangers.Go(func() { haunt("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", time.Second) })
	}
	for k := range others {
		text := []string{"", "P", "POST /submit_game_move HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000\r\n\r\n{"}[k%3]
		strangers.Go(func() { haunt(text, 500*time.Millisecond) })
	}
	defer strangers.Wait()
	defer stop()
	require.Eventually(t, func() bool { return came.Load() == asking+others }, time.Minute, 10*time.Millisecond)
	status, r := post(address, protocol.CreatePractice, blueLogin+"}")
	require.Equal(t, 200, status)
	for made := range 5 {
		status, _ = post(address, protocol.SubmitMove, blueLogin+move(r.Game.ID, strconv.Itoa(made), "[]")+"}")
		require.Equal(t, 200, status)
	}
	require.Equal(t, 5, s.Counts().Turns)
}

// Until a team has logged in on a connection, every answer closes it. After that it is kept.
func TestStrangersAreNotKept(t *testing.T) {
	_, address := attacked(t, Config{})
	for text, want := range map[string]string{
		"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n":                 "404",
		"GET /get_compete_game HTTP/1.1\r\nHost: localhost\r\n\r\n": "405",
		request(protocol.GetCompete, "{}"):                          "401",
		request(protocol.GetCompete, "[]"):                          "400",
		request(protocol.GetCompete, strings.Repeat(" ", 70000)):    "413",
	} {
		conn := webtest.Dial(t, address, text)
		require.NoError(t, conn.SetDeadline(time.Now().Add(time.Minute)))
		answer, err := io.ReadAll(conn)
		require.NotErrorIs(t, err, os.ErrDeadlineExceeded, want)
		require.Contains(t, string(answer), "HTTP/1.1 "+want)
	}
	conn := webtest.Dial(t, address, "")
	for range 3 {
		envtest.Must(io.WriteString(conn, request(protocol.CreatePractice, blueLogin+"}")))
		require.NoError(t, conn.SetDeadline(time.Now().Add(time.Minute)))
		answer := make([]byte, 1<<16)
		n := envtest.Must(conn.Read(answer))
		require.Contains(t, string(answer[:n]), "HTTP/1.1 200")
	}
}

// Connections of one team are few, whatever it does. The newest ones are kept.
func TestATeamHasFewConnections(t *testing.T) {
	s, address := attacked(t, Config{Practice: 1e6})
	open := func(n int, closed *atomic.Int32, body string) {
		for range n {
			before := s.Counts().Requests[200]
			conn := webtest.Dial(t, address, request(protocol.GetCompete, body))
			require.Eventually(t, func() bool { return s.Counts().Requests[200] > before }, hang, time.Millisecond)
			go func() {
				_, _ = io.Copy(io.Discard, conn)
				closed.Add(1)
			}()
		}
	}
	var blueClosed, redClosed atomic.Int32
	open(3, &redClosed, `{"team_name": "red", "password": "r"}`)
	open(40, &blueClosed, blueLogin+"}")
	require.Eventually(t, func() bool { return blueClosed.Load() == 40-maxPerTeam }, hang, 10*time.Millisecond)
	require.Zero(t, redClosed.Load())
}

// While strangers guess the passwords of all teams as fast as they can, each team is let in
// at its first try, from the same address.
func TestGuessersKeepNobodyOut(t *testing.T) {
	var list []teams.Team
	for k := range 6 {
		team := teams.Team{Name: "team" + strconv.Itoa(k), Iterations: 5_000, Salt: []byte("some salt")}
		team.Hash = envtest.Must(pbkdf2.Key(sha256.New, "right", team.Salt, team.Iterations, sha256.Size))
		list = append(list, team)
	}
	_, address := attacked(t, Config{Teams: teams.NewGuard(list)})
	over, stop := context.WithCancel(t.Context())
	var guessers sync.WaitGroup
	var guesses atomic.Int32
	for k := range 60 {
		guessers.Go(func() {
			c := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
			for n := 0; over.Err() == nil; n++ {
				body := fmt.Sprintf(`{"team_name": "team%d", "password": "wrong%d"}`, (k+n)%8, n) // of which two do not exist
				q, _ := http.NewRequestWithContext(over, http.MethodPost, "http://"+address+protocol.GetCompete, strings.NewReader(body))
				if r, err := c.Do(q); err == nil {
					_ = r.Body.Close()
				}
				guesses.Add(1)
			}
		})
	}
	defer guessers.Wait()
	defer stop()
	require.Eventually(t, func() bool { return guesses.Load() > 5 }, time.Minute, 10*time.Millisecond)
	for k := range list {
		status, reply := post(address, protocol.GetCompete, fmt.Sprintf(`{"team_name": "team%d", "password": "right"}`, k))
		require.Equal(t, 200, status, reply.Reason)
	}
}

// A team that starts practice games as fast as it can gets few, and few folders. It is told when
// to try again, and the other team does not notice.
func TestPracticeIsPaced(t *testing.T) {
	h := newHall(t, Config{})
	for k := range 3 * practiceBurst {
		w, reply := h.post(protocol.CreatePractice, blueLogin+"}")
		if k < practiceBurst {
			require.Equal(t, http.StatusOK, w.Code)
			continue
		}
		require.Equal(t, http.StatusTooManyRequests, w.Code)
		require.Equal(t, "2", w.Header().Get("Retry-After"))
		require.Equal(t, "more than 30 practice games per minute of team blue: try again in 2 s", reply.Reason)
	}
	require.Len(t, envtest.Must(os.ReadDir(h.dir)), practiceBurst)
	require.Equal(t, protocol.OK, h.ask(red, protocol.CreatePractice, "").Ret)
	h.pass(time.Minute / perMinute)
	require.Equal(t, protocol.OK, h.ask(blue, protocol.CreatePractice, "").Ret)
}

// A team's requests have a rate. Which requests they are does not matter.
func TestRequestsArePaced(t *testing.T) {
	h := newHall(t, Config{})
	for _, permitted := range []int{requestRate, requestRate / 10} {
		for range permitted {
			h.ask(blue, protocol.GetCompete, "")
		}
		w, reply := h.post(protocol.SubmitMove, blueLogin+"}")
		require.Equal(t, http.StatusTooManyRequests, w.Code)
		require.Contains(t, reply.Reason, "more than 1000 requests per second of team blue: try again in 1 s")
		require.Equal(t, protocol.OK, h.ask(red, protocol.GetCompete, "").Ret)
		h.pass(time.Second / 10)
	}
}

// The histories of a team's practice games take no more space than is permitted. Its games, and
// the histories of the other team, go on.
func TestHistoryIsBounded(t *testing.T) {
	h := newHall(t, Config{HistoryBytes: 1 << 20, Practice: 1e6})
	for n := 0; n < 400; {
		id := h.ask(blue, protocol.CreatePractice, "").Game.ID
		for made := 0; h.games[string(id)].running(h.at); made++ {
			h.ask(blue, protocol.SubmitMove, move(id, strconv.Itoa(made), "[]"))
			n++
		}
		h.pass(time.Second)
	}
	files := 0
	for _, folder := range envtest.Must(os.ReadDir(h.dir)) {
		files += 1 + len(envtest.Must(os.ReadDir(h.dir+"/"+folder.Name())))
	}
	require.LessOrEqual(t, files, 1<<20/4096, "blocks of the disk")
	require.Greater(t, files, 200)
	other := h.ask(red, protocol.CreatePractice, "").Game.ID
	require.NotEmpty(t, h.file(other, "state0"))
}

// FuzzHTTP sends any bytes to the port of a contest: the server answers or ends the connection, and then serves another
// client. GAME stands for the id of a game, and LENGTH for the number of bytes after the head.
func FuzzHTTP(f *testing.F) {
	s, address := attacked(f, Config{Rounds: 1_000_000, Notice: time.Millisecond, Practice: 1e9})
	_, created := post(address, protocol.CreatePractice, blueLogin+"}")
	require.Equal(f, protocol.OK, created.Ret)
	const head = " HTTP/1.1\r\nHost: localhost\r\nContent-Length: LENGTH\r\n\r\n"
	for path, body := range map[string]string{
		protocol.CreatePractice: "}", protocol.GetCompete: "}", "/x": "}",
		protocol.SubmitMove:        `, "game_id": "GAME", "move_list": ["left", "drop"], "moves_made": 0}`,
		protocol.SubmitMove + "?x": `, "game_id": 3, "move_list": null, "moves_made": 1e3}`,
	} {
		f.Add([]byte("POST " + path + head + blueLogin + body))
	}
	f.Add([]byte("GET / HTTP/1.0\r\n\r\nGET / HTTP/1.1\r\n\r\n"))
	f.Add([]byte("POST /get_compete_game HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"a\":\r\n0\r\n\r\n"))
	f.Add([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
	f.Fuzz(func(t *testing.T, request []byte) {
		head, body, _ := strings.Cut(string(request), "\r\n\r\n")
		text := strings.ReplaceAll(head, "LENGTH", strconv.Itoa(len(body))) + "\r\n\r\n" +
			strings.ReplaceAll(body, "GAME", string(created.Game.ID))
		conn := webtest.Dial(t, address, text)
		require.NoError(t, conn.SetDeadline(time.Now().Add(time.Minute)))
		_ = conn.(*net.TCPConn).CloseWrite()
		answer, err := io.ReadAll(conn)
		require.NotErrorIs(t, err, os.ErrDeadlineExceeded, "neither an answer nor an end")
		require.NotContains(t, string(answer), "goroutine ")
		r, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(answer)), nil)
		if err == nil && r.Header.Get("Content-Type") == "application/json" {
			require.Contains(t, []int{200, 400, 401, 403, 404, 405, 413, 429}, r.StatusCode)
			if reply, err := protocol.ReadReply(r.Body); err == nil { // there is none to HEAD
				require.Equal(t, r.StatusCode == http.StatusOK && reply.Code == 0, reply.Ret != protocol.Fail)
			}
		}
		_, other := post(address, protocol.CreatePractice, `{"team_name": "red", "password": "r"}`)
		require.Equal(t, protocol.OK, other.Ret)
		s.mu.Lock()
		defer s.mu.Unlock()
		require.LessOrEqual(t, len(s.games), 2*kept+4)
	})
}
