package server_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/env"
	"blockyard/env/vec"
	"blockyard/rpc/server"
	"blockyard/rpc/wire"
	"blockyard/rpc/wire/client"
)

// local is a client of a server in this process that has said hello.
func local(t testing.TB, p *place) *client.Client {
	t.Helper()
	c := client.New(p.Local())
	require.NoError(t, c.Hello(""))
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// TestLocalSaysTheSame plays the same games over a socket and to memory of this process, which changes with every step
// and holds anything but zeros.
func TestLocalSaysTheSame(t *testing.T) {
	p := start(t, nil)
	here := local(t, p)
	for _, options := range []map[string]any{
		{"num_envs": 5, "seed": 3}, {"num_envs": 5, "packed": true, "autoreset": "SameStep"},
		{"num_envs": 300, "opponents": map[int]string{1: "first"}, "max_episode_steps": 9},
	} {
		delete(options, "seed")
		far, err := dial(t, p.unix).Open("blockbattle", options)
		require.NoError(t, err)
		want := play(t, far, 60)
		g, err := here.Open("blockbattle", options)
		require.NoError(t, err)
		require.NoError(t, g.CallSlab("reset"))
		sum := sha256.New()
		_, _ = sum.Write(g.Slab)
		var c chooser
		actions := make([]byte, 2*g.Rows)
		const most = 4
		memory := make([]uint64, most*(g.Len+7)/8+8)
		for i := range memory {
			memory[i] = 0xaaaaaaaaaaaaaaaa
		}
		for k := range 60 {
			c.choose(g.Field("mask"), g.Rows, actions)
			slab := unsafe.Slice((*byte)(unsafe.Pointer(&memory[k%most*(g.Len/8)])), g.Len)
			require.NoError(t, g.StepAt(unsafe.Pointer(&actions[0]), unsafe.Pointer(&slab[0])))
			for _, f := range g.Layout { // without the gaps between the fields
				copy(g.Slab[f.Off:f.Off+f.Len], slab[f.Off:])
			}
			_, _ = sum.Write(g.Slab)
		}
		require.Equal(t, want, fmt.Sprintf("%x", sum.Sum(nil)), "%v", options)
		require.NoError(t, g.Call("close", nil))
	}
}

// TestLocalFinalIsInPlace: the last observations of ended games are where the server keeps them.
func TestLocalFinalIsInPlace(t *testing.T) {
	c := local(t, start(t, nil))
	g, err := c.Open("blockbattle", map[string]any{
		"num_envs": 6, "autoreset": "SameStep", "seed": 3, "max_episode_steps": 40, "opponents": map[int]string{1: "first"},
	})
	require.NoError(t, err)
	var final struct {
		Layout []client.Field `msgpack:"layout"`
		Len    int            `msgpack:"len"`
		At     uint64         `msgpack:"at"`
	}
	require.NoError(t, g.Call("share_final", &final))
	memory := unsafe.Slice(*(**byte)(unsafe.Pointer(&final.At)), final.Len)
	require.NoError(t, g.CallSlab("reset"))
	var choose chooser
	actions, ended := make([]byte, 2*g.Rows), 0
	for range 150 {
		choose.choose(g.Field("mask"), g.Rows, actions)
		require.NoError(t, g.Step(actions))
		ended += sameFinals(t, g, memory, final.Layout)
	}
	require.Positive(t, ended)
	g, err = c.Open("blockbattle", nil)
	require.NoError(t, err)
	require.Equal(t, wire.BadParams, code(t, g.Call("share_final", nil)), "NextStep has no other observations than its own")
}

// TestLocalRefuses: whatever is wrong with a step or a request is an error, and the connection goes on.
func TestLocalRefuses(t *testing.T) {
	p := start(t, func(c *server.Config) {
		agents := c.Agents
		c.Agents = func(g *env.Game, text bots.Text) (vec.AgentFactory, error) {
			if text.String() == "panics" {
				return func(uint64) (env.Agent, error) { return broken{}, nil }, nil
			}
			return agents(g, text)
		}
	})
	c := local(t, p)
	g, err := c.Open("blockbattle", map[string]any{"illegal": "error", "opponents": map[int]string{1: "first"}})
	require.NoError(t, err)
	memory, actions := make([]uint64, g.Len/8+2), bytes.Repeat([]byte{0xf0}, 2*g.Rows)
	step := func(offset uintptr) error {
		return g.StepAt(unsafe.Pointer(&actions[0]), unsafe.Add(unsafe.Pointer(&memory[0]), offset))
	}
	require.Equal(t, wire.NeedsReset, code(t, step(0)))
	require.NoError(t, g.CallSlab("reset"))
	require.Equal(t, wire.Illegal, code(t, step(0)))
	require.ErrorContains(t, step(1), "aligned to 8 bytes")
	require.ErrorContains(t, g.StepAt(unsafe.Pointer(&actions[0]), nil), "aligned to 8 bytes")
	require.ErrorContains(t, g.StepAt(nil, unsafe.Pointer(&memory[0])), "NULL")
	require.NoError(t, g.Call("set_opponents", nil, map[int]string{1: "panics"}))
	require.NoError(t, g.CallSlab("reset"))
	new(chooser).choose(g.Field("mask"), g.Rows, actions)
	require.Equal(t, wire.Internal, code(t, step(0)))
	require.Contains(t, p.logged(), "panic_test.go", "the log has the stack")
	require.NoError(t, g.CallSlab("reset"))
	require.NoError(t, g.Call("close", nil))
	require.Equal(t, wire.BadHandle, code(t, step(0)))
	require.Equal(t, wire.UnknownMethod, code(t, c.Call("no such", nil)))
	require.NoError(t, c.Call("ping", nil))

	l := p.Local()
	_, err = l.Write([]byte("no message"))
	require.Error(t, err)
	answered := make([]byte, 1000)
	n, err := l.Read(answered)
	require.NoError(t, err)
	require.True(t, strings.Contains(string(answered[:n]), "want an array"), "the answer says why the session ended")
	require.False(t, l.Step(1, unsafe.Pointer(&actions[0]), unsafe.Pointer(&memory[0])))
	require.NoError(t, l.Close())
	require.NoError(t, l.Close())
}

// TestLocalAnswersWholeRequests: several in one write are answered in order, and notifications are not, as over a socket.
func TestLocalAnswersWholeRequests(t *testing.T) {
	l := start(t, nil).Local()
	defer l.Close()
	var requests []byte
	for id := range uint32(300) { // more than is read at once
		ping, err := wire.AppendRequest(nil, id, "ping")
		require.NoError(t, err)
		requests = append(append(requests, ping...), "\x93\x02\xa4ping\x90"...)
	}
	for range 2 {
		_, err := l.Write(requests)
		require.NoError(t, err)
		answers := bufio.NewReader(l)
		for id := range uint32(300) {
			got, failure, err := wire.ReadResponse(answers, nil)
			require.NoError(t, err)
			require.Nil(t, failure)
			require.Equal(t, id, got)
		}
		_, err = answers.ReadByte()
		require.ErrorIs(t, err, io.EOF)
	}
	n, err := l.Write(nil)
	require.NoError(t, err, "nothing is no request")
	require.Zero(t, n)
	_, err = l.Write(requests[:3])
	require.Error(t, err, "a part of a request ends the session")
}

// TestLocalStepAllocatesNothing and keeps what it knows of memory within bounds, however often the client takes other.
func TestLocalStepAllocatesNothing(t *testing.T) {
	g, err := local(t, start(t, nil)).Open("toy:pick", map[string]any{"num_envs": 32})
	require.NoError(t, err)
	require.NoError(t, g.CallSlab("reset"))
	actions, memory := bytes.Repeat([]byte{0xff}, 2*g.Rows), make([]uint64, g.Len/8+1<<15)
	step := func(k int) {
		if err := g.StepAt(unsafe.Pointer(&actions[0]), unsafe.Pointer(&memory[k])); err != nil {
			t.Fatal(err)
		}
	}
	for k := range 1 << 15 {
		step(k)
	}
	require.Less(t, testing.AllocsPerRun(200, func() { step(1<<15 - 1) }), 0.5)
}

// TestLocalAtOnce uses a connection, and several, from many goroutines.
func TestLocalAtOnce(t *testing.T) {
	p := start(t, nil)
	shared := p.Local()
	defer shared.Close()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for id := range uint32(50) {
				b, err := wire.AppendRequest(nil, id, "ping")
				if err == nil {
					_, err = shared.Write(b)
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
		c := local(t, p)
		all.Go(func() {
			g, err := c.Open("toy:pick", nil)
			if err == nil {
				err = g.CallSlab("reset")
			}
			actions := bytes.Repeat([]byte{0xff}, 2*g.Rows)
			memory := make([]uint64, g.Len/8+1)
			for range 50 {
				if err == nil {
					err = g.StepAt(unsafe.Pointer(&actions[0]), unsafe.Pointer(&memory[0]))
				}
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// sameFinals compares the last observations in memory with those of the method final; it returns how many bytes they are.
func sameFinals(t *testing.T, g *client.Games, memory []byte, layout []client.Field) (size int) {
	t.Helper()
	var last finals
	require.NoError(t, g.Call("final", &last))
	want := map[string][]byte{
		"final_planes": last.Planes, "final_globals": last.Globals, "final_mask": last.Mask, "final_seat": last.Seat,
		"final_opponent": last.Opponents,
	}
	require.Len(t, layout, len(want))
	games := len(g.Field("terminated"))
	for _, f := range layout {
		var got []byte
		each := f.Len / games
		for i := range games {
			if g.Field("terminated")[i]|g.Field("truncated")[i] != 0 {
				got = append(got, memory[f.Off+i*each:f.Off+(i+1)*each]...)
			}
		}
		require.Equal(t, len(want[f.Name]), len(got), f.Name)
		require.True(t, bytes.Equal(want[f.Name], got), f.Name)
		size += len(got)
	}
	return size
}
