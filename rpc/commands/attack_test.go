package commands

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/agents/mlp"
	"blockyard/env/blocking"
	"blockyard/env/envtest"
	"blockyard/rpc/server"
	"blockyard/rpc/wire"
	"blockyard/rpc/wire/client"
)

// TestMemoryUnderAttack holds the memory of the process, without what it shares with clients, to its promise:
// --max-memory and a tenth more, or 64 MiB. Games fill half of the limit. Then several clients at once call each method
// with its largest arguments, and do not read the answers. A method without an attack fails the test.
func TestMemoryUnderAttack(t *testing.T) {
	const limit, clients = 128 << 20, 3
	path := filepath.Join(t.TempDir(), "s")
	p := serve(t, "--listen", "unix:"+path, "--max-memory", fmt.Sprint(limit))
	watch := watchMemory(t, p.Process.Pid)
	filler := connect(t, path)
	for k, game := range []string{"blocking", "dropblox"} {
		g := filler.open(game, map[string]any{"autoreset": "SameStep"}, limit/4)
		require.NoError(t, g.CallSlab("reset"), k)
	}
	for _, method := range server.Methods() {
		attack, ok := attacks[method]
		if !ok {
			t.Errorf("no attack on %s", method)
			continue
		}
		watch.peak.Store(0)
		var all []*attacker
		var done sync.WaitGroup
		for range clients {
			a := connect(t, path)
			a.room = limit / 2 / clients
			all = append(all, a)
			done.Go(func() { attack(a) })
		}
		done.Wait()
		time.Sleep(50 * time.Millisecond) // answers wait to be read
		for _, a := range all {
			_ = a.c.Close()
		}
		require.Eventually(t, func() bool { return statsOf(t, filler.c).Sessions == 1 }, 2*time.Minute, 10*time.Millisecond)
		peak := watch.peak.Load()
		t.Logf("%-15s %5d MiB", method, peak>>20)
		if most := limit + headroom(limit); peak > most {
			t.Errorf("%s: %d MiB, want at most %d", method, peak>>20, most>>20)
		}
	}
}

// An attacker is a client whose later requests are not read.
type attacker struct {
	t     *testing.T
	c     *client.Client
	room  int64 // bytes of max_memory for it
	stuck bool  // the server has stopped to read
}

func connect(t *testing.T, path string) *attacker {
	a := &attacker{t: t, c: dial(t, "unix:"+path), room: 1 << 20}
	a.c.Timeout = 2 * time.Minute // with others that take all time of the server
	return a
}

// open opens as many games as count so many bytes.
func (a *attacker) open(game string, options map[string]any, room int64) *client.Games {
	all := map[string]any{"num_envs": 1}
	maps.Copy(all, options)
	var one struct {
		H      uint32 `msgpack:"h"`
		Memory int64  `msgpack:"memory"`
	}
	if err := a.c.Call("open", &one, game, all); err != nil {
		a.t.Logf("open %s: %v", game, err) // the others have taken what there is
		return nil
	}
	all["num_envs"] = max(1, int(room/one.Memory))
	for a.call("close", one.H); ; all["num_envs"] = all["num_envs"].(int) * 9 / 10 {
		g, err := a.c.Open(game, all)
		if err == nil {
			return g
		}
		if all["num_envs"].(int) < 2 {
			a.t.Logf("open %s: %v", game, err)
			return nil
		}
	}
}

// send sends a request n times. The server may refuse it. Once it has stopped to read, nothing more is sent.
func (a *attacker) send(n int, method string, params ...any) {
	if a.stuck {
		return
	}
	b := envtest.Must(wire.AppendRequest(nil, 7, method, params...))
	_ = a.c.Conn().SetWriteDeadline(time.Now().Add(300 * time.Millisecond))
	for range n {
		if _, err := a.c.Conn().Write(b); err != nil {
			a.stuck = true
			return
		}
	}
}

// call sends a request and waits for its answer, which may be a refusal.
func (a *attacker) call(method string, params ...any) {
	if err := a.c.Call(method, nil, params...); err != nil && !errors.As(err, new(*wire.Error)) {
		a.t.Logf("%s: %v", method, err) // the server may end the connection
	}
}

// bulk is call for a request that takes most of max_buffered: one of all attackers at a time.
func (a *attacker) bulk(method string, params ...any) {
	large.Lock()
	defer large.Unlock()
	a.call(method, params...)
}

var large sync.Mutex

// A memoryWatch samples what a process has in memory, without memory shared with other processes.
type memoryWatch struct{ peak atomic.Int64 }

