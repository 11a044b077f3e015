package cage

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"blockyard/agents/contest"
	"blockyard/agents/contest/compile/compiletest"
	"blockyard/env/envtest"
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

// place copies a program into a folder.
func place(t *testing.T, program, folder string) {
	text := envtest.Must(os.ReadFile(program))
	require.NoError(t, os.WriteFile(filepath.Join(folder, filepath.Base(program)), text, 0o755))
}

// run runs the attacker, which is among the files of its cage, to its end. It returns what that prints, and why it was
// ended.
func run(t *testing.T, in *Cage, memory int64, args ...string) (printed, ended string) {
	place(t, attacker(t), in.Files)
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
	c := envtest.Must(contest.StartChild(spec))
	if !c.Exit(hang) {
		t.Errorf("%v goes on", spec.Argv)
	}
	status = c.Kill()
	return out.String(), errs.String(), ended, status
}

// A field is what there is to attack: a host, a rival and their files.
type field struct {
	dir, own, secret, journal string
	names                     map[string]any // of it all, by which attacks know it
	cage                      *Cage
}

func newField(t *testing.T) *field {
	f := &field{dir: t.TempDir()}
	write := func(name string) string {
		fill(t, f.dir, "text", 0o600, name)
		return filepath.Join(f.dir, name)
	}
	f.secret, f.journal = write("home/.ssh/id"), write("out/journal.jsonl")
	f.own = filepath.Dir(write("out/build/own/bot.py"))
	f.cage = &Cage{Files: f.own, Limits: Bot}
	link := filepath.Join(f.dir, "link")
	require.NoError(t, os.Symlink(f.secret, link))
	rival := exec.Command("sleep", "1000")
	require.NoError(t, rival.Start())
	t.Cleanup(func() { _ = rival.Process.Kill(); _ = rival.Wait() })

	short := envtest.Must(os.MkdirTemp("", "s")) // a socket's path has few bytes
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(short)) })
	listening := func(l io.Closer, err error) {
		require.NoError(t, err)
		t.Cleanup(func() { l.Close() })
	}
	abstract := fmt.Sprintf("@attacked%d", os.Getpid()) + filepath.Base(short)
	listening(net.Listen("unix", abstract))
	listening(net.Listen("unix", short+"/socket"))
	listening(net.ListenPacket("unixgram", short+"/dgram"))
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	listening(tcp, err)
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	listening(udp, err)

	open := envtest.Must(unix.Open(f.journal, unix.O_WRONLY|unix.O_APPEND, 0)) // as a shell would leave it open
	high := envtest.Must(unix.FcntlInt(uintptr(open), unix.F_DUPFD, 100))
	t.Cleanup(func() { _ = unix.Close(open); _ = unix.Close(high) })
	key := 0x1000000 + rival.Process.Pid
	id := envtest.Must(unix.SysvShmGet(key, 4096, unix.IPC_CREAT|0o600))
	t.Cleanup(func() { _, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) })
	t.Setenv("ATTACKED_TOKEN", "secret")
	f.names = map[string]any{
		"secret": f.secret, "home": filepath.Dir(f.secret), "journal": f.journal, "own": f.own, "link": link,
		"theirs": write("out/build/rival/bot.py"), "folder": f.dir + "/out/build/rival",
		"record": write("out/games/0001.jsonl.gz"), "rival": rival.Process.Pid, "host": os.Getpid(), "fd": high, "shm": key,
		"abstract": abstract, "socket": short + "/socket", "dgram": short + "/dgram",
		"port": tcp.Addr().(*net.TCPAddr).Port, "udp": udp.LocalAddr().(*net.UDPAddr).Port,
	}
	return f
}

