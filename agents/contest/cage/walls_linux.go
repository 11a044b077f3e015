package cage

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"blockyard/agents/contest"
)

// A wall keeps a program without a room from something. Its process puts it up before it becomes the program.
type wall struct {
	name string // what is contained, as people read it if the wall is missing
	up   func(o *sandbox) error
}

// walls are all of them. Where the kernel lacks one, the others stand.
var walls = []wall{
	{"open files of its host are closed", closeFiles},
	{"limits of memory, file size and open files (rlimit)", limit},
	{"no privileges, and none to be gained (capabilities, no_new_privs)", unprivileged},
	{"files that are not its own cannot be read or written (Landlock)", landlocked},
	{"files that are not its own cannot be cut short (Landlock 3)", hasLandlock(3)},
	{"no TCP (Landlock 4)", hasLandlock(4)},
	{"no orders to devices (Landlock 5)", hasLandlock(5)},
	{"no signals or abstract sockets to programs outside (Landlock 6)", hasLandlock(6)},
	{"only system calls of a list (seccomp)", func(*sandbox) error { return filterCalls() }},
}

// roomWalls are what only a room has.
var roomWalls = []string{
	"files that are not its own are absent, so that nothing of them can be seen or changed (own root)",
	"its disk is of fixed size (tmpfs)",
	"processes of others are out of sight, and none of its own outlives it (PID namespace)",
	"no network device (network namespace)", "no shared memory or queue of others (IPC namespace)",
}

// An sandbox says what a process that contains itself shall do.
type sandbox struct {
	Argv  []string // the program; nil only tries the walls
	Dir   string   // where it begins
	Read  []string // files and folders that it may read
	Write []string // folders that it may also write
	User  int      // as which it runs, and the number of its group; 0 for that of this process
	// Memory is in bytes; 0 is no limit.
	Memory int64
	Limits
}

// build puts all walls up and returns those that the kernel lacks.
func (o *sandbox) build() (missing []string, err error) {
	for _, w := range walls {
		switch err := w.up(o); {
		case errors.Is(err, errLacks):
			missing = append(missing, w.name)
		case err != nil:
			return missing, fmt.Errorf("%s: %w", w.name, err)
		}
	}
	return missing, nil
}

var errLacks = errors.New("not permitted here")

// landlockVersion returns the version of Landlock that the kernel has; tests stand in for other kernels.
var landlockVersion = ll.LandlockGetABIVersion

func hasLandlock(abi int) func(o *sandbox) error {
	return func(*sandbox) error {
		if got, err := landlockVersion(); err != nil || got < abi {
			return errLacks
		}
		return nil
	}
}

// closeFiles lets no program that is started from now on have an open file of this process that it has not been given.
func closeFiles(*sandbox) error {
	if unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return nil
	}
	open, err := filepath.Glob("/proc/self/fd/*")
	for _, path := range open {
		var fd int
		if _, err := fmt.Sscan(filepath.Base(path), &fd); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
	return err
}

// limit sets limits of every process. How much all take together is watched by the host.
func limit(o *sandbox) error {
	set := func(what int, most uint64) error {
		var now syscall.Rlimit
		if err := syscall.Getrlimit(what, &now); err != nil {
			return err
		}
		now.Max = min(now.Max, most)
		now.Cur = min(now.Cur, now.Max)
		return syscall.Setrlimit(what, &now)
	}
	err := errors.Join(set(unix.RLIMIT_CORE, 0), set(unix.RLIMIT_MEMLOCK, 64<<10), set(unix.RLIMIT_MSGQUEUE, 0),
		set(unix.RLIMIT_RTPRIO, 0), set(unix.RLIMIT_FSIZE, uint64(o.Disk)), set(unix.RLIMIT_NOFILE, uint64(o.Open)))
	if o.Memory > 0 {
		err = errors.Join(err, set(unix.RLIMIT_DATA, uint64(o.Memory)+slack))
	}
	return err
}

// unprivileged makes root another user and gives all capabilities up for good.
func unprivileged(o *sandbox) error {
	if o.User != 0 {
		err := errors.Join(syscall.Setgroups(nil), syscall.Setresgid(o.User, o.User, o.User),
			syscall.Setresuid(o.User, o.User, o.User))
		if err != nil {
			return err
		}
	}
	const noRoot = 0x2f // SECBIT_NOROOT, SECBIT_NO_SETUID_FIXUP and the locks of all
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	_ = unix.Prctl(unix.PR_SET_SECUREBITS, noRoot, 0, 0, 0) // only who has capabilities can and needs to
	for c := uintptr(0); c < 64; c++ {
		_ = unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
	}
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&head, &none[0]); err != nil {
		return err
	}
	return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
}

