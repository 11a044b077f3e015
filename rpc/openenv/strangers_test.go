package openenv

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/rpc/server"
)

// Requests whose body never comes, more than there may be connections, keep nobody out.
func TestBodiesThatNeverCome(t *testing.T) {
	w := start(t, "blocking", server.Config{}, nil)
	address := strings.TrimPrefix(w.url, "http://")
	for range 2 * 128 { // by default, 64 sessions may have 128 connections
		c, err := net.Dial("tcp", address)
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
		_, err = fmt.Fprintf(c, "POST /reset HTTP/1.1\r\nHost: %s\r\nContent-Length: 1000\r\n\r\n{", address)
		require.NoError(t, err)
	}
	reply, err := http.Get(w.url + "/health")
	require.NoError(t, err)
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	require.NoError(t, err)
	require.Contains(t, string(text), "healthy")
}
