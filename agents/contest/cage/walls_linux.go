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
	"sync"
	"syscall"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"blockyard/agents/contest"
)

// A wall keeps a contained program from something. Its process puts it up before it becomes the program.
type wall struct {
	name string // what is contained, as people read it if the wall is missing
	up   func(o *order) error
}

// walls are all of them. Where the kernel lacks one, the others stand.
var walls = []wall{
	{"processes of others are out of sight (PID namespace)", hasSpace(unix.CLONE_NEWPID)},
	{"no network device (network namespace)", hasSpace(unix.CLONE_NEWNET)},
	{"no shared memory or queue of others (IPC namespace)", hasSpace(unix.CLONE_NEWIPC)},
	{"all files but its own are read-only, with their modes and times (mount namespace)", readOnly},
	{"/proc shows its own processes only (mount namespace)", ownProc},
	{"open files of its host are closed", closeFiles},
	{"limits of memory, file size and open files (rlimit)", limit},
	{"no privileges, and none to be gained (capabilities, no_new_privs)", unprivileged},
	{"files that are not its own cannot be read or written (Landlock)", landlocked},
	{"files that are not its own cannot be cut short (Landlock 3)", hasLandlock(3)},
	{"no TCP (Landlock 4)", hasLandlock(4)},
	{"no orders to devices (Landlock 5)", hasLandlock(5)},
	{"no signals or abstract sockets to programs outside (Landlock 6)", hasLandlock(6)},
	{"no sockets, ptrace, mounts, keys or io_uring (seccomp)", func(*order) error { return filterCalls() }},
}

type order struct {
	Argv   []string // the program; nil only tries the walls
	Read   []string // files and folders that it may read
	Write  []string // folders that it may also write
	Spaces uintptr  // namespaces in which it has started
	Limits
}

// build puts all walls up and returns those that the kernel lacks.
func (o *order) build() (missing []string, err error) {
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

func hasSpace(space uintptr) func(o *order) error {
	return func(o *order) error {
		if o.Spaces&space == 0 {
			return errLacks
		}
		return nil
	}
}

// landlockVersion returns the version of Landlock that the kernel has; tests stand in for other kernels.
var landlockVersion = ll.LandlockGetABIVersion

func hasLandlock(abi int) func(o *order) error {
	return func(*order) error {
		if got, err := landlockVersion(); err != nil || got < abi {
			return errLacks
		}
		return nil
	}
}

// readOnly makes all mounts read-only, except for its own folders.
func readOnly(o *order) error {
	if o.Spaces&unix.CLONE_NEWNS == 0 {
		return errLacks
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return errLacks
	}
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID}
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &attr); err != nil {
		return errLacks
	}
	for _, path := range o.Write {
		if err := unix.Mount(path, path, "", unix.MS_BIND, ""); err != nil {
			return err
		}
		attr := unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY, Attr_set: unix.MOUNT_ATTR_NODEV}
		if err := unix.MountSetattr(unix.AT_FDCWD, path, 0, &attr); err != nil {
			return err
		}
	}
	here, err := os.Getwd() // the folder of that name may be another mount now
	if err != nil {
		return err
	}
	return os.Chdir(here)
}

func ownProc(o *order) error {
	const flags = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	if o.Spaces&unix.CLONE_NEWNS == 0 || unix.Mount("proc", "/proc", "proc", flags, "") != nil {
		return errLacks
	}
	return nil
}

func closeFiles(*order) error {
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

// slack is how much more than its memory a process may reserve, in bytes.
const slack = 1 << 30

// limit sets limits of every process. How much all take together is watched by the host.
func limit(o *order) error {
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
	if o.Spaces&unix.CLONE_NEWUSER != 0 { // otherwise all processes of the user would count
		err = errors.Join(err, set(unix.RLIMIT_NPROC, uint64(o.Threads)))
	}
	return err
}

// unprivileged gives all capabilities up for good.
func unprivileged(*order) error {
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

func landlocked(o *order) error {
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

// verb is the first argument, in place of a name, of a process that contains itself. The second is its order.
const verb = "contained by blockyard"

// init runs before any main, so that every program and test that starts bots can contain them.
func init() {
	if len(os.Args) == 2 && os.Args[0] == verb {
		fmt.Fprintln(os.Stderr, "cage:", enter(os.Args[1]))
		os.Exit(126)
	}
}

func enter(text string) error {
	var o order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return err
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
	return fmt.Errorf("%s: %w", o.Argv[0], syscall.Exec(o.Argv[0], o.Argv[1:], os.Environ()))
}

// all are the namespaces that a contained program gets where they are permitted.
const all = unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWNS | unix.CLONE_NEWIPC

type ground struct {
	possible bool // a process can contain itself
	spaces   uintptr
	missing  []string // walls
}

// here finds out once which walls stand here, by putting them up.
var here = sync.OnceValue(func() ground {
	for _, spaces := range []uintptr{all | unix.CLONE_NEWUSER, all, unix.CLONE_NEWPID | unix.CLONE_NEWUSER,
		unix.CLONE_NEWPID, 0} {
		cmd := exec.Command("/proc/self/exe")
		g, o := ground{possible: true, spaces: spaces}, order{Spaces: spaces, Limits: Bot}
		o.command(cmd)
		if out, err := cmd.Output(); err == nil && json.Unmarshal(out, &g.missing) == nil {
			return g
		}
	}
	return ground{missing: []string{"no process can contain itself here"}}
})

func Possible() bool { return here().possible }

// Missing lists the walls that are not to be had here.
func Missing() []string { return here().missing }

// wrap makes cmd start in the cage; see contest.Cage. Temporary is a folder of its own, which it may write.
func (c *Cage) wrap(cmd *exec.Cmd, before []string, temporary string) (alone bool, err error) {
	o := order{Spaces: here().spaces, Limits: c.Limits, Write: []string{temporary}}
	alone = o.Spaces&unix.CLONE_NEWPID != 0
	if o.Argv = append([]string{cmd.Path}, cmd.Args...); alone {
		o.Argv = slices.Concat([]string{before[0]}, before, []string{cmd.Path}, cmd.Args[1:])
	}
	path := cmd.Path
	if !filepath.IsAbs(path) {
		path = filepath.Join(cmd.Dir, path)
	}
	more := append(program(path), c.Read...)
	if c.writable() {
		o.Write = append(o.Write, c.Own)
	} else if c.Own != "" {
		more = append(more, c.Own)
	}
	o.Read = slices.Clone(readable())
	for _, path := range more {
		o.Read = append(o.Read, without(path, c.Hidden)...)
	}
	cmd.Env = environment(temporary, c.Env)
	o.command(cmd)
	return alone, nil
}

// command makes cmd the process that follows the order.
func (o *order) command(cmd *exec.Cmd) {
	text, _ := json.Marshal(o) // it has plain fields
	cmd.Path, cmd.Args = "/proc/self/exe", []string{verb, string(text)}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	contest.Namespaces(cmd.SysProcAttr, o.Spaces)
	if o.Spaces&unix.CLONE_NEWUSER != 0 {
		cmd.SysProcAttr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP}
	}
}