func watchMemory(t *testing.T, pid int) *memoryWatch {
	w := &memoryWatch{}
	sample := func() int64 {
		b, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
		field := func(name string) (kib int64) {
			_, rest, _ := strings.Cut(string(b), name+":")
			_, _ = fmt.Sscan(rest, &kib)
			return kib << 10
		}
		return field("VmRSS") - field("RssShmem")
	}
	if sample() == 0 {
		t.Skip("no /proc/PID/status here")
	}
	go func() {
		for ; t.Context().Err() == nil; time.Sleep(2 * time.Millisecond) {
			w.peak.Store(max(w.peak.Load(), sample()))
		}
	}()
	return w
}

// A client that opens all that it may does not end a server whose memory somebody else has limited: --max-memory is by
// default what fits.
func TestMemoryThatTheMachineLacks(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the limit is read on Linux")
	}
	first := serve(t, "--listen", "unix:"+filepath.Join(t.TempDir(), "s"))
	b := envtest.Must(os.ReadFile(fmt.Sprintf("/proc/%d/statm", first.Process.Pid)))
	var pages int
	envtest.Must(fmt.Sscan(string(b), &pages))
	path := filepath.Join(t.TempDir(), "s")
	limit := pages*os.Getpagesize()>>10 + 400<<10 // KiB
	// glibc, which this test binary has and the program has not, would reserve 64 MiB for each thread that allocates.
	limited := fmt.Sprintf(`export MALLOC_ARENA_MAX=1; ulimit -v %d && exec "$0" "$@"`, limit)
	serveBy(t, []string{"sh", "-c", limited}, "--listen", "unix:"+path)
	var refused *wire.Error
	for {
		a := connect(t, path)
		g, err := a.c.Open("dropblox", map[string]any{"num_envs": 2048})
		if err == nil {
			err = g.CallSlab("reset")
		}
		if err != nil {
			require.ErrorAs(t, err, &refused)
			break
		}
	}
	require.Equal(t, "max_memory", refused.Data["limit"])
	require.NoError(t, connect(t, path).c.Call("ping", nil), "the server goes on")
}

