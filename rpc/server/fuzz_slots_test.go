//go:build linux

package server_test

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/env/envtest/toy"
	"blockyard/rpc/server"
	"blockyard/rpc/wire"
)

// FuzzSlots asks about slots in any order and with any numbers, as they are and with
// bytes changed: every request is answered, or the connection ends, and the server goes on.
func FuzzSlots(f *testing.F) {
	p := start(f, func(c *server.Config) { c.Limits.MaxMemory = 8 << 20 })
	f.Add([]byte{0, 2, 0, 2, 0, 0, 1, 1, 0, 3, 0, 0, 4, 0, 0})
	f.Add([]byte{0, 1, 0, 0, 255, 0, 1, 255, 255, 2, 9, 0, 3, 1, 1, 5, 0, 0, 1, 0, 0})
	f.Add([]byte{0, 3, 0, 6, 12, 99, 1, 0, 0})
	f.Fuzz(func(t *testing.T, script []byte) {
		conn := raw(t, p.unix)
		defer conn.Close()
		_, err := conn.Write(append(hello(t), request(t, "open", toy.Pick.Name, map[string]any{"num_envs": 3})...))
		require.NoError(t, err)
		readMessage(t, conn)
		readMessage(t, conn)
		script = script[:min(len(script), 90)]
		for ; len(script) >= 3; script = script[3:] {
			if !asked(t, conn, script[0], int(int8(script[1])), int(script[2])) {
				break
			}
		}
		require.NoError(t, dial(t, p.unix).Call("ping", nil))
		require.NotContains(t, p.logged(), "panic")
	})
}

// asked makes one request and reports whether it was answered.
func asked(t *testing.T, conn net.Conn, op byte, a, b int) bool {
	var ask []byte
	slot := map[string]any{"slot": a}
	switch op % 7 {
	case 0:
		ask = request(t, "share", 1, a)
	case 1:
		ask = wire.AppendStepSlot(nil, 7, 1, uint32(a))
	case 2:
		ask = request(t, "reset", 1, slot)
	case 3:
		ask = request(t, "rollout", 1, b%16, slot)
	case 4:
		ask = request(t, "clone", 1, u32(0), u32(1), slot)
	case 5:
		ask = request(t, "close", 1)
	case 6: // a byte of a request changed
		ask = wire.AppendStepSlot(nil, 7, 1, 0)
		ask[(a&0xff)%len(ask)] = byte(b)
	}
	_, err := conn.Write(ask)
	if err != nil {
		return false
	}
	if err := conn.SetReadDeadline(time.Now().Add(300 * time.Millisecond)); err != nil {
		return false
	}
	_, err = nextMessage(conn)
	return err == nil // it goes on, and does not wait for the rest of what now is another message
}
