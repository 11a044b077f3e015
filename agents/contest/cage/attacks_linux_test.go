package cage_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"blockyard/agents/contest"
	"blockyard/agents/contest/cage"
	"blockyard/agents/contest/compile/compiletest"
)

func TestMain(m *testing.M) { compiletest.Run(m) }

// hang is how long a test waits for what takes a moment.
const hang = time.Minute

// attacker is the program that attacks.
func attacker(t *testing.T) string {
	return compiletest.Once("attack", func(path string) { compiletest.C(t, "-o", path, "testdata/attack.c") })
}

// run runs the attacker to its end and returns what it prints, and why it was ended.
func run(t *testing.T, in *cage.Cage, args ...string) (printed, ended string) {
	t.Helper()
	var out, errs bytes.Buffer
	program := attacker(t)
	spec := contest.Spec{Argv: append([]string{program}, args...), Dir: filepath.Dir(program), Isolate: in != nil,
		Stdout: func(r io.Reader) { _, _ = io.Copy(&out, r) }, Stderr: func(r io.Reader) { _, _ = io.Copy(&errs, r) },
		Excess: func(why string) { ended = why }}
	if in != nil {
		spec.Cage, spec.Memory, spec.Dir = in, in.Memory, in.Own
	}
	c, err := contest.StartChild(spec)
	require.NoError(t, err)
	if !c.Exit(hang) {
		t.Errorf("%v goes on", args)
	}
	_ = c.Kill()
	require.Empty(t, errs.String(), args)
	return out.String(), ended
}

// A field is what there is to attack: a host, a rival and their files.
type field struct {
	dir, own, secret, journal, rival, record string
	pid, port, udp, abstract, socket, dgram  string
	fd, shm                                  string
	cage                                     *cage.Cage
}

func newField(t *testing.T) *field {
	f := &field{dir: t.TempDir()}
	write := func(name string) string {
		path := filepath.Join(f.dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte("text"), 0o600))
		return path
	}
	f.secret, f.journal, f.rival = write("home/.ssh/id"), write("out/journal.jsonl"), write("out/build/rival/bot.py")
	f.record = write("out/games/0001.jsonl.gz")
	f.own = filepath.Dir(write("out/build/own/bot.py"))
	f.cage = &cage.Cage{Own: f.own, Limits: cage.Bot}

	rival := exec.Command("sleep", "1000")
	require.NoError(t, rival.Start())
	t.Cleanup(func() { _ = rival.Process.Kill(); _ = rival.Wait() })
	f.pid = strconv.Itoa(rival.Process.Pid)

	listen := func(network, address string) net.Listener {
		l, err := net.Listen(network, address)
		require.NoError(t, err)
		t.Cleanup(func() { l.Close() })
		return l
	}
	_, f.port, _ = net.SplitHostPort(listen("tcp", "127.0.0.1:0").Addr().String())
	f.abstract, f.socket = fmt.Sprintf("@attacked%d", os.Getpid()), filepath.Join(f.dir, "socket")
	f.dgram = filepath.Join(f.dir, "dgram")
	listen("unix", f.abstract)
	listen("unix", f.socket)
	for network, address := range map[string]string{"udp": "127.0.0.1:0", "unixgram": f.dgram} {
		var p net.PacketConn
		var err error
		p, err = net.ListenPacket(network, address)
		require.NoError(t, err)
		t.Cleanup(func() { p.Close() })
		if network == "udp" {
			_, f.udp, _ = net.SplitHostPort(p.LocalAddr().String())
		}
	}
	open, err := unix.Open(f.journal, unix.O_WRONLY|unix.O_APPEND, 0) // as a shell would leave it open
	require.NoError(t, err)
	high, err := unix.FcntlInt(uintptr(open), unix.F_DUPFD, 100)
	require.NoError(t, err)
	t.Cleanup(func() { _ = unix.Close(open); _ = unix.Close(high) })
	f.fd = strconv.Itoa(high)
	key := 0x1000000 + os.Getpid()
	id, err := unix.SysvShmGet(key, 4096, unix.IPC_CREAT|0o600)
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) })
	f.shm = strconv.Itoa(key)
	t.Setenv("ATTACKED_TOKEN", "secret")
	return f
}

// An attack is what a program may try. Walls are parts of the names of those of which one must stand for it to be
// contained.
type attack struct {
	name  string
	walls []string
	args  func(f *field) []string
}

