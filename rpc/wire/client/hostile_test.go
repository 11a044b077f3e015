package client_test

import (
	"bytes"
	"fmt"
	"maps"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/env/envtest"
	"blockyard/env/games"
	"blockyard/rpc/server"
	"blockyard/rpc/session/limits"
	"blockyard/rpc/wire"
	"blockyard/rpc/wire/client"
)

// A stranger is a server that answers with what a test says, whatever it is asked.
type stranger struct {
	net.Conn // nil
	answers  bytes.Reader
}

func (s *stranger) Read(b []byte) (int, error)    { return s.answers.Read(b) }
func (s *stranger) Write(b []byte) (int, error)   { return len(b), nil }
func (s *stranger) SetDeadline(t time.Time) error { return nil }

// use calls everything of a client that reads answers, and everything that depends on them.
func use(answers []byte) error {
	s := &stranger{}
	s.answers.Reset(answers)
	c := client.New(s)
	if err := c.Hello(""); err != nil {
		return err
	}
	g, err := c.Open("wintetris", map[string]any{"num_envs": 2})
	if err != nil {
		return err
	}
	for _, call := range []func() error{
		func() error { return g.Reset(nil) },
		func() error { return g.Step(make([]byte, 4)) },
		func() error { return g.CallSlab("restore") },
		func() error { return g.Call("stats", new(map[string]any)) },
	} {
		for _, f := range g.Layout {
			if n := len(g.Field(f.Name)); n != 0 && n != f.Len {
				return fmt.Errorf("%s has %d bytes, want %d", f.Name, n, f.Len)
			}
		}
		if err := call(); err != nil {
			return err
		}
	}
	return nil
}

// opened is what a server says of two games, and the length of their slab.
func opened(t testing.TB) (facts map[string]any, slab int) {
	c := client.New(server.New(server.Config{Games: games.All, Limits: limits.DefaultLimits()}).Local())
	require.NoError(t, c.Hello(""))
	options := map[string]any{"num_envs": 2}
	require.NoError(t, c.Call("open", &facts, "wintetris", options))
	g := envtest.Must(c.Open("wintetris", options))
	require.NoError(t, c.Close())
	return facts, g.Len
}

// answers are those to hello and open, and a few slabs and errors.
func answers(t testing.TB, facts any, slab int) []byte {
	var all []byte
	for id, result := range []any{nil, facts} {
		pieces := envtest.Must(wire.Result(uint32(id+1), result))
		all = append(all, bytes.Join(pieces, nil)...)
	}
	for id := range uint32(3) {
		head := make([]byte, wire.HeadLen)
		wire.PutHead(head, id+3, slab)
		all = append(append(all, head...), make([]byte, min(slab, 1<<16))...)
	}
	return append(all, 0x94, 1, 6, 0xc0, 0xc0)
}

// TestHostileServers: whatever a server says of the games that a client opens, the client refuses it or works, and takes
// memory only for what has arrived.
func TestHostileServers(t *testing.T) {
	facts, slab := opened(t)
	require.NoError(t, use(answers(t, facts, slab)))
	odd := []any{nil, -1, 0, 1, 7, 1 << 16, 1 << 31, 1 << 32, 1 << 40, 1<<63 - 1, uint64(1<<64 - 1), 0.5, "", "x", true, []any{},
		[]int{1, -1}, []any{nil}, []int{1 << 62, 1 << 62}, []int{1 << 32, 1 << 32}, map[string]any{}, []byte{1}}
	refuse := func(what string, facts any) {
		for _, slab := range []int{slab, 0, 1 << 31} {
			all := answers(t, facts, slab)
			require.Less(t, envtest.Allocated(func() { _ = use(all) }), uint64(1<<20), what)
		}
	}
	for _, value := range odd {
		refuse("the result", value)
		for key := range facts {
			changed := maps.Clone(facts)
			changed[key] = value
			refuse(fmt.Sprint(key, " is ", value), changed)
			if slices.Contains([]string{"num_envs", "rows_per_env", "rows", "slab_len", "layout"}, key) && value == nil {
				require.Error(t, use(answers(t, changed, slab)), key)
			}
		}
		layout := facts["layout"].([]any)
		for key := range layout[0].(map[string]any) {
			for k := range layout {
				field, changed := maps.Clone(layout[k].(map[string]any)), maps.Clone(facts)
				field[key] = value
				changed["layout"] = append(append(slices.Clone(layout[:k]), any(field)), layout[k+1:]...)
				refuse(fmt.Sprint("field ", k, ": ", key, " is ", value), changed)
			}
		}
	}
}

// FuzzClient: whatever a server answers, nothing panics.
func FuzzClient(f *testing.F) {
	facts, slab := opened(f)
	f.Add(answers(f, facts, slab))
	f.Add([]byte{0x94, 1, 1, 0xc0, 0xc0, 0x94, 1, 2, 0xc0, 0xc0})
	f.Fuzz(func(t *testing.T, all []byte) {
		require.Less(t, envtest.Allocated(func() { _ = use(all) }), uint64(1<<20+1000*len(all)))
	})
}
