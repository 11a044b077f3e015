package cage_test

import (
	"bytes"
	"fmt"
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
	return compiletest.Once("attack/attack", func(path string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		compiletest.C(t, "-o", path, "testdata/attack.c")
	})
}

// run runs the attacker, which is among the files of its cage, to its end. It returns what that prints, and why it was
// ended.
func run(t *testing.T, in *cage.Cage, memory int64, args ...string) (printed, ended string) {
	t.Helper()
	text, err := os.ReadFile(attacker(t))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(in.Files, "attack"), text, 0o755))
	printed, said, ended, _ := runSpec(t, contest.Spec{Argv: append([]string{"./attack"}, args...), Cage: in, Memory: memory})
	require.Empty(t, said, args)
	return printed, ended
}

// runSpec runs a program to its end and returns what it prints, why it was ended, and its exit status.
func runSpec(t *testing.T, spec contest.Spec) (printed, said, ended string, status error) {
	t.Helper()
	var out, errs bytes.Buffer
	spec.Stdout, spec.Stderr = contest.PassOn(&out, 1<<20), contest.PassOn(&errs, 1<<20)
	spec.Excess = func(why string) { ended = why }
	c, err := contest.StartChild(spec)
	require.NoError(t, err)
	if !c.Exit(hang) {
		t.Errorf("%v goes on", spec.Argv)
	}
	status = c.Kill()
	return out.String(), errs.String(), ended, status
}

// A field is what there is to attack: a host, a rival and their files.
type field struct {
	dir, own, secret, journal, rival, record, link string
	pid, port, udp, abstract, socket, dgram        string
	fd, shm                                        string
	cage                                           *cage.Cage
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
	f.link = filepath.Join(f.dir, "link")
	require.NoError(t, os.Symlink(f.secret, f.link))
	f.cage = &cage.Cage{Files: f.own, Limits: cage.Bot}

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
	short, err := os.MkdirTemp("", "s") // a socket's path has few bytes
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(short)) })
	f.abstract, f.socket = fmt.Sprintf("@attacked%d", os.Getpid()), filepath.Join(short, "socket")
	f.dgram = filepath.Join(short, "dgram")
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
	f.leaveOpen(t)
	key := 0x1000000 + os.Getpid()
	id, err := unix.SysvShmGet(key, 4096, unix.IPC_CREAT|0o600)
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) })
	f.shm = strconv.Itoa(key)
	t.Setenv("ATTACKED_TOKEN", "secret")
	return f
}

// leaveOpen opens the journal as a shell would leave it open.
func (f *field) leaveOpen(t *testing.T) {
	open, err := unix.Open(f.journal, unix.O_WRONLY|unix.O_APPEND, 0)
	require.NoError(t, err)
	high, err := unix.FcntlInt(uintptr(open), unix.F_DUPFD, 100)
	require.NoError(t, err)
	t.Cleanup(func() { _ = unix.Close(open); _ = unix.Close(high) })
	f.fd = strconv.Itoa(high)
}

// An attack is what a program may try. It is contained if one of some walls stands, which are named by parts of their
// names.
type attack struct {
	name  string
	walls []string
	args  func(f *field) []string
	// harms says that it is not tried in the open: it would change this machine.
	harms bool
}

// anotherUser is no wall of the kernel's: what root contains runs as another user.
const anotherUser = "another user"

// Walls that contain several attacks.
var (
	files   = []string{"are absent", "read or written"}
	changes = []string{"are absent", anotherUser}
	sight   = []string{"are absent"}
	calls   = []string{"seccomp"}
	others  = []string{"out of sight", anotherUser}
)