var attacks = []attack{
	{"read a file of the home folder", []string{"read or written"}, func(f *field) []string { return []string{"read", f.secret} }},
	{"list the home folder", []string{"read or written"}, func(f *field) []string { return []string{"list", filepath.Dir(f.secret)} }},
	{"read it by a symbolic link", []string{"read or written"},
		func(f *field) []string { return []string{"symlink", f.secret, f.own + "/l"} }},
	{"link it into its own folder", []string{"read or written"},
		func(f *field) []string { return []string{"link", f.secret, f.own + "/h"} }},
	{"read a rival's source", []string{"read or written"}, func(f *field) []string { return []string{"read", f.rival} }},
	{"write a rival's folder", []string{"read or written"}, func(f *field) []string { return []string{"create", filepath.Dir(f.rival)} }},
	{"read a record", []string{"read or written"}, func(f *field) []string { return []string{"read", f.record} }},
	{"write the journal", []string{"read or written"}, func(f *field) []string { return []string{"append", f.journal} }},
	{"cut the journal short", []string{"cut short", "read-only"}, func(f *field) []string { return []string{"truncate", f.journal} }},
	{"rename the journal", []string{"read or written"}, func(f *field) []string { return []string{"rename", f.journal} }},
	{"delete a record", []string{"read or written"}, func(f *field) []string { return []string{"unlink", f.record} }},
	{"change the mode of the journal", []string{"read-only"}, func(f *field) []string { return []string{"chmod", f.journal} }},
	{"change the time of the journal", []string{"read-only"}, func(f *field) []string { return []string{"utimes", f.journal} }},
	{"connect", []string{"seccomp", "no TCP"}, func(f *field) []string { return []string{"tcp", f.port} }},
	{"listen", []string{"seccomp", "no TCP"}, func(*field) []string { return []string{"listen"} }},
	{"send UDP", []string{"seccomp", "no network"}, func(f *field) []string { return []string{"udp", f.udp} }},
	{"connect to an abstract socket", []string{"seccomp", "abstract"}, func(f *field) []string { return []string{"unix", f.abstract} }},
	{"connect to a socket by its path", []string{"seccomp"}, func(f *field) []string { return []string{"unix", f.socket} }},
	{"send from a pair of sockets", []string{"seccomp"}, func(f *field) []string { return []string{"pair", f.dgram} }},
	{"trace a rival", []string{"seccomp", "PID"}, func(f *field) []string { return []string{"ptrace", f.pid} }},
	{"read a rival's memory", []string{"seccomp", "PID"}, func(f *field) []string { return []string{"peek", f.pid} }},
	{"signal a rival", []string{"PID", "signals"}, func(f *field) []string { return []string{"kill", f.pid} }},
	{"signal the host", []string{"PID", "signals"}, func(*field) []string { return []string{"kill", strconv.Itoa(os.Getpid())} }},
	{"read a rival's command line", []string{"/proc"}, func(f *field) []string { return []string{"read", "/proc/" + f.pid + "/cmdline"} }},
	{"read the host's environment", []string{"/proc", "Landlock)"},
		func(*field) []string { return []string{"read", fmt.Sprintf("/proc/%d/environ", os.Getpid())} }},
	{"use what the host has open", []string{"open files"}, func(f *field) []string { return []string{"fd", f.fd} }},
	{"read a secret of the environment", nil, func(*field) []string { return []string{"env", "ATTACKED_TOKEN"} }},
	{"attach shared memory of others", []string{"seccomp", "IPC"}, func(f *field) []string { return []string{"shm", f.shm} }},
	{"make memory that no limit counts", []string{"seccomp"}, func(*field) []string { return []string{"memfd"} }},
	{"make a namespace and mount in it", []string{"seccomp"}, func(*field) []string { return []string{"mount"} }},
	{"keep a key in the kernel", []string{"seccomp"}, func(*field) []string { return []string{"key"} }},
	{"submit by io_uring", []string{"seccomp"}, func(*field) []string { return []string{"uring"} }},
	{"open a device", []string{"read or written"}, func(*field) []string { return []string{"device", "/dev/ptmx"} }},
	{"make a socket by its 32-bit number", []string{"seccomp"}, func(*field) []string { return []string{"old"} }},
	{"write to /dev/shm", []string{"read or written"}, func(*field) []string { return []string{"create", "/dev/shm"} }},
}

// stands reports whether a wall stands here of whose name part is a part.
func stands(part string) bool {
	return !slices.ContainsFunc(cage.Missing(), func(m string) bool { return strings.Contains(m, part) })
}