// devices are those that a contained program may use.
var devices = []string{"/dev/full", "/dev/null", "/dev/random", "/dev/tty", "/dev/urandom", "/dev/zero"}

func landlocked(o *sandbox) error {
	abi, err := landlockVersion()
	if err != nil || abi < 1 {
		return errLacks
	}
	write := landlock.RWDirs(o.Write...)
	if abi >= 2 {
		write = write.WithRefer()
	}
	rules := []landlock.Rule{write, landlock.RWFiles(existing(devices)...).IgnoreIfMissing()}
	var files, folders []string
	for _, path := range o.Read {
		switch info, err := os.Stat(path); {
		case err != nil:
		case info.IsDir():
			folders = append(folders, path)
		default:
			files = append(files, path)
		}
	}
	rules = append(rules, landlock.RODirs(folders...).IgnoreIfMissing(), landlock.ROFiles(files...).IgnoreIfMissing())
	fd, flags, err := landlock.V10.BestEffort().NewRulesetFD(rules...)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return ll.LandlockRestrictSelf(fd, flags)
}

func existing(paths []string) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(p string) bool { _, err := os.Stat(p); return err != nil })
}

// verb is the first argument, in place of a name, of a process that contains itself. The second describes its sandbox.
const verb = "contained by blockyard"

// init runs before any main, so that every program and test that starts bots can contain them.
func init() {
	if len(os.Args) == 2 && os.Args[0] == verb {
		fmt.Fprintln(os.Stderr, "cage:", enter(os.Args[1]))
		os.Exit(126)
	}
}

func enter(text string) error {
	var o sandbox
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return err
	}
	// The folders around a program that this process may start need not be open to the user as which it will run.
	program := ""
	if len(o.Argv) > 0 && slices.Contains(o.Read, o.Argv[0]) {
		fd, err := unix.Open(o.Argv[0], unix.O_PATH|unix.O_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("%s: %w", o.Argv[0], err)
		}
		program = fmt.Sprintf("/proc/self/fd/%d", fd)
		o.Read = append(o.Read, program)
	}
	missing, err := o.build()
	if err != nil {
		return err
	}
	if o.Argv == nil {
		if err := json.NewEncoder(os.Stdout).Encode(missing); err != nil {
			return err
		}
		os.Exit(0)
	}
	if err := os.Chdir(o.Dir); err != nil {
		return err
	}
	if program != "" {
		return fmt.Errorf("%s: %w", o.Argv[0], syscall.Exec(program, o.Argv, os.Environ()))
	}
	path, err := exec.LookPath(o.Argv[0])
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return err
	}
	return fmt.Errorf("%s: %w", path, syscall.Exec(path, o.Argv, os.Environ()))
}

// command returns the command whose process sandboxes itself.
func (o *sandbox) command() *exec.Cmd {
	text, _ := json.Marshal(o) // it has plain fields
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = []string{verb, string(text)}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setsid: true}
	return cmd
}

// walkShare is which part of the time, at most, is spent on looking at the files of a program.
const walkShare = 50

// An inmate is a program behind walls, without a room. It cannot leave its process group, and the host looks at what it
// has written.
type inmate struct {
	contest.Group
	limits Limits
	at     *working
	lent   *lent
	user   int
	bytes  int64 // that were there when it started
	files  int
	next   time.Time // to look at its files
}

// Excess returns what the program takes, and what of it is too much.
func (i *inmate) Excess(p *os.Process) (taken contest.Taking, why string) {
	taken = contest.Measure(p.Pid)
	if why := i.limits.exceeds(&taken, i.Memory); why != "" {
		return taken, why
	}
	begun := time.Now()
	if begun.Before(i.next) {
		return taken, ""
	}
	bytes, files := size(i.files+i.limits.Files, i.at.root)
	i.next = time.Now().Add(walkShare * time.Since(begun))
	switch bytes += taken.Deleted - i.bytes; {
	case bytes > i.limits.Disk:
		return taken, fmt.Sprintf("it has written %d MiB, want at most %d", bytes>>20, i.limits.Disk>>20)
	case files-i.files > i.limits.Files:
		return taken, fmt.Sprintf("it has made more than %d files, or one whose path is too long", i.limits.Files)
	case taken.Hidden, slices.ContainsFunc(taken.Unseen, func(path string) bool { return within(path, i.at.root) }):
		return taken, "it hides what it uses"
	}
	return taken, ""
}

// User is as whom the program runs, 0 for the user of this process.
func (i *inmate) User() int { return i.user }

// Leave takes back what was lent and removes the working folder.
func (i *inmate) Leave() {
	i.lent.takeBack()
	i.at.remove()
}

func isTooLong(err error) bool { return errors.Is(err, unix.ENAMETOOLONG) }