// An attack is what a program may try: arguments of the attacker, with the names of a field. It is contained if one of some
// walls stands, which are named by parts of their names.
type attack struct {
	walls []string
	args  string // of several attacks, between semicolons
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
	// A file of the home folder: by its path, by a symbolic link, by a link in its own folder.
	{files, "read $secret; list $home; symlink $secret l; link $secret h"},
	// A rival's source and folder, records, the journal, and the files that the program was made of.
	{files, "read $theirs; create $folder; read $record; append $journal; append $own/bot.py; rename $journal; unlink $record"},
	{[]string{"are absent", "cut short"}, "truncate $journal"},
	{changes, "chmod $journal; chown $journal; utimes $journal"},
	// The size of a record, where a link leads, and what changes in a rival's folder.
	{sight, "stat $record; readlink $link; inotify $folder"},
	// The network and sockets.
	{[]string{"seccomp", "no TCP"}, "tcp $port; listen"},
	{[]string{"seccomp", "no network"}, "udp $udp"},
	{[]string{"seccomp", "abstract"}, "unix $abstract"},
	{calls, "unix $socket; pair $dgram; old"},
	// Other processes.
	{[]string{"seccomp", "out of sight"}, "ptrace $rival; peek $rival"},
	{calls, "ptrace 1"},
	{[]string{"out of sight", "signals"}, "kill $rival; kill $host"},
	{append(calls, others...), "limit $rival; nice $rival; pin $rival"},
	{[]string{"out of sight"}, "read /proc/$rival/cmdline"},
	{[]string{"out of sight", "Landlock)"}, "read /proc/$host/environ"},
	// What the host has open, has in its environment or shares.
	{[]string{"open files"}, "fd $fd"},
	{nil, "env ATTACKED_TOKEN"},
	{[]string{"seccomp", "no shared memory"}, "shm $shm"},
	// What no limit would count, or measure.
	{calls, "setid"},
	{calls, "memfd; split; flight; piped; xattr; beyond; dumpable"},
	// Settings of the kernel, its log, devices, namespaces, mounts, keys.
	{files, "write /proc/sys/kernel/hostname; write /proc/sysrq-trigger; device /dev/ptmx; read /dev/kmsg"},
	{nil, "mknod"},
	{calls, "mount; clone; clone3; tree; root; key; uring"},
}

// harmful are not tried in the open: they would change this machine.
var harmful = []attack{
	{nil, "chmod /dev/null; utimes /dev/null; utimes /dev/zero"},
	{files, "create /dev; create /"},
}

// stands reports whether a wall stands here of whose name part is a part.
func stands(part string) bool {
	if part == anotherUser {
		return os.Geteuid() == 0
	}
	return !slices.ContainsFunc(Missing(), func(m string) bool { return strings.Contains(m, part) })
}

// TestAttacks: what works for a program in the open is contained in a cage. Where none of the walls stands that contain an
// attack, it is known by name: the program reaches what it attacks, and Missing lists the walls. One program in a cage
// makes all attacks, one after the other.
func TestAttacks(t *testing.T) {
	compiletest.Everywhere(t, func(t *testing.T) {
		f := newField(t)
		place(t, attacker(t), f.own)
		script, all := f.script(slices.Concat(attacks, harmful))
		out, said, ended, status := runSpec(t, contest.Spec{Argv: []string{"/bin/sh", "-c", script}, Cage: f.cage})
		require.NoError(t, status)
		require.Empty(t, ended)
		require.NotContains(t, said, "no attack")
		results := strings.Split(out, "#\n")
		require.Len(t, results, len(all)+1)
		for k, a := range all {
			if len(a.walls) > 0 && !slices.ContainsFunc(a.walls, stands) {
				require.NotEmpty(t, Missing())
				t.Logf("%s: %s: missing here: %s", a.args, results[k], strings.Join(a.walls, ", "))
			} else if results[k] != "" { // it was not killed
				require.Regexp(t, "^contained", results[k], a.args)
			}
		}
		if stands("are absent") || stands("read or written") && stands("cut short") {
			require.Equal(t, "text", string(envtest.Must(os.ReadFile(f.journal))))
		}

		script, all = newField(t).script(attacks)
		open := exec.Command("/bin/sh", "-c", script)
		open.Dir = t.TempDir()
		place(t, attacker(t), open.Dir)
		results = strings.Split(string(envtest.Must(open.Output())), "#\n")
		for k, a := range all {
			if !strings.HasPrefix(results[k], "reached") {
				t.Logf("%s: this system refuses it to everybody, or an earlier one has worked: %s", a.args, results[k])
			}
		}
	})
}

// script makes attacks on the field, and returns them one by one. Behind the result of each stands a #.
func (f *field) script(list []attack) (script string, all []attack) {
	for name, value := range f.names {
		script += fmt.Sprintf("%s='%v'\n", name, value)
	}
	for _, several := range list {
		for args := range strings.SplitSeq(several.args, "; ") {
			script += "./attack " + args + "; echo '#'\n"
			all = append(all, attack{several.walls, args})
		}
	}
	return script, all
}