var attacks = []attack{
	{"read a file of the home folder", files, func(f *field) []string { return []string{"read", f.secret} }, false},
	{"list the home folder", files, func(f *field) []string { return []string{"list", filepath.Dir(f.secret)} }, false},
	{"read it by a symbolic link", files, func(f *field) []string { return []string{"symlink", f.secret, "l"} }, false},
	{"link it into its own folder", files, func(f *field) []string { return []string{"link", f.secret, "h"} }, false},
	{"read a rival's source", files, func(f *field) []string { return []string{"read", f.rival} }, false},
	{"write a rival's folder", files, func(f *field) []string { return []string{"create", filepath.Dir(f.rival)} }, false},
	{"read a record", files, func(f *field) []string { return []string{"read", f.record} }, false},
	{"write the journal", files, func(f *field) []string { return []string{"append", f.journal} }, false},
	{"write the files that it was made of", files, func(f *field) []string { return []string{"append", f.own + "/bot.py"} }, false},
	{"cut the journal short", []string{"are absent", "cut short"}, func(f *field) []string { return []string{"truncate", f.journal} }, false},
	{"rename the journal", files, func(f *field) []string { return []string{"rename", f.journal} }, false},
	{"delete a record", files, func(f *field) []string { return []string{"unlink", f.record} }, false},
	{"change the mode of the journal", changes, func(f *field) []string { return []string{"chmod", f.journal} }, false},
	{"change the owner of the journal", changes, func(f *field) []string { return []string{"chown", f.journal} }, false},
	{"change the time of the journal", changes, func(f *field) []string { return []string{"utimes", f.journal} }, false},
	{"change the mode of /dev/null", nil, func(*field) []string { return []string{"chmod", "/dev/null"} }, true},
	{"change the time of /dev/null", nil, func(*field) []string { return []string{"utimes", "/dev/null"} }, true},
	{"change the time of /dev/zero", nil, func(*field) []string { return []string{"utimes", "/dev/zero"} }, true},
	{"see the size of a record", sight, func(f *field) []string { return []string{"stat", f.record} }, false},
	{"see where a link leads", sight, func(f *field) []string { return []string{"readlink", f.link} }, false},
	{"be told of changes in a rival's folder", sight, func(f *field) []string { return []string{"inotify", filepath.Dir(f.rival)} }, false},
	{"connect", []string{"seccomp", "no TCP"}, func(f *field) []string { return []string{"tcp", f.port} }, false},
	{"listen", []string{"seccomp", "no TCP"}, func(*field) []string { return []string{"listen"} }, false},
	{"send UDP", []string{"seccomp", "no network"}, func(f *field) []string { return []string{"udp", f.udp} }, false},
	{"connect to an abstract socket", []string{"seccomp", "abstract"}, func(f *field) []string { return []string{"unix", f.abstract} }, false},
	{"connect to a socket by its path", calls, func(f *field) []string { return []string{"unix", f.socket} }, false},
	{"send from a pair of sockets", calls, func(f *field) []string { return []string{"pair", f.dgram} }, false},
	{"trace a rival", []string{"seccomp", "out of sight"}, func(f *field) []string { return []string{"ptrace", f.pid} }, false},
	{"trace the first process", calls, func(*field) []string { return []string{"ptrace", "1"} }, false},
	{"read a rival's memory", []string{"seccomp", "out of sight"}, func(f *field) []string { return []string{"peek", f.pid} }, false},
	{"signal a rival", []string{"out of sight", "signals"}, func(f *field) []string { return []string{"kill", f.pid} }, false},
	{"signal the host", []string{"out of sight", "signals"}, func(*field) []string { return []string{"kill", strconv.Itoa(os.Getpid())} }, false},
	{"change a rival's limits", append(calls, others...), func(f *field) []string { return []string{"limit", f.pid} }, false},
	{"make a rival wait", append(calls, others...), func(f *field) []string { return []string{"nice", f.pid} }, false},
	{"keep a rival on one processor", append(calls, others...), func(f *field) []string { return []string{"pin", f.pid} }, false},
	{"read a rival's command line", []string{"out of sight"}, func(f *field) []string { return []string{"read", "/proc/" + f.pid + "/cmdline"} }, false},
	{"read the host's environment", []string{"out of sight", "Landlock)"},
		func(*field) []string { return []string{"read", fmt.Sprintf("/proc/%d/environ", os.Getpid())} }, false},
	{"write a setting of the kernel", files, func(*field) []string { return []string{"write", "/proc/sys/kernel/hostname"} }, false},
	{"give an order to the kernel", files, func(*field) []string { return []string{"write", "/proc/sysrq-trigger"} }, false},
	{"use what the host has open", []string{"open files"}, func(f *field) []string { return []string{"fd", f.fd} }, false},
	{"read a secret of the environment", nil, func(*field) []string { return []string{"env", "ATTACKED_TOKEN"} }, false},
	{"attach shared memory of others", []string{"seccomp", "no shared memory"}, func(f *field) []string { return []string{"shm", f.shm} }, false},
	{"make memory that no limit counts", calls, func(*field) []string { return []string{"memfd"} }, false},
	{"keep files with a thread", calls, func(*field) []string { return []string{"split"} }, false},
	{"keep sockets in a message", calls, func(*field) []string { return []string{"flight"} }, false},
	{"keep pages in a pipe", calls, func(*field) []string { return []string{"piped"} }, false},
	{"keep attributes with a file", calls, func(*field) []string { return []string{"xattr"} }, false},
	{"take disk beyond the end of a file", calls, func(*field) []string { return []string{"beyond"} }, false},
	{"make a namespace and mount in it", calls, func(*field) []string { return []string{"mount"} }, false},
	{"start a process in a namespace", calls, func(*field) []string { return []string{"clone"} }, false},
	{"start it by the newer call", calls, func(*field) []string { return []string{"clone3"} }, false},
	{"copy a tree of mounts", calls, func(*field) []string { return []string{"tree"} }, false},
	{"change its root", calls, func(*field) []string { return []string{"root"} }, false},
	{"keep a key in the kernel", calls, func(*field) []string { return []string{"key"} }, false},
	{"submit by io_uring", calls, func(*field) []string { return []string{"uring"} }, false},
	{"hide what it uses", calls, func(*field) []string { return []string{"dumpable"} }, false},
	{"make a device", nil, func(*field) []string { return []string{"mknod"} }, false},
	{"open a device", files, func(*field) []string { return []string{"device", "/dev/ptmx"} }, false},
	{"read the log of the kernel", files, func(*field) []string { return []string{"read", "/dev/kmsg"} }, false},
	{"make a socket by its 32-bit number", calls, func(*field) []string { return []string{"old"} }, false},
	{"write to /dev", files, func(*field) []string { return []string{"create", "/dev"} }, true},
	{"write to the root", files, func(*field) []string { return []string{"create", "/"} }, true},
}

