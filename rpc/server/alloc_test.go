package server_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestStepAllocatesNothing counts both ends of the connection.
func TestStepAllocatesNothing(t *testing.T) {
	p := start(t, nil)
	for _, address := range []string{p.unix, p.tcp} {
		c := dial(t, address)
		g, err := c.Open("blockbattle", map[string]any{"num_envs": 32})
		require.NoError(t, err)
		require.NoError(t, g.CallSlab("reset"))
		actions := bytes.Repeat([]byte{0xff}, 2*g.Rows)
		step := func() {
			if err := g.Step(actions); err != nil {
				t.Fatal(err)
			}
		}
		for range 50 { // buffers grow to their size
			step()
		}
		require.Less(t, testing.AllocsPerRun(200, step), 0.5)
	}
}
