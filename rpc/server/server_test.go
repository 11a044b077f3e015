package server_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/bits"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/envtest"
	"blockyard/env/envtest/toy"
	"blockyard/env/games"
	"blockyard/env/vec"
	"blockyard/rpc/server"
	"blockyard/rpc/server/listen"
	"blockyard/rpc/session/limits"
	"blockyard/rpc/wire"
	"blockyard/rpc/wire/client"
)

// An actor is an agent that plays what a function chooses. It remembers nothing.
type actor struct {
	choose choice
	legal  []env.Action
}

// A choice is one of the legal actions.
type choice func(ctx context.Context, legal []env.Action) (env.Action, error)

func (a *actor) Act(ctx context.Context, s env.State, seat int) (env.Action, error) {
	a.legal = s.Legal(seat, a.legal[:0])
	return a.choose(ctx, a.legal)
}

func (*actor) AppendMemory(dst []byte) ([]byte, error) { return dst, nil }

func (*actor) RestoreMemory(src []byte) error {
	if len(src) > 0 {
		return fmt.Errorf("memory of %d bytes, want none", len(src))
	}
	return nil
}

func first(_ context.Context, legal []env.Action) (env.Action, error) { return legal[0], nil }

func last(_ context.Context, legal []env.Action) (env.Action, error) { return legal[len(legal)-1], nil }

// behind is first once a gate is opened, or when the context ends.
func behind(gate <-chan struct{}) choice {
	return func(ctx context.Context, legal []env.Action) (env.Action, error) {
		select {
		case <-gate:
		case <-ctx.Done():
		}
		return legal[0], nil
	}
}

// playing makes agents that play a choice.
func playing(choose choice) vec.AgentFactory {
	return func(uint64) (env.Agent, error) { return &actor{choose: choose}, nil }
}

// addAgent adds an agent to those that a server knows.
func addAgent(c *server.Config, name string, create vec.AgentFactory) {
	before := c.Agents
	c.Agents = func(g *env.Game, t bots.Text) (vec.AgentFactory, error) {
		if t.String() == name {
			return create, nil
		}
		return before(g, t)
	}
}

// gated adds the opponent "gate" to a server and returns what opens it.
func gated(change func(*server.Config)) (func(*server.Config), chan struct{}) {
	open := make(chan struct{})
	return func(c *server.Config) {
		addAgent(c, "gate", playing(behind(open)))
		change(c)
	}, open
}

// config serves small games and one large one, with some opponents.
func config() server.Config {
	return server.Config{
		Games:   []*env.Game{toy.Pick, toy.Turns, blockbattle.Game, blockbattle.ClassicGame},
		Version: "test",
		Limits:  limits.DefaultLimits(),
		Agents: func(g *env.Game, t bots.Text) (vec.AgentFactory, error) {
			if _, name, ok := strings.Cut(t.String(), "weights="); ok {
				data, err := t.Read(name)
				if err == nil && string(data[:4]) != "good" {
					err = errors.New("bad weights")
				}
				return playing(first), err
			}
			if choose := map[string]choice{"first": first, "again": first, "last": last}[t.String()]; choose != nil {
				return playing(choose), nil
			}
			return nil, fmt.Errorf("unknown agent %q", t)
		},
		Opponents: func(*env.Game) []string { return []string{"first"} },
	}
}

// A place is a running server.
type place struct {
	*server.Server
	unix, tcp string
	log       *os.File
	stop      func()
}

func (p *place) logged() string { return string(envtest.Must(os.ReadFile(p.log.Name()))) }

// start runs a server on a unix socket and a TCP port until the test ends.
func start(t testing.TB, change func(*server.Config)) *place {
	p := &place{log: envtest.Must(os.Create(filepath.Join(t.TempDir(), "log")))}
	t.Cleanup(func() { _ = p.log.Close() })
	c := config()
	c.Log = slog.New(slog.NewTextHandler(p.log, nil))
	if change != nil {
		change(&c)
	}
	p.Server = server.New(c)
	var all []net.Listener
	for _, address := range []string{"unix:" + filepath.Join(t.TempDir(), "s"), "tcp:127.0.0.1:0"} {
		l := envtest.Must(listen.Listen(address, c.Tokens, listen.Credentials{}))
		all = append(all, l)
		go func() { _ = p.Serve(l) }()
	}
	p.unix, p.tcp = listen.Name(all[0]), listen.Name(all[1])
	p.stop = sync.OnceFunc(func() {
		for _, l := range all {
			require.NoError(t, l.Close())
		}
		require.NoError(t, p.Shutdown(context.Background()))
	})
	t.Cleanup(p.stop)
	return p
}

