//go:build !race

package server_test

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/rpc/wire"
)

// The race detector allocates for goroutines that wait.
func TestStreamAllocatesNothing(t *testing.T) {
	p := start(t, nil)
	options := map[string]any{"num_envs": 4, "opponents": map[int]string{1: "first"}}
	conn := greeted(t, p.unix, request(t, "open", "toy:pick", options), request(t, "reset", 1))
	send, recv := request(t, "send", 1, u32(0, 1, 2, 3), u16(65535, 65535, 65535, 65535)), request(t, "recv", 1, 4, 4, 1000)
	both, buf := append(send, recv...), make([]byte, 1<<16)
	twin, err := dial(t, p.unix).Open("toy:pick", options)
	require.NoError(t, err)
	size := wire.DoneLen + len(wire.AppendReceived(nil, 77, make([]byte, 16), twin.Len)) + twin.Len
	step := func() {
		if _, err := conn.Write(both); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(conn, buf[:size]); err != nil {
			t.Fatal(err)
		}
	}
	allocatesNothing(t, step)
}