// TestGreed: what a program takes from the machine is bounded, and the host is told what was too much.
func TestGreed(t *testing.T) {
	compiletest.Everywhere(t, func(t *testing.T) {
		const much, hides, many = `^it uses \d+ MiB of memory, want at most 64$`, `^it hides what it uses$`, `^it has made more than 200 files`
		written, deep, mapped, size := `^it has written \d+ MiB, want at most 60$`, many, hides, "50"
		if len(Missing()) == 0 { // its tmpfs is full
			written, deep, mapped, size = "", "", "", "100"
		}
		f := newField(t)
		f.cage.Limits = Limits{Disk: 60 << 20, Files: 200, Threads: 50, Open: 1024}
		for name, a := range map[string]struct {
			want   string // "" if it is refused
			memory int64
			args   []string
		}{
			"memory":                           {much, 64, []string{"memory", "100"}},
			"memory that is shared":            {"", 64, []string{"share", "300"}},
			"memory that is shared, by a file": {hides, 64, []string{"share", "100", "zero"}},
			"memory of a headless process":     {much, 64, []string{"headless", "100"}},
			"sockets":                          {much, 64, []string{"sockets", "1", "200"}},
			"sockets of many processes":        {much, 64, []string{"sockets", "40", "10"}},
			"packets":                          {much, 64, []string{"packets", "1", "200"}},
			"tables of pages":                  {much, 64, []string{"tables", "100"}},
			"mappings of many processes":       {`^it has more than 262144 mappings`, 1000, []string{"mappings", "10"}},
			"memory of mappings":               {much, 64, []string{"mappings", "6"}},
			"hidden by its mode":               {`^it (hides what it uses|uses \d+ MiB of memory, want at most 1)$`, 1, []string{"hidden"}},
			"open files":                       {`^it has \d+ open files, want at most 4096$`, 0, []string{"pipes", "12", "400"}},
			"a large file":                     {"", 64, []string{"file", ".", "200"}},
			"several files together":           {written, 64, []string{"disk", ".", "2"}},
			"files without a name":             {written, 64, []string{"unlinked", "2"}},
			"files without a name, mapped":     {mapped, 64, []string{"unlinked", "2", "mapped"}},
			"many files":                       {many, 64, []string{"files", ".", "3000"}},
			"many files in shared memory":      {many, 64, []string{"files", "/dev/shm", "3000"}},
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

// TestRandomAttacks: a program that makes 10,000 random operations on files and system calls changes nothing outside of
// its room, and leaves no process. The long test does that with a thousand seeds.
func TestRandomAttacks(t *testing.T) {
	compiletest.Everywhere(t, func(t *testing.T) {
		if len(Missing()) > 0 {
			return // what it reaches there is said by TestAttacks
		}
		seeds := 4
		if os.Getenv("BLOCKYARD_LONG") != "" {
			seeds = 1000
		}
		program := compiletest.Once("random", func(path string) { compiletest.C(t, "-o", path, "testdata/random.c") })
		f := newField(t)
		place(t, program, f.own)
		before := outside(t, f)
		for seed := range seeds {
			argv := []string{"./random", fmt.Sprint(seed), "10000", f.dir, f.secret, f.own, f.journal, filepath.Dir(program)}
			printed, _, ended, _ := runSpec(t, contest.Spec{Argv: argv, Cage: f.cage, Memory: 512 << 20})
			require.True(t, ended != "" || strings.HasSuffix(printed, "done\n"), printed)
			require.Equal(t, before, outside(t, f), "seed %d", seed)
		}
	})
}

// outside describes what is outside of a room: files, devices, what the kernel has been told, and processes that attack.
func outside(t *testing.T, f *field) string {
	all := []string{state(t, f.dir)}
	for _, path := range []string{"/dev/null", "/dev/zero", "/dev", "/dev/shm", "/", "/usr", "/usr/bin", "/usr/bin/true", "/etc", "/etc/passwd"} {
		info := envtest.Must(os.Lstat(path))
		all = append(all, path, info.Mode().String())
		if info.Mode().IsRegular() {
			all = append(all, info.ModTime().String(), fmt.Sprint(info.Size()))
		}
	}
	all = append(all, string(envtest.Must(os.ReadFile("/proc/sys/kernel/core_pattern"))))
	for _, file := range envtest.Must(filepath.Glob("/proc/[0-9]*/cmdline")) {
		if text, err := os.ReadFile(file); err == nil && strings.HasPrefix(string(text), "./random\x00") && strings.Contains(string(text), f.dir) {
			all = append(all, file)
		}
	}
	return strings.Join(all, " ")
}
