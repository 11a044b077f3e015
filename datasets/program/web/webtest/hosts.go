package webtest

import (
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// Refuses checks that a server on a loopback address answers GET for a path with a status if it is called by an address
// or localhost, and refuses what a web page of another site makes a browser send.
func Refuses(t *testing.T, address, path string, status int) {
	t.Helper()
	_, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	for host, origins := range map[string]map[string]int{
		address:                     {"": status, "http://evil.example": 403, "null": 403},
		"localhost:" + port:         {"": status, "http://evil.example": 403},
		"evil.example:" + port:      {"": 403, "http://evil.example:" + port: 403}, // after DNS rebinding
		"evil.example":              {"": 403, "http://evil.example": 403},
		"localhost.evil.example":    {"": 403},
		"127.0.0.1.evil.example:80": {"": 403},
	} {
		for origin, want := range origins {
			q, err := http.NewRequest(http.MethodGet, "http://"+address+path, nil)
			require.NoError(t, err)
			if q.Host = host; origin != "" {
				q.Header.Set("Origin", origin)
			}
			r, err := http.DefaultClient.Do(q)
			require.NoError(t, err)
			require.NoError(t, r.Body.Close())
			require.Equal(t, want, r.StatusCode, "Host %s, Origin %q", host, origin)
		}
	}
}

// Dial opens a connection that sends a text, unless the server ends it before, and is closed after the test.
func Dial(t testing.TB, address, text string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	_, _ = io.WriteString(c, text)
	return c
}