// attacks call a method with what makes it take the most memory. What they prepare is answered; the last requests are
// not read.
var attacks = map[string]func(*attacker){
	"hello": func(a *attacker) {
		a.send(20, "hello", map[string]any{"proto": []int{3, 0}, "client": long(1, 60_000)[0]})
	},
	"ping":          func(a *attacker) { a.send(100, "ping", make([]byte, 60_000)) },
	"games":         func(a *attacker) { a.send(1000, "games") },
	"describe":      func(a *attacker) { a.send(1000, "describe", "blocking") },
	"feature_names": func(a *attacker) { a.send(500, "feature_names", "tetrisduel") },
	"stats":         func(a *attacker) { a.send(1000, "stats") },
	"text":          func(a *attacker) { a.send(20, "text", "blocking", make([]byte, 65_000)) },
	"parse":         func(a *attacker) { a.bulk("parse", "blocking", map[string]any{"texts": long(1000, 4000)}) },
	"report": func(a *attacker) {
		games := a.room >> 11
		a.send(8, "report", "wintetris", map[string]any{"players": []string{"x"}, "scores": make([]byte, 4*games),
			"results": make([]byte, 4*games), "actions": make([]byte, 4*games), "stopped": make([]byte, games)})
	},
	"upload":      func(a *attacker) { uploads(a) },
	"drop_upload": func(a *attacker) { a.bulk("drop_upload", uploads(a)) },
	"weights": func(a *attacker) {
		name := uploads(a)
		a.call("open", "blocking", beside("learned:weights="+name))
		a.send(8, "weights", 1, name)
	},
	"open":  opens,
	"close": func(a *attacker) { opens(a); a.send(16, "close", 1) },
	"reset": func(a *attacker) { stepping(a, nil); a.send(8, "reset", 2) },
	"step": on(nil, func(a *attacker, rows int) {
		a.send(4, "step", 2, make([]byte, 8*rows))
		a.send(8, "step", 2, make([]byte, 2*rows))
	}),
	"share":       shares,
	"step_slot":   func(a *attacker) { shares(a); a.send(16, "step_slot", 2, 0) },
	"share_final": func(a *attacker) { stepping(a, nil); a.send(16, "share_final", 2) },
	"push_final": on(map[string]any{"max_episode_steps": 1}, func(a *attacker, rows int) {
		a.call("push_final", 2)
		a.send(16, "step", 2, make([]byte, 2*rows))
	}),
	"final":        func(a *attacker) { ends(a); a.send(8, "final", 2); a.send(8, "final", 2, 0) },
	"legal":        func(a *attacker) { stepping(a, nil); a.send(16, "legal", 2, nil) },
	"afterstates":  func(a *attacker) { stepping(a, nil); a.send(8, "afterstates", 2, nil) },
	"features":     func(a *attacker) { stepping(a, nil); a.send(8, "features", 2, nil) },
	"observe":      func(a *attacker) { stepping(a, nil); a.send(16, "observe", 2, nil) },
	"observe_text": func(a *attacker) { stepping(a, nil); a.send(4, "observe_text", 2, nil) },
	"render":       func(a *attacker) { stepping(a, nil); a.send(500, "render", 2, 0, map[string]any{"mode": "rgb"}) },
	"snapshot":     func(a *attacker) { stepping(a, nil); a.send(16, "snapshot", 2, nil) },
	"restore": func(a *attacker) {
		stepping(a, nil)
		var d struct {
			Count  int    `msgpack:"count"`
			States []byte `msgpack:"states"`
		}
		_ = a.c.Call("snapshot", &d, 2, nil)
		a.bulk("restore", 2, first(d.Count), d.States)
	},
	"clone": on(nil, func(a *attacker, rows int) {
		a.send(4, "clone", 2, first(rows/2), append(first(rows / 2)[4:], 0, 0, 0, 0))
	}),
	"checkpoint": func(a *attacker) { leagues(a); a.send(8, "checkpoint", 2, nil) },
	"resume": func(a *attacker) {
		stepping(a, nil)
		head, _ := json.Marshal(map[string]any{"format": 4, "opponents": long(60_000, 100)})
		a.bulk("resume", 2, nil, head, make([]byte, 4<<20))
	},
	"replay": on(nil, func(a *attacker, rows int) {
		a.send(4, "replay", 2, nil, bytes.Repeat([]byte{1, 0, 0, 0}, rows/2), make([]byte, 2*rows), nil)
	}),
	"rollout": on(nil, func(a *attacker, rows int) {
		a.send(2, "rollout", 2, max(1, (8<<20)/(rows*500)))
		a.send(2, "rollout", 2, 2, map[string]any{"keep": "last", "policy": "learned"})
	}),
	"record":  func(a *attacker) { records(a); a.send(3, "rollout", 2, 10, map[string]any{"keep": "last"}) },
	"records": func(a *attacker) { records(a); a.send(8, "records", 2) },
	"send":    on(nil, func(a *attacker, rows int) { a.send(4, "send", 2, first(rows/2), make([]byte, 2*rows)) }),
	"recv": on(nil, func(a *attacker, rows int) {
		for range 3 {
			a.send(1, "send", 2, first(rows/2), make([]byte, 2*rows))
			a.send(4, "recv", 2, rows/2, rows/2, 1000)
		}
	}),
	"asked": func(a *attacker) { stepping(a, beside("client:me")); a.send(8, "asked", 2, nil) },
	"answer": on(beside("client:me"), func(a *attacker, rows int) {
		a.send(8, "answer", 2, first(rows), bytes.Repeat([]byte{1}, rows), bytes.Repeat([]byte{0xFF}, 2*rows))
	}),
	"stream_stats":   func(a *attacker) { stepping(a, nil); a.send(500, "stream_stats", 2) },
	"set_opponents":  func(a *attacker) { leagues(a); a.send(4, "rollout", 2, 1, map[string]any{"keep": "last"}) },
	"opponent_stats": func(a *attacker) { leagues(a); a.send(16, "opponent_stats", 2) },
}

// stepping opens and resets games for half of the attacker's room, as handle 2, and returns the number of their rows.
func stepping(a *attacker, options map[string]any) int {
	all := map[string]any{"autoreset": "SameStep", "illegal": "random"}
	maps.Copy(all, options)
	g := a.open("blockbattle", all, a.room/2)
	if g == nil {
		return 2
	}
	a.call("reset", g.H)
	return g.Rows
}

// beside are the options of games with an opponent.
func beside(spec string) map[string]any { return map[string]any{"opponents": map[int]any{1: spec}} }

// on attacks games after their reset.
func on(options map[string]any, attack func(a *attacker, rows int)) func(*attacker) {
	return func(a *attacker) { attack(a, stepping(a, options)) }
}

// records lets many games end and be recorded.
func records(a *attacker) {
	stepping(a, map[string]any{"max_episode_steps": 1})
	a.call("record", 2, map[string]any{"every": 1, "memory": a.room / 3})
	a.call("rollout", 2, 10, map[string]any{"keep": "last"})
}

// ends lets all games end in one step.
func ends(a *attacker) {
	a.room *= 2
	rows := stepping(a, map[string]any{"max_episode_steps": 1})
	a.call("step", 2, make([]byte, 2*rows))
}

// opens opens single games until there are no more handles.
func opens(a *attacker) {
	for range 64 {
		a.call("open", "blocking", map[string]any{"num_envs": 1, "seats": 4, "autoreset": "SameStep"})
	}
	for k := range 64 {
		a.call("reset", k+1)
		a.call("legal", k+1, nil)
	}
}

