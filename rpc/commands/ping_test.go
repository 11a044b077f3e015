package commands

import (
	"bytes"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/datasets/program"
	"blockyard/env/envtest"
	"blockyard/rpc/wire"
)

// answer answers every request on a connection with a text, as an error from the request fails on.
func answer(t *testing.T, l net.Listener, text, fails string) {
	conn, err := l.Accept()
	if err != nil {
		return
	}
	defer conn.Close()
	r, failing := wire.NewReader(conn), false
	for f := new(wire.Frame); r.Next(f) == nil; {
		failing = failing || string(f.Method) == fails
		parts, err := wire.Result(f.ID, map[string]any{text: text})
		if failing {
			var failure []byte
			failure, err = wire.Failure(f.ID, wire.Errorf(wire.Internal, "%s", text))
			parts = [][]byte{failure}
		}
		if err != nil {
			t.Error(err)
		}
		_, _ = conn.Write(bytes.Join(parts, nil)) // the client may be gone
	}
}

// What a server says is harmless to the terminal, as the error of any request and as its statistics.
func TestPingForeignServer(t *testing.T) {
	for name, text := range envtest.Hostile {
		for fails, status := range map[string]int{"hello": program.Failed, "ping": program.Failed, "stats": program.Failed, "": program.Done} {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			go answer(t, l, text, fails)
			var out, errs bytes.Buffer
			con := &program.Console{In: new(bytes.Buffer), Out: &out, Err: &errs}
			require.Equal(t, status, Program().Run(t.Context(), []string{"ping", "tcp:" + l.Addr().String()}, con), "%s: %s", name, &errs)
			require.NoError(t, l.Close())
			if name == "another line" {
				continue // an error may have several lines
			}
			envtest.Harmless(t, out.String()+errs.String())
		}
	}
}
