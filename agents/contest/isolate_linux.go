package contest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// On Linux a program that is isolated runs in a PID namespace of its own: when its first process ends, the kernel ends
// all others in it, whatever groups and sessions they have moved to. That first process is a shell that waits for
// the program, because signals do to the first process of a namespace only what it has asked for. It is killed when
// the thread that started it ends, and so with this process, also by kill -9.
//
// Where namespaces are not permitted, this process adopts the orphans of its children and kills those that
// carry the program's mark in their environment.

// shim is the command of the first process of a namespace. It keeps none of the program's files open. (A shell gives a
// program in the background an empty input, unless it is saved first.)
var shim = []string{"/bin/sh", "-c", `exec 3<&0; "$@" <&3 3<&- & exec <&- >&- 2>&- 3<&-; wait $!`, "sh"}

// namespace returns the flags that give a program a PID namespace, 0 if that is not permitted here.
var namespace = sync.OnceValue(func() uintptr {
	for _, flags := range []uintptr{syscall.CLONE_NEWPID, syscall.CLONE_NEWPID | syscall.CLONE_NEWUSER} {
		probe := exec.Command(shim[0], append(shim[1:len(shim):len(shim)], "true")...)
		probe.SysProcAttr = &syscall.SysProcAttr{}
		Namespaces(probe.SysProcAttr, flags)
		if probe.Run() == nil {
			return flags
		}
	}
	return 0
})

// Namespaces makes a process start in new namespaces. In a user namespace it keeps its user and group.
func Namespaces(attr *syscall.SysProcAttr, flags uintptr) {
	attr.Cloneflags = flags
	if flags&syscall.CLONE_NEWUSER != 0 {
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
	}
}

// An isolation is what keeps a program's processes together.
type isolation struct {
	mark string // in the environment of its processes, where there is no namespace
}

// adopting makes this process the parent of its descendants' orphans.
var adopting = sync.OnceFunc(func() {
	const setChildSubreaper = 36 // PR_SET_CHILD_SUBREAPER
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 1, 0)
})

// isolate prepares cmd, which has not started. A plain program keeps its exit status and its other open files, and gets
// no namespace.
func isolate(cmd *exec.Cmd, plain bool) isolation {
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	if !plain && namespace() != 0 && cmd.Err == nil && executable(cmd) { // otherwise Start says what is wrong
		cmd.Args = append(append(shim[:len(shim):len(shim)], cmd.Path), cmd.Args[1:]...)
		cmd.Path = shim[0]
		Namespaces(cmd.SysProcAttr, namespace())
		return isolation{}
	}
	return marked(cmd)
}

// isolateIn is the same in a cage.
func isolateIn(cmd *exec.Cmd, in Cage, memory int64) (isolation, Guest, error) {
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	guest, alone, err := in.Enclose(cmd, shim, memory)
	if err != nil || alone {
		return isolation{}, guest, err
	}
	return marked(cmd), guest, nil
}

// marked gives cmd a mark by which its processes are found.
func marked(cmd *exec.Cmd) isolation {
	adopting()
	mark := fmt.Sprintf("BLOCKYARD_CHILD=%d.%x", os.Getpid(), rand.Uint64())
	cmd.Env = append(cmd.Environ(), mark)
	return isolation{mark}
}

// executable reports whether there is a program to start.
func executable(cmd *exec.Cmd) bool {
	path := cmd.Path
	if !filepath.IsAbs(path) {
		path = filepath.Join(cmd.Dir, path)
	}
	info, err := os.Stat(path)
	return err == nil && !info.IsDir() && info.Mode()&0o111 != 0
}

// startLocked starts cmd from a thread that waits until it has exited, because the thread's end would kill it. It calls
// exited then.
func startLocked(cmd *exec.Cmd, exited func(*os.ProcessState)) error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			exited(awaitExit(cmd.Process))
		}
	}()
	return <-started
}

// sweepTime bounds the search for orphans.
const sweepTime = 2 * time.Second

// sweep kills what is left of an isolated program whose group has been killed.
func (i isolation) sweep() {
	if i.mark == "" {
		return // its namespace has ended
	}
	for until := time.Now().Add(sweepTime); time.Now().Before(until); {
		left := i.orphans()
		if len(left) == 0 {
			return
		}
		for _, pid := range left {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		for _, pid := range left { // collect those that are children of this process by now
			var status syscall.WaitStatus
			_, _ = syscall.Wait4(pid, &status, syscall.WNOHANG, nil)
		}
		time.Sleep(time.Millisecond)
	}
}

// orphans returns the processes that carry the mark.
func (i isolation) orphans() (pids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil || !bytes.Contains(text, []byte(i.mark)) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// awaitExit waits for p to end without collecting it, so that its process ID stays valid until
// its group has been killed.
func awaitExit(p *os.Process) *os.ProcessState {
	const byPid = 1 // P_PID of waitid
	for {
		_, _, e := syscall.Syscall6(syscall.SYS_WAITID, byPid, uintptr(p.Pid), 0, syscall.WEXITED|syscall.WNOWAIT, 0, 0)
		if e != syscall.EINTR {
			return nil
		}
	}
}