// shares takes as much shared memory as there may be, in the smallest pieces.
func shares(a *attacker) {
	stepping(a, map[string]any{"fields": []string{"seat"}})
	for range 64 {
		a.call("share", 2, 256, 1)
	}
}

// uploads uploads weights of 15 MB, if no other attacker does at the moment, and returns their name.
func uploads(a *attacker) string {
	big := weightsFile()
	name := fmt.Sprintf("sha256:%x", sha256.Sum256(big))
	a.bulk("upload", "blocking", "learned:weights="+name, big)
	return name
}

// weightsFile is a network that takes more memory than its file: layers of one output.
var weightsFile = sync.OnceValue(func() []byte {
	g := blocking.Game
	names := bots.Features(g).Names
	wide := 4096
	layer := func(in, out int) mlp.Layer {
		return mlp.Layer{In: in, Out: out, W: make([]float32, in*out), B: make([]float32, out)}
	}
	net := mlp.Trusted([]mlp.Layer{layer(len(names), wide), layer(wide, 1), layer(1, wide), layer(wide, 256), layer(256, 1)})
	var b bytes.Buffer
	envtest.Must(0, mlp.Write(&b, net, bots.Of(g).Facts(g, nil)))
	return b.Bytes()
})

// leagues gives games more and more opponents that search, all different.
func leagues(a *attacker) {
	stepping(a, beside("random"))
	for n := range 20 {
		var mixture [64][]any
		for k := range mixture {
			mixture[k] = []any{fmt.Sprintf("learned:ply=1,width=%d", 64*n+k+1), 1}
		}
		a.call("set_opponents", 2, map[int]any{1: mixture})
	}
}

// first is the first n games.
func first(n int) (b []byte) {
	for k := range n {
		b = append(b, byte(k), byte(k>>8), byte(k>>16), byte(k>>24))
	}
	return b
}

// long are n texts.
func long(n, size int) []string { return slices.Repeat([]string{strings.Repeat(" ", size)}, n) }

// TestAgentsAreCounted: what opponents and policies may take counts towards max_memory before they are made, and an
// error names them. All of it is given back.
func TestAgentsAreCounted(t *testing.T) {
	p := serve(t, "--listen", "tcp:127.0.0.1:0", "--max-memory", "12000000", "--workers", "2")
	c := dial(t, p.Ready[0])
	memory := func() int64 { return statsOf(t, c).Memory }
	refused := func(err error, spec string) {
		var refusal *wire.Error
		require.ErrorAs(t, err, &refusal)
		got := []any{refusal.Code, refusal.Data["limit"], refusal.Data["spec"]}
		require.Equal(t, []any{wire.Limit, "max_memory", spec}, got)
		require.Regexp(t, fmt.Sprintf("^the agents of %q take [0-9]+ bytes: limit max_memory is 12000000", spec), refusal.Msg)
	}
	open := func(opponent string, games int) error {
		options := map[string]any{"num_envs": games, "opponents": map[int]string{1: opponent}}
		return envtest.Failed(c.Open("blocking", options))
	}
	g := envtest.Must(c.Open("dropblox", map[string]any{"num_envs": 4}))
	require.NoError(t, g.CallSlab("reset"))
	before := memory()
	policy := func(spec string) error {
		return g.Call("rollout", nil, 1, map[string]any{"keep": "last", "policy": spec})
	}
	refused(policy("hand:width=20000"), "hand:width=20000")
	refused(policy("hand:time=1ms"), "hand:time=1ms")
	require.Equal(t, before, memory())
	require.NoError(t, policy("hand:width=4"))
	require.Greater(t, memory(), before+2*300_000)
	require.NoError(t, policy("hand:width=8"))
	require.Less(t, memory(), before+2*600_000, "the other policy is gone")
	require.NoError(t, g.Call("close", nil))
	require.Zero(t, memory())

	refused(open("hand:ply=6", 8), "hand:ply=6")
	require.NoError(t, open("hand:ply=6", 1), "one game has one worker")
	require.NoError(t, c.Call("close", nil, 2))
	require.Zero(t, memory())

	// A second spec takes its weights and their multiples; the searches are those of the games that are being stepped.
	g = envtest.Must(c.Open("blockbattle", map[string]any{"num_envs": 4, "opponents": map[int]string{1: "learned"}}))
	one := memory()
	require.NoError(t, g.Call("set_opponents", nil, map[int]any{1: []any{[]any{"learned", 1}, []any{"learned:ply=1", 1}}}))
	require.Less(t, memory()-one, int64(500_000))
	for k := range 8 { // a search of four plies takes 1.6 MB, and is there once for each worker
		h := map[int]string{1: fmt.Sprintf("hand:ply=4,width=%d", 9000+k)}
		require.NoError(t, g.Call("set_opponents", nil, h))
	}
	require.Less(t, memory()-one, int64(3_000_000))
}