// dial connects to a server, with a token if one is given.
func dial(t testing.TB, address string, token ...string) *client.Client {
	c := envtest.Closing(t, envtest.Must(client.Dial(context.Background(), address, strings.Join(token, ""), nil)))
	c.Timeout = 5 * time.Minute // on a busy machine, under the race detector
	return c
}

func openGames(c *client.Client, game string, options map[string]any) *client.Games {
	return envtest.Must(c.Open(game, options))
}

// startGames opens games and resets them.
func startGames(t testing.TB, c *client.Client, game string, options map[string]any) *client.Games {
	g := openGames(c, game, options)
	require.NoError(t, g.Reset(nil))
	return g
}

// opened are games on a server of their own.
func opened(t testing.TB, game string, options map[string]any) *client.Games {
	return openGames(dial(t, start(t, nil).unix), game, options)
}

// started are games on a server of their own that have been reset.
func started(t testing.TB, game string, options map[string]any) *client.Games {
	return startGames(t, dial(t, start(t, nil).unix), game, options)
}

// A caller calls methods: a client, or games.
type caller interface {
	Call(method string, into any, params ...any) error
}

// result calls a method, which must succeed, and returns its result.
func result[T any](t testing.TB, c caller, method string, params ...any) (out T) {
	require.NoError(t, c.Call(method, &out, params...), method)
	return out
}

// The fields of the result of a method, by name. Every whole number is an int.
type fields map[string]any

// ask calls a method, which must succeed.
func ask(t testing.TB, c caller, method string, params ...any) fields {
	return plain(result[map[string]any](t, c, method, params...)).(map[string]any)
}

// plain makes an int of every whole number of a result.
func plain(value any) any {
	if all, ok := value.(map[string]any); ok {
		for name := range all {
			all[name] = plain(all[name])
		}
	} else if n := reflect.ValueOf(value); n.CanInt() {
		return int(n.Int())
	} else if n.CanUint() {
		return int(n.Uint())
	}
	return value
}

// bytes returns a field that is bytes, nil if there is none.
func (a fields) bytes(name string) []byte {
	b, _ := a[name].([]byte)
	return b
}

// memory is what the server counts for all clients, in bytes.
func memory(t testing.TB, c caller) int { return ask(t, c, "stats")["memory"].(int) }

// code is the number of the error that a request ended with, 0 for none.
func code(t testing.TB, err error) int {
	if err == nil {
		return 0
	}
	var refusal *wire.Error
	require.ErrorAs(t, err, &refusal)
	return refusal.Code
}

// refused wants an error with a code and a text.
func refused(t testing.TB, want int, says string, err error) {
	require.ErrorContains(t, err, says)
	require.Equal(t, want, code(t, err), err)
}

// numbers reads little-endian numbers.
func numbers[T env.Action | uint16 | uint32 | uint64 | float32](b []byte) []T {
	out := make([]T, len(b)/binary.Size(T(0)))
	envtest.Must(binary.Decode(b, binary.LittleEndian, out))
	return out
}

// legalOf returns legal action k of a mask, counted around, and None if there is none.
func legalOf(mask []byte, k uint64) uint16 {
	var legal []uint16
	for i, b := range mask {
		for ; b != 0; b &= b - 1 {
			legal = append(legal, uint16(8*i+bits.TrailingZeros8(b)))
		}
	}
	if len(legal) == 0 {
		return uint16(env.None)
	}
	return legal[k%uint64(len(legal))]
}

// chosen returns a legal action for each of so many rows, counted as count says of its mask.
func chosen(masks []byte, rows int, count func(mask []byte) uint64) (actions []byte) {
	for k := range rows {
		mask := masks[k*len(masks)/rows : (k+1)*len(masks)/rows]
		actions = append(actions, u16(legalOf(mask, count(mask)))...)
	}
	return actions
}