// stands reports whether a wall stands here of whose name part is a part.
func stands(part string) bool {
	if part == anotherUser {
		return os.Geteuid() == 0
	}
	return !slices.ContainsFunc(cage.Missing(), func(m string) bool { return strings.Contains(m, part) })
}

// TestAttacks: what works for a program in the open is contained in a cage. Where none of the walls stands that contain an
// attack, it is known by name: the program reaches what it attacks, and cage.Missing lists the walls.
func TestAttacks(t *testing.T) {
	compiletest.Everywhere(t, func(t *testing.T) {
		for _, a := range attacks {
			t.Run(a.name, func(t *testing.T) {
				f := newField(t)
				got, _ := run(t, f.cage, 0, a.args(f)...)
				if len(a.walls) > 0 && !slices.ContainsFunc(a.walls, stands) {
					require.NotEmpty(t, cage.Missing())
					t.Logf("%s: missing here: %s", strings.TrimSpace(got), strings.Join(a.walls, ", "))
					return
				}
				require.True(t, strings.HasPrefix(got, "contained") || got == "", got)
				text, err := os.ReadFile(f.journal)
				require.NoError(t, err)
				require.Equal(t, "text", string(text))
				if a.harms {
					return
				}
				f.leaveOpen(t)
				open := exec.Command(attacker(t), a.args(f)...)
				open.Dir = t.TempDir()
				if out, err := open.Output(); err != nil || !strings.HasPrefix(string(out), "reached") {
					t.Logf("this system refuses it to everybody: %s", out)
				}
			})
		}
	})
}

// TestGreed: what a program takes from the machine is bounded, and the host is told what was too much.
func TestGreed(t *testing.T) {
	compiletest.Everywhere(t, func(t *testing.T) {
		const much, hides, many = `^it uses \d+ MiB of memory, want at most 64$`, `^it hides what it uses$`, `^it has made more than 200 files`
		written, deep, mapped, size := `^it has written \d+ MiB, want at most 100$`, many, hides, "90"
		if len(cage.Missing()) == 0 { // its tmpfs is full
			written, deep, mapped, size = "", "", "", "200"
		}
		f := newField(t)
		f.cage.Limits = cage.Limits{Disk: 100 << 20, Files: 200, Threads: 50, Open: 1024}
		for name, a := range map[string]struct {
			want   string // "" if it is refused
			memory int64
			args   []string
		}{
			"memory":                           {much, 64, []string{"memory", "300"}},
			"memory that is shared":            {"", 64, []string{"share", "300"}},
			"memory that is shared, by a file": {hides, 64, []string{"share", "300", "zero"}},
			"memory of a headless process":     {much, 64, []string{"headless", "300"}},
			"sockets":                          {much, 64, []string{"sockets", "1", "300"}},
			"sockets of many processes":        {much, 64, []string{"sockets", "40", "10"}},
			"packets":                          {much, 64, []string{"packets", "1", "300"}},
			"tables of pages":                  {much, 64, []string{"tables", "100"}},
			"hidden by its mode":               {`^it (hides what it uses|uses \d+ MiB of memory, want at most 1)$`, 1, []string{"hidden"}},
			"open files":                       {`^it has \d+ open files, want at most 4096$`, 0, []string{"sockets", "40", "400"}},
			"a large file":                     {"", 64, []string{"file", ".", "200"}},
			"several files together":           {written, 64, []string{"disk", ".", "4"}},
			"files without a name":             {written, 64, []string{"unlinked", "4"}},
			"files without a name, mapped":     {mapped, 64, []string{"unlinked", "4", "mapped"}},
			"many files":                       {many, 64, []string{"files", ".", "100000"}},
			"many files in shared memory":      {many, 64, []string{"files", "/dev/shm", "100000"}},
			"a file whose path is too long":    {deep, 64, []string{"deep", "30", size}},
			"many processes":                   {`^it has \d+ processes and threads, want at most 50$`, 0, []string{"fork", "300"}},
		} {
			t.Run(name, func(t *testing.T) {
				got, ended := run(t, f.cage, a.memory<<20, a.args...)
				require.NotContains(t, got, "reached")
				if a.want == "" || got != "" && ended == "" { // it may be refused by the kernel, or by both
					require.Contains(t, got, "contained")
					require.Empty(t, ended)
				} else {
					require.Regexp(t, a.want, ended)
				}
			})
		}
	})
}
