package cage

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"blockyard/agents/contest"
)

// Where a program in a room finds its things.
const (
	ownFiles  = "/bot"      // as they were, read-only
	workRoot  = "/work"     // all that it may write, but for shared memory
	workFiles = "/work/bot" // where it begins
	temporary = "/work/tmp" // which /tmp is, too
)

// sharedMemory is the size of /dev/shm, in bytes.
const sharedMemory = 64 << 20

// What shells run inside: unpacking copies the program's files into its working folder. giving does so for root, whose
// files others may not read, and gives the copy to the user in $0. entrance sets limits, copies the files if that is
// left to do, and becomes the program, whose input and output are the files 6 and 7: what waits for it in the room
// would not close its own with it. Its arguments are the limits, the folder to begin in and the program. (Some shells
// call the limit of processes -u, some -p.)
const (
	unpacking = `cp -RP --preserve=mode,timestamps /bot . && chmod u+rwx bot`
	giving    = `if [ -d /bot ]; then ` + unpacking + ` && chown -Rh "$0:$0" bot; fi && exec "$@"; exit 126`
	entrance  = `exec <&6 >&7 6<&- 7>&-
ulimit -c 0 && ulimit -l 64 && ulimit -n "$1" && ulimit -f "$2" &&
{ [ "$3" = 0 ] || ulimit -d "$3"; } &&
{ ulimit -u "$4" 2>/dev/null || ulimit -p "$4"; } || exit 126
if [ -d bot ]; then :; elif [ -d /bot ]; then ` + unpacking + `; fi || exit 126
cd -- "$5" && shift 5 && exec "$@"`
)

// slack is how much more than its memory a process may reserve, in bytes.
const slack = 1 << 30

// Users of contained programs, where this process is root: each program has one of its own, so that it owns nothing of
// the machine and its processes are counted apart. No system gives such numbers to people or services.
const (
	firstUser = 1_900_000_000
	mostUsers = 200_000_000
)

var started atomic.Int64

// newUser returns the user and group as which a contained program runs, 0 for those of this process.
func newUser() int {
	if os.Geteuid() != 0 {
		return 0
	}
	const perProcess = 1000
	return firstUser + int((int64(os.Getpid())*perProcess+started.Add(1)%perProcess)%mostUsers)
}

