package commands

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/rpc/server"
	"blockyard/rpc/wire"
	"blockyard/rpc/wire/client"
)

// TestMemoryUnderAttack holds the memory of the process, without what it shares with clients, to its promise:
// --max-memory and a tenth more, or 64 MiB. Games fill half of the limit. Then several clients at once call each method
// with its largest arguments, and do not read the answers. A method without an attack fails the test.
func TestMemoryUnderAttack(t *testing.T) {
	const limit, clients = 128 << 20, 4
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
			_ = a.conn.Close()
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
	t    *testing.T
	conn net.Conn
	c    *client.Client
	room int64 // bytes of max_memory for it

	stuck bool // the server has stopped to read
}

func connect(t *testing.T, path string) *attacker {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(context.Background(), "unix", path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	a := &attacker{t: t, conn: conn, c: client.New(conn), room: 1 << 20}
	a.must("hello", map[string]any{"proto": []int{3, 0}})
	return a
}

func (a *attacker) must(method string, params ...any) {
	if err := a.c.Call(method, nil, params...); err != nil {
		a.t.Errorf("%s: %v", method, err)
	}
}

// open opens as many games as count so many bytes.
func (a *attacker) open(game string, options map[string]any, room int64) *client.Games {
	all := map[string]any{"num_envs": 1}
	for k, v := range options {
		all[k] = v
	}
	var one struct {
		H      uint32 `msgpack:"h"`
		Memory int64  `msgpack:"memory"`
	}
	if err := a.c.Call("open", &one, game, all); err != nil {
		a.t.Logf("open %s: %v", game, err) // the others have taken what there is
		return nil
	}
	all["num_envs"] = max(1, int(room/one.Memory))
	for a.must("close", one.H); ; all["num_envs"] = all["num_envs"].(int) * 9 / 10 {
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
	b, err := wire.AppendRequest(nil, 7, method, params...)
	if err != nil {
		a.t.Error(err)
	}
	_ = a.conn.SetWriteDeadline(time.Now().Add(300 * time.Millisecond))
	for range n {
		if _, err := a.conn.Write(b); err != nil {
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
	w, stop := &memoryWatch{}, make(chan struct{})
	t.Cleanup(func() { close(stop) })
	sample := func() int64 {
		b, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
		field := func(name string) int64 {
			_, rest, _ := strings.Cut(string(b), name+":")
			words := strings.Fields(rest)
			if len(words) == 0 {
				return 0
			}
			n, _ := strconv.ParseInt(words[0], 10, 64)
			return n << 10
		}
		return field("VmRSS") - field("RssShmem")
	}
	if sample() == 0 {
		t.Skip("no /proc/PID/status here")
	}
	go func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(2 * time.Millisecond):
				w.peak.Store(max(w.peak.Load(), sample()))
			}
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
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", first.Process.Pid))
	require.NoError(t, err)
	var pages int
	_, err = fmt.Sscan(string(b), &pages)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "s")
	limit := pages*os.Getpagesize()>>10 + 400<<10 // KiB
	// glibc, which this test binary has and the program has not, would reserve 64 MiB for each thread that allocates.
	limited := fmt.Sprintf(`export MALLOC_ARENA_MAX=1; ulimit -v %d && exec "$0" "$@"`, limit)
	p := serveBy(t, []string{"sh", "-c", limited}, "--listen", "unix:"+path)
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
	require.NoError(t, connect(t, path).c.Call("ping", nil))
	select {
	case err := <-p.ended:
		t.Fatal("the server has ended", err)
	default:
	}
}
