package server

import (
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/contest/dropblox/protocol"
)

// FuzzHTTP sends any bytes to the port of a contest: the server answers or ends the connection, and then serves another
// client. GAME stands for the id of a game, and LENGTH for the number of bytes after the head.
func FuzzHTTP(f *testing.F) {
	_, address := attacked(f, Config{Rounds: 1_000_000, Notice: time.Millisecond, Practice: 1e9})
	_, created := post(f, address, protocol.CreatePractice, blueLogin+"}")
	require.Equal(f, protocol.OK, created.Ret)
	head := "POST " + protocol.SubmitMove + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: LENGTH\r\n\r\n"
	f.Add([]byte(head + `{"team_name": "blue", "password": "b", "game_id": "GAME", "move_list": ["left"], "moves_made": 0}`))
	f.Add([]byte("GET / HTTP/1.0\r\n\r\nGET / HTTP/1.1\r\n\r\n"))
	f.Add([]byte("POST /get_compete_game HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"a\":\r\n0\r\n\r\n"))
	f.Add([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
	f.Fuzz(func(t *testing.T, request []byte) {
		head, body, _ := strings.Cut(string(request), "\r\n\r\n")
		text := strings.ReplaceAll(head, "LENGTH", strconv.Itoa(len(body))) + "\r\n\r\n" +
			strings.ReplaceAll(body, "GAME", string(created.Game.ID))
		conn, err := net.Dial("tcp", address)
		require.NoError(t, err)
		defer conn.Close()
		require.NoError(t, conn.SetDeadline(time.Now().Add(time.Minute)))
		_, _ = io.WriteString(conn, text) // the server may have ended the connection
		_ = conn.(*net.TCPConn).CloseWrite()
		answer, err := io.ReadAll(conn)
		require.NotErrorIs(t, err, os.ErrDeadlineExceeded, "neither an answer nor an end")
		require.NotContains(t, string(answer), "goroutine ")
		_, other := post(t, address, protocol.CreatePractice, `{"team_name": "red", "password": "r"}`)
		require.Equal(t, protocol.OK, other.Ret)
	})
}