// command returns the command that starts argv in the folder dir of a room. What an ordinary user starts is in a user
// namespace. What root starts is not, because there it would still be root for the files of /proc and /dev: it becomes
// another user before the first command in the room runs.
func (c *Cage) command(g support, user int, argv []string, dir string, memory int64) (*exec.Cmd, error) {
	args := []string{"--unshare-all", "--cap-drop", "ALL"}
	var become []string
	if user != 0 {
		args = []string{"--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try",
			"--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_CHOWN",
			"--cap-add", "CAP_DAC_OVERRIDE"}
		id := strconv.Itoa(user)
		become = []string{"/bin/sh", "-c", giving, id, g.setpriv, "--reuid", id, "--regid", id, "--clear-groups"}
	}
	args = append(args, "--die-with-parent", "--new-session", "--hostname", "bot", "--proc", "/proc", "--tmpfs", "/dev",
		"--symlink", "/proc/self/fd", "/dev/fd",
		"--perms", "1777", "--size", strconv.Itoa(sharedMemory), "--tmpfs", "/dev/shm")
	for k, name := range []string{"stdin", "stdout", "stderr"} {
		args = append(args, "--symlink", fmt.Sprintf("/proc/self/fd/%d", k), "/dev/"+name)
	}
	for _, path := range existing(devices) {
		args = append(args, "--dev-bind", path, path)
	}
	args = append(args, "--remount-ro", "/dev")
	own, _ := size(1<<20, cmp.Or(c.Files, os.DevNull))
	args = append(args, "--perms", "0777", "--size", strconv.FormatInt(c.Disk+own, 10), "--tmpfs", workRoot,
		"--perms", "0777", "--dir", temporary)
	v := view{hidden: c.Hidden, also: c.also(), made: []string{"/", workRoot, temporary}}
	if c.Files == "" { // otherwise the entrance makes it
		v.args, v.made = append(v.args, "--perms", "0777", "--dir", workFiles), append(v.made, workFiles)
	}
	v.link(temporary, "/tmp")
	v.link(temporary, "/var/tmp")
	for _, path := range readable() {
		v.show(path, path)
		if folder, ok := strings.CutSuffix(path, ".rustup/toolchains"); ok { // rustup wants to make this otherwise
			v.parents(v.place(folder + ".rustup/update-hashes/x"))
		}
	}
	v.add("--perms", "0644", "--ro-bind-data", "4", "/etc/passwd")
	v.add("--perms", "0644", "--ro-bind-data", "5", "/etc/group")
	for _, path := range c.begins() {
		local, _ := filepath.Rel(c.Files, path)
		v.add("--ro-bind", path, filepath.Join(ownFiles, local))
	}
	if v.also != "" {
		v.link(workFiles, v.also)
	}
	for _, path := range c.Read {
		v.show(path, path)
	}
	for _, path := range c.Write {
		v.add("--bind", path, path)
	}
	if filepath.IsAbs(dir) {
		v.parents(filepath.Join(v.place(dir), "x"))
	} else {
		dir = filepath.Join(workFiles, dir)
	}
	args = append(append(args, v.args...), "--remount-ro", "/", "--chdir", workRoot, "--seccomp", "3", "--")
	args = append(append(args, become...), "/bin/sh", "-c", entrance, "sh")
	for _, limit := range c.rlimits(memory) {
		args = append(args, strconv.FormatUint(limit, 10))
	}
	cmd := exec.Command(g.bwrap, slices.Concat(args, []string{dir}, argv)...)
	cmd.Env = environment(temporary, c.Env)
	filter, err := filterCode()
	uid, gid := cmp.Or(user, os.Getuid()), cmp.Or(user, os.Getgid())
	for _, text := range []string{string(filter), fmt.Sprintf("bot:x:%d:%d::%s:/bin/sh\n", uid, gid, temporary),
		fmt.Sprintf("bot:x:%d:\n", gid)} {
		err = cmp.Or(err, inPipe(cmd, text))
	}
	if err != nil {
		closeAll(cmd.ExtraFiles)
		return nil, err
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd, nil
}

// also is the other path of the working folder, "" if something of the system is there.
func (c *Cage) also() string {
	if c.Also == "/" || slices.ContainsFunc(readable(), func(r string) bool { return within(c.Also, r) }) {
		return ""
	}
	return c.Also
}

// A view lists what a program in a room sees of this machine, as arguments of bubblewrap.
type view struct {
	args   []string
	hidden []string
	also   string   // the other path of the working folder; "" for none
	shown  []string // paths in the room that are there, with all that is below
	made   []string // folders around them
}

// add adds what an argument puts at a path of the room, the last of args, and the folders around it.
func (v *view) add(args ...string) {
	path := &args[len(args)-1]
	*path = v.place(*path)
	v.parents(*path)
	v.args, v.shown = append(v.args, args...), append(v.shown, *path)
}

// place is where a path of the room is really: below /tmp and the other path of the working folder, which are links.
func (v *view) place(path string) string {
	for link, to := range map[string]string{v.also: workFiles, "/tmp": temporary} {
		inside := within(path, link) && path != link
		if inside && (link == v.also || path == v.also || !within(path, v.also)) {
			rest, _ := filepath.Rel(link, path)
			return filepath.Join(to, rest)
		}
	}
	return path
}

// parents makes the folders around a path, which everybody may read.
func (v *view) parents(path string) {
	folder := filepath.Dir(path)
	if slices.Contains(v.made, folder) ||
		slices.ContainsFunc(v.shown, func(s string) bool { return within(folder, s) }) {
		return
	}
	v.parents(folder)
	v.args, v.made = append(v.args, "--perms", "0755", "--dir", folder), append(v.made, folder)
}

// show makes what is at a path of this machine, but for what is hidden, readable at a path of the room.
func (v *view) show(path, as string) {
	if to, err := os.Readlink(path); err == nil && filepath.Dir(path) == "/" {
		v.add("--symlink", to, as) // such as /bin, which is a part of /usr
		return
	}
	for _, part := range without(path, v.hidden) {
		local, _ := filepath.Rel(path, part)
		v.add("--ro-bind", part, filepath.Join(as, local))
	}
}

// link makes a link at a path of the room.
func (v *view) link(to, path string) {
	// Bubblewrap follows it before the room is a root.
	if to, err := filepath.Rel(filepath.Dir(v.place(path)), to); err == nil {
		v.add("--symlink", to, path)
	}
}

// rlimits are the numbers for the entrance: open files, blocks of a file, KiB of memory, processes. None is above the
// one that this process has.
func (c *Cage) rlimits(memory int64) []uint64 {
	at := func(what int, most uint64) uint64 {
		var now unix.Rlimit
		if err := unix.Getrlimit(what, &now); err == nil {
			most = min(most, now.Max)
		}
		return most
	}
	const block = 512
	data := uint64(0)
	if memory > 0 {
		data = at(unix.RLIMIT_DATA, uint64(memory)+slack) >> 10
	}
	return []uint64{at(unix.RLIMIT_NOFILE, uint64(c.Limits.Open)), at(unix.RLIMIT_FSIZE, uint64(c.Disk)*2) / block, data,
		at(unix.RLIMIT_NPROC, uint64(c.Threads))}
}

// inPipe gives cmd one more open file, which holds a text.
func inPipe(cmd *exec.Cmd, text string) error {
	const pipeSize = 64 << 10
	if len(text) > pipeSize {
		return fmt.Errorf("%d bytes for a pipe, want at most %d", len(text), pipeSize)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd.ExtraFiles = append(cmd.ExtraFiles, r)
	_, err = io.WriteString(w, text)
	return cmp.Or(err, w.Close())
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// A tenant is a program in a room. The process of its command waits for the first process of the room's namespace,
// which waits for the program. When that first process ends, the kernel ends all others in the room.
type tenant struct {
	limits Limits
	memory int64
	lent   *lent
	user   int
}

var _ contest.Contained = (*tenant)(nil)

// Excess returns what the program takes, and what of it is too much.
func (t *tenant) Excess(p *os.Process) (taken contest.Taking, why string) {
	first := firstOf(p)
	if first == nil {
		return taken, "" // it is being started, or ends
	}
	taken = contest.Measure(p.Pid)
	if why := t.limits.exceeds(&taken, t.memory); why != "" {
		return taken, why
	}
	var writable []string
	if hasOwnRoot(first.Pid) {
		writable = []string{workRoot, "/dev/shm"}
	}
	for _, folder := range writable {
		var files unix.Statfs_t
		err := unix.Statfs(fmt.Sprintf("/proc/%d/root%s", first.Pid, folder), &files)
		if made := files.Files - files.Ffree; err == nil && made > uint64(t.limits.Files) {
			return taken, fmt.Sprintf("it has made more than %d files", t.limits.Files)
		}
	}
	if taken.Hidden && firstOf(p) != nil {
		return taken, "it hides what it uses"
	}
	return taken, ""
}

// hasOwnRoot reports whether a process that is on its way into a room has that root by now, and not this machine's.
func hasOwnRoot(pid int) bool {
	var own, ours unix.Stat_t
	err := cmp.Or(unix.Stat(fmt.Sprintf("/proc/%d/root/", pid), &own), unix.Stat("/", &ours))
	return err == nil && own.Dev != ours.Dev
}

// nothing is what a program without a stream reads and writes.
var nothing = sync.OnceValues(func() (*os.File, error) { return os.OpenFile(os.DevNull, os.O_RDWR, 0) })

// Before gives the program its input and output as the files 6 and 7.
func (t *tenant) Before(cmd *exec.Cmd) error {
	for _, stream := range []any{cmd.Stdin, cmd.Stdout} {
		file, ok := stream.(*os.File)
		if !ok {
			var err error
			if file, err = nothing(); err != nil {
				return err
			}
		}
		cmd.ExtraFiles = append(cmd.ExtraFiles, file)
	}
	cmd.Stdin, cmd.Stdout = nil, nil
	return nil
}

// User is as whom the program runs, 0 for the user of this process.
func (t *tenant) User() int { return t.user }

// Terminate asks the program to end: the children of the first process.
func (t *tenant) Terminate(p *os.Process) {
	if first := firstOf(p); first != nil {
		for _, program := range children(first.Pid) {
			_ = program.Signal(syscall.SIGTERM)
		}
	}
}

// Kill ends the room. Its command ends when all its processes have ended.
func (t *tenant) Kill(p *os.Process) {
	if first := firstOf(p); first == nil || first.Signal(syscall.SIGKILL) != nil {
		_ = p.Kill() // with which the first process ends, if there is one by now
	}
}

// Leave takes back what was lent; the room has gone with its last process.
func (t *tenant) Leave() { t.lent.takeBack() }

// firstOf returns the first process of the namespace of a room, nil if there is none.
func firstOf(p *os.Process) *os.Process {
	if list := children(p.Pid); len(list) > 0 {
		return list[0]
	}
	return nil
}

// children returns the children of all threads of a process.
func children(pid int) (list []*os.Process) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, file := range files {
		text, _ := os.ReadFile(file)
		for _, word := range strings.Fields(string(text)) {
			child, _ := strconv.Atoi(word)
			if p, err := os.FindProcess(child); err == nil && contest.Parent(child) == pid { // its ID is held from here on
				list = append(list, p)
			}
		}
	}
	return list
}