// TestAttacks: what works for a program in the open is contained in a cage. Where the kernel has none of the walls that
// contain an attack, the test is skipped and says so: it has not passed.
func TestAttacks(t *testing.T) {
	for _, a := range attacks {
		t.Run(a.name, func(t *testing.T) {
			if len(a.walls) > 0 && !slices.ContainsFunc(a.walls, stands) {
				t.Skipf("wall missing: %s", strings.Join(a.walls, ", "))
			}
			f := newField(t)
			got, _ := run(t, f.cage, a.args(f)...)
			require.True(t, strings.HasPrefix(got, "contained") || got == "", got)
			text, err := os.ReadFile(f.journal)
			require.NoError(t, err)
			require.Equal(t, "text", string(text))
			got, _ = run(t, nil, a.args(f)...)
			_ = os.Remove("/dev/shm/new")
			if !strings.HasPrefix(got, "reached") {
				t.Skipf("this system refuses it to everybody: %s", got)
			}
		})
	}
}

// TestGreed: what a program takes from the machine is bounded, and the host is told what was too much.
func TestGreed(t *testing.T) {
	f := newField(t)
	f.cage.Limits = cage.Limits{Disk: 100 << 20, Files: 200, Threads: 50, Open: 64}
	for name, a := range map[string]struct {
		want string
		args []string
	}{
		"a fork bomb":            {`^it has \d+ processes and threads, want at most 50$`, []string{"fork", "300"}},
		"memory":                 {`^it uses \d+ MiB of memory, want at most 64$`, []string{"memory", "300"}},
		"a large file":           {"", []string{"file", f.own, "200"}},
		"many files":             {`^it has made more than 200 files$`, []string{"files", f.own, "100000"}},
		"several files together": {`^it has written \d+ MiB, want at most 100$`, []string{"disk", f.own, "4"}},
	} {
		t.Run(name, func(t *testing.T) {
			if f.cage.Memory = 0; name == "memory" {
				f.cage.Memory = 64 << 20
			}
			got, ended := run(t, f.cage, a.args...)
			require.NotContains(t, got, "reached")
			if a.want != "" && (ended != "" || name != "a fork bomb") { // by the watch, or refused by the kernel
				require.Regexp(t, a.want, ended)
			}
			entries, err := os.ReadDir(f.own)
			require.NoError(t, err)
			for _, e := range entries {
				require.NoError(t, cage.Remove(filepath.Join(f.own, e.Name())))
			}
		})
	}
}

// TestDaemonEnds: a process that has left its session ends with its program.
func TestDaemonEnds(t *testing.T) {
	f := newField(t)
	nap := fmt.Sprintf("603.%d", time.Now().UnixNano())
	got, _ := run(t, f.cage, "daemon", nap)
	require.Equal(t, "reached \n", got)
	out, _ := exec.Command("pgrep", "-f", "sleep "+nap).Output()
	require.Empty(t, string(out))
}

// TestFolders: a contained program can do what it needs: write its folder and temporary files, which go with it.
func TestFolders(t *testing.T) {
	f := newField(t)
	var out, errs bytes.Buffer
	c, err := contest.StartChild(contest.Spec{Argv: []string{"/bin/sh", "-c",
		"echo mine > note && chmod 600 note && mv note kept && echo x > $TMPDIR/y && cat /etc/passwd >/dev/null && " +
			"sh -c 'echo $0 | cat' works && pwd && exit 7"}, Dir: f.own, Isolate: true, Cage: f.cage,
		Stdout: func(r io.Reader) { _, _ = io.Copy(&out, r) }, Stderr: func(r io.Reader) { _, _ = io.Copy(&errs, r) }})
	require.NoError(t, err)
	require.True(t, c.Exit(hang))
	require.EqualError(t, c.Kill(), "exit status 7", errs.String())
	require.Equal(t, "works\n"+f.own+"\n", out.String())
	entries, err := os.ReadDir(f.own)
	require.NoError(t, err)
	require.Len(t, entries, 2) // and no temporary files
	require.FileExists(t, filepath.Join(f.own, "kept"))
}

// BenchmarkStart measures how long a program runs that does nothing, in a cage and in a PID namespace only.
func BenchmarkStart(b *testing.B) {
	for name, in := range map[string]contest.Cage{"cage": &cage.Cage{Own: b.TempDir(), Limits: cage.Bot}, "namespace": nil} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				c, err := contest.StartChild(contest.Spec{Argv: []string{"/bin/true"}, Isolate: true, Cage: in})
				require.NoError(b, err)
				<-c.Exited()
				require.NoError(b, c.Kill())
			}
		})
	}
}