// A chooser chooses legal actions, always the same ones.
type chooser uint64

// of returns actions for the position that games show.
func (c *chooser) of(g *client.Games) []byte {
	return chosen(g.Field("mask"), g.Rows, func([]byte) uint64 {
		*c = chooser(env.Mix(uint64(*c) + 1))
		return uint64(*c)
	})
}

// none is no action for each of so many rows.
func none(rows int) []byte { return bytes.Repeat([]byte{0xff}, 2*rows) }

func stepped(t testing.TB, g *client.Games, c *chooser) { require.NoError(t, g.Step(c.of(g))) }

// roll plays steps with random actions on the server. The slab stays as it is.
func roll(t testing.TB, g *client.Games, steps int) {
	require.NoError(t, g.Call("rollout", nil, steps, map[string]any{"keep": "last"}))
}

// future is what the next steps of the games look like.
func future(t testing.TB, g *client.Games, steps int) (all []byte) {
	c := chooser(9)
	for range steps {
		stepped(t, g, &c)
		all = append(all, g.Slab...)
	}
	return all
}

// A way is how games are reset and stepped. Their slab then has the result.
type way struct {
	*client.Games
	reset  func(options map[string]any) error
	step   func(actions []byte) error
	layout []client.Field // of the last observations of ended games
	final  []byte         // these, in memory shared with the server; nil if the mode has none
}

// overSocket resets and steps with one message each way.
func overSocket(g *client.Games) *way { return &way{Games: g, reset: g.Reset, step: g.Step} }

// To every client, in shared memory and in this process, in every mode: slabs, and last observations of games that ended.
func TestSameEverywhere(t *testing.T) {
	p := start(t, nil)
	for _, mode := range []string{"NextStep", "SameStep", "Disabled"} {
		for k, o := range []map[string]any{
			{"num_envs": 6, "max_episode_steps": 40},
			{"num_envs": 6, "max_episode_steps": 40, "packed": true},
			{"num_envs": 300, "max_episode_steps": 9, "opponents": map[int]string{1: "first"}},
		} {
			t.Run(fmt.Sprint(mode, k), func(t *testing.T) {
				o["autoreset"], o["seed"] = mode, 3
				open := func(c *client.Client) *client.Games { return openGames(c, "blockbattle", o) }
				one := open(dial(t, p.unix))
				ways := []*way{overSocket(one), overSocket(open(one.Client())), overSocket(open(dial(t, p.tcp))),
					overMemory(t, open(local(t, p)), mode == "SameStep")}
				if slots := overSlots(t, open(dial(t, p.unix)), mode == "SameStep"); slots != nil {
					ways = append(ways, slots)
				}
				all := func(do func(*way) error) {
					for _, w := range ways {
						require.NoError(t, do(w))
						require.Equal(t, one.Slab, w.Slab)
					}
				}
				all(func(w *way) error { return w.reset(map[string]any{}) })
				var c chooser
				for range []int{60, 60, 20}[k] {
					actions, over := c.of(one), or(one.Field("terminated"), one.Field("truncated"))
					if mode == "Disabled" && bytes.Contains(over, []byte{1}) {
						for _, w := range ways {
							require.Equal(t, wire.NeedsReset, code(t, w.step(actions)))
						}
						all(func(w *way) error { return w.reset(map[string]any{"mask": over}) })
						actions = c.of(one)
					}
					all(func(w *way) error { return w.step(actions) })
					ends := ask(t, one, "final")
					for _, w := range ways {
						require.Equal(t, ends, ask(t, w, "final"))
						for _, name := range []string{"planes", "globals", "mask", "seat", "opponents"} {
							if w.final != nil {
								require.Equal(t, string(ends.bytes(name)), w.last(name), name)
							}
						}
					}
				}
			})
		}
	}
}

// last returns a field of the last observations in shared memory of the games that ended.
func (w *way) last(name string) (all string) {
	for _, f := range w.layout {
		for i, over := range or(w.Field("terminated"), w.Field("truncated")) {
			if each := f.Len / w.NumEnvs; over != 0 && strings.HasPrefix("final_"+name, f.Name) {
				all += string(w.final[f.Off+i*each:][:each])
			}
		}
	}
	return all
}

