package contest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// On Linux a trusted program runs in a PID namespace of its own: when its first process ends, the kernel ends
// all others in it, whatever groups and sessions they have moved to. That first process is a shell that waits for
// the program, because signals do to the first process of a namespace only what it has asked for. It is killed when
// the thread that started it ends, and so with this process, also by kill -9.
//
// Where namespaces are not permitted, this process kills those that carry the program's mark in their environment.

// shim is the command of the first process of a namespace. It keeps none of the program's files open. (A shell gives a
// program in the background an empty input, unless it is saved first.)
var shim = []string{"/bin/sh", "-c", `exec 3<&0; "$@" <&3 3<&- & exec <&- >&- 2>&- 3<&-; wait $!`, "sh"}

// namespace returns the flags that give a program a PID namespace, 0 if that is not permitted here.
var namespace = sync.OnceValue(func() uintptr {
	for _, flags := range []uintptr{syscall.CLONE_NEWPID, syscall.CLONE_NEWPID | syscall.CLONE_NEWUSER} {
		probe := exec.Command(shim[0], append(shim[1:len(shim):len(shim)], "true")...)
		probe.SysProcAttr = &syscall.SysProcAttr{}
		namespaces(probe.SysProcAttr, flags)
		if probe.Run() == nil {
			return flags
		}
	}
	return 0
})

// namespaces makes a process start in new namespaces. In a user namespace it keeps its user and group.
func namespaces(attr *syscall.SysProcAttr, flags uintptr) {
	attr.Cloneflags = flags
	if flags&syscall.CLONE_NEWUSER != 0 {
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
	}
}

// isolate prepares cmd, which has not started, so that nothing that it starts outlives it. A program with frames keeps
// its exit status and its other open files, and gets no namespace. What has none gets a mark, by which it is found.
func isolate(cmd *exec.Cmd, frames bool) (mark string) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if frames || namespace() == 0 || !executable(cmd) { // the start says what is wrong with a file
		mark = fmt.Sprintf("BLOCKYARD_CHILD=%d.%x", os.Getpid(), rand.Uint64())
		cmd.Env = append(cmd.Environ(), mark)
		return mark
	}
	cmd.Path, cmd.Args = shim[0], slices.Concat(shim, []string{cmd.Path}, cmd.Args[1:])
	namespaces(cmd.SysProcAttr, namespace())
	return ""
}

func executable(cmd *exec.Cmd) bool {
	path := cmd.Path
	if !filepath.IsAbs(path) {
		path = filepath.Join(cmd.Dir, path)
	}
	info, err := os.Stat(path)
	return err == nil && !info.IsDir() && info.Mode()&0o111 != 0
}

// startLocked starts cmd from a thread that waits until it has exited, because the thread's end would kill it. It calls
// exited then, and leaves cmd to be collected: so its process ID stays valid until its group has been killed.
func startLocked(cmd *exec.Cmd, exited func(*os.ProcessState)) error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			const byPid, flags = 1, syscall.WEXITED | syscall.WNOWAIT // P_PID of waitid
			for again := syscall.EINTR; again == syscall.EINTR; {
				_, _, again = syscall.Syscall6(syscall.SYS_WAITID, byPid, uintptr(cmd.Process.Pid), 0, flags, 0, 0)
			}
			exited(nil)
		}
	}()
	return <-started
}

const sweepTime = 2 * time.Second

// sweep kills what is left of a program that has a mark, after its group has been killed.
func sweep(mark string) {
	if mark == "" {
		return // its namespace has ended
	}
	for until := time.Now().Add(sweepTime); time.Now().Before(until); {
		var left []int
		processes(func(pid int, dir string) {
			if text, err := os.ReadFile(dir + "environ"); err == nil && bytes.Contains(text, []byte(mark)) {
				left = append(left, pid)
			}
		})
		if len(left) == 0 {
			return
		}
		for _, pid := range left {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		time.Sleep(time.Millisecond)
	}
}

// processes calls each with every process of this machine and its folder in /proc.
func processes(each func(pid int, dir string)) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			each(pid, "/proc/"+e.Name()+"/")
		}
	}
}