func or(a, b []byte) []byte {
	out := bytes.Clone(a)
	for i := range out {
		out[i] |= b[i]
	}
	return out
}

// local is a client of a server in this process that has said hello.
func local(t testing.TB, p *place) *client.Client {
	c := client.New(p.Local())
	require.NoError(t, c.Hello(""))
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// The facts of memory that is shared.
type shared struct {
	Layout  []client.Field `msgpack:"layout"`
	Len     int            `msgpack:"len"`
	At      uint64         `msgpack:"at"`      // in this process
	Stride  int            `msgpack:"stride"`  // of slots
	Actions int            `msgpack:"actions"` // where they begin in a slot
}

// overMemory steps games in this process to memory that changes with every step and holds anything but zeros. With
// finals, the last observations of games are where the server keeps them.
func overMemory(t testing.TB, g *client.Games, finals bool) *way {
	const most = 4
	memory, k := slices.Repeat([]uint64{0xaaaaaaaaaaaaaaaa}, most*(g.Len+7)/8+8), 0
	w := &way{Games: g, reset: g.Reset, step: func(actions []byte) error {
		k++
		slab := unsafe.Slice((*byte)(unsafe.Pointer(&memory[k%most*(g.Len/8)])), g.Len)
		if err := g.StepAt(unsafe.Pointer(&actions[0]), unsafe.Pointer(&slab[0])); err != nil {
			return err
		}
		for _, f := range g.Layout { // without the gaps between the fields
			copy(g.Slab[f.Off:f.Off+f.Len], slab[f.Off:])
		}
		return nil
	}}
	if finals {
		facts := result[shared](t, g, "share_final")
		w.layout, w.final = facts.Layout, unsafe.Slice(*(**byte)(unsafe.Pointer(&facts.At)), facts.Len)
	}
	return w
}

// TestLocalRefuses: whatever is wrong with a step or a request is an error, and the connection goes on.
func TestLocalRefuses(t *testing.T) {
	p := start(t, nil)
	c := local(t, p)
	g := openGames(c, "blockbattle", map[string]any{"illegal": "error", "opponents": map[int]string{1: "first"}})
	require.Equal(t, wire.BadParams, code(t, g.Call("share_final", nil)), "NextStep has no other observations than its own")
	memory, actions := make([]uint64, g.Len/8+2), []byte{0xf0, 0xf0}
	step := func(offset uintptr) error {
		return g.StepAt(unsafe.Pointer(&actions[0]), unsafe.Add(unsafe.Pointer(&memory[0]), offset))
	}
	require.Equal(t, wire.NeedsReset, code(t, step(0)))
	require.NoError(t, g.Reset(nil))
	require.Equal(t, wire.Illegal, code(t, step(0)))
	require.ErrorContains(t, step(1), "aligned to 8 bytes")
	require.ErrorContains(t, g.StepAt(unsafe.Pointer(&actions[0]), nil), "aligned to 8 bytes")
	require.ErrorContains(t, g.StepAt(nil, unsafe.Pointer(&memory[0])), "NULL")
	require.NoError(t, g.Call("close", nil))
	require.Equal(t, wire.BadHandle, code(t, step(0)))
	require.Equal(t, wire.UnknownMethod, code(t, c.Call("no such", nil)))
	require.NoError(t, c.Call("ping", nil))

	l := p.Local()
	require.Error(t, envtest.Failed(l.Write([]byte("no message"))))
	answered := make([]byte, 1000)
	n := envtest.Must(l.Read(answered))
	require.Contains(t, string(answered[:n]), "want an array", "the answer says why the session ended")
	require.False(t, l.Step(1, unsafe.Pointer(&actions[0]), unsafe.Pointer(&memory[0])))
	require.NoError(t, l.Close())
	require.NoError(t, l.Close())
}

// TestLocalAnswersWholeRequests: several in one write are answered in order, and notifications are not, as over a socket.
func TestLocalAnswersWholeRequests(t *testing.T) {
	l := envtest.Closing(t, start(t, nil).Local())
	var requests []byte
	for id := range uint32(300) { // more than is read at once
		requests = append(append(requests, envtest.Must(wire.AppendRequest(nil, id, "ping"))...), "\x93\x02\xa4ping\x90"...)
	}
	for range 2 {
		envtest.Must(l.Write(requests))
		answers := bufio.NewReader(l)
		for id := range uint32(300) {
			got, failure := envtest.Must2(wire.ReadResponse(answers, nil))
			require.Nil(t, failure)
			require.Equal(t, id, got)
		}
		require.ErrorIs(t, envtest.Failed(answers.ReadByte()), io.EOF)
	}
	require.Zero(t, envtest.Must(l.Write(nil)), "nothing is no request")
	require.Error(t, envtest.Failed(l.Write(requests[:3])), "a part of a request ends the session")
}

func TestLocalAtOnce(t *testing.T) {
	p := start(t, nil)
	shared := envtest.Closing(t, p.Local())
	ping := request("ping")
	var all sync.WaitGroup
	for range 8 {
		w := overMemory(t, startGames(t, local(t, p), "toy:pick", nil), false)
		all.Go(func() {
			for range 50 {
				_, err := shared.Write(ping)
				if err := errors.Join(err, w.step(none(w.Rows))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// exchanging returns what sends a request and reads a response of so many bytes, without an allocation of the client.
func exchanging(t testing.TB, c *client.Client, ask []byte, size int) (step func()) {
	answer := make([]byte, size)
	return func() {
		if _, err := c.Conn().Write(ask); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c.Conn(), answer); err != nil || answer[7] != 0xc0 {
			t.Fatalf("%v, %.80q", err, answer)
		}
	}
}

// quick steps games, whose seats make no move.
func quick(t testing.TB, g *client.Games) (step func()) {
	return exchanging(t, g.Client(), request("step", g.H, none(g.Rows)), wire.HeadLen+g.Len)
}

// TestStepAllocatesNothing counts both ends of the connection, once buffers have grown to their size.
func TestStepAllocatesNothing(t *testing.T) {
	p := start(t, func(c *server.Config) { c.Games, c.Features = append(c.Games, games.All...), bots.Features })
	options := map[string]any{"num_envs": 32}
	recording := openGames(dial(t, p.unix), "blockbattle", options)
	recordOne(t, recording, 1<<40)

	stream := startGames(t, dial(t, p.unix), "toy:pick", map[string]any{"num_envs": 4, "opponents": map[int]string{1: "first"}})
	both := append(request("send", stream.H, u32(0, 1, 2, 3), none(4)), request("recv", stream.H, 4, 4, 1000)...)
	size := wire.DoneLen + len(wire.AppendReceived(nil, 77, make([]byte, 16), stream.Len)) + stream.Len

	here, k := startGames(t, local(t, p), "toy:pick", options), 0
	memory, actions := make([]uint64, here.Len/8+1<<15), none(here.Rows)
	anywhere := func() {
		if err := here.StepAt(unsafe.Pointer(&actions[0]), unsafe.Pointer(&memory[k])); err != nil {
			t.Fatal(err)
		}
	}
	for ; k < 1<<15-1; k++ { // what the server knows of memory has bounds, however often the client takes other
		anywhere()
	}

	steps := map[string]func(){
		"unix":      quick(t, startGames(t, dial(t, p.unix), "blockbattle", options)),
		"tcp":       quick(t, startGames(t, dial(t, p.tcp), "blockbattle", options)),
		"recording": quick(t, recording),
		"stream":    exchanging(t, stream.Client(), both, size),
		"local":     anywhere,
	}
	for _, game := range games.All {
		if bots.Features(game) != nil {
			steps["candidates of "+game.Name] = quick(t, candidates(t, dial(t, p.unix), game.Name, 8))
		}
	}
	for name, step := range steps {
		t.Run(name, func(t *testing.T) { allocatesNothing(t, step) })
	}
}

// allocatesNothing takes some steps until buffers have grown to their size, and counts the allocations of more.
func allocatesNothing(t *testing.T, step func()) {
	for range 50 {
		step()
	}
	require.Less(t, testing.AllocsPerRun(200, step), 0.5)
}
