package cage

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"strings"
	"unsafe"

	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// allowed are the system calls that a contained program may make, by what they are for. All others, and those that a
// kernel will have one day, fail as if the kernel did not know them (ENOSYS), and libraries fall back on older ones.
// Not among them are sockets, mounts, namespaces, keys, io_uring, bpf, tracing, other programs' memory, memory that no
// limit counts (memfd_create, System V, extended attributes, files in messages, pages in pipes) and whatever only an
// administrator needs.
var allowed = []string{
	"files", `
		access chdir chown close close_range copy_file_range dup dup2 dup3 faccessat
		faccessat2 fadvise64 fadvise64_64 fchdir fchown fchownat fcntl fcntl64
		fdatasync fgetxattr flistxattr flock fstat fstat64 fstatat64 fstatfs fstatfs64 fsync ftruncate
		ftruncate64 futimesat getcwd getdents getdents64 getxattr inotify_add_watch inotify_init
		inotify_init1 inotify_rm_watch ioctl lchown lgetxattr link linkat listxattr llistxattr lseek
		_llseek lstat lstat64 mkdir mkdirat newfstatat pread64 preadv
		preadv2 pwrite64 pwritev pwritev2 read readahead readlink readlinkat readv rename renameat
		renameat2 rmdir sendfile sendfile64 splice stat stat64 statfs statfs64 statx symlink symlinkat
		sync_file_range tee truncate truncate64 umask unlink unlinkat utime utimensat utimensat_time64
		utimes write writev cachestat`,
	"memory", `
		brk get_mempolicy madvise map_shadow_stack mbind membarrier mincore mlock mlock2 mlockall mprotect
		mremap mseal msync munlock munlockall munmap pkey_alloc pkey_free pkey_mprotect remap_file_pages
		set_mempolicy`,
	"processes and threads", `
		arch_prctl capget capset execve execveat exit exit_group fork get_robust_list get_thread_area
		getcpu getegid geteuid getgid getgroups getpgid getpgrp getpid getppid getpriority getresgid
		getresuid getrlimit getrusage getsid gettid getuid kill pidfd_open pidfd_send_signal
		restart_syscall rseq sched_get_priority_max sched_get_priority_min sched_getaffinity sched_getattr
		sched_getparam sched_getscheduler sched_rr_get_interval sched_yield set_robust_list
		set_thread_area set_tid_address setfsgid setfsuid setgid setgroups setregid setresgid setresuid
		setreuid setrlimit setuid sysinfo tgkill times tkill ugetrlimit uname vfork wait4 waitid waitpid
		ioprio_get`,
	"waiting", `
		epoll_create epoll_create1 epoll_ctl epoll_ctl_old epoll_pwait epoll_pwait2 epoll_wait
		epoll_wait_old eventfd eventfd2 futex futex_requeue futex_time64 futex_wait futex_waitv futex_wake
		pause pipe pipe2 poll ppoll ppoll_time64 pselect6 pselect6_time64 select _newselect signalfd
		signalfd4`,
	"signals", `
		rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend
		rt_sigtimedwait rt_sigtimedwait_time64 rt_tgsigqueueinfo sigaltstack sigreturn`,
	"time", `
		alarm clock_getres clock_getres_time64 clock_gettime clock_gettime64 clock_nanosleep
		clock_nanosleep_time64 getitimer gettimeofday nanosleep setitimer time timer_create timer_delete
		timer_getoverrun timer_gettime timer_gettime64 timer_settime timer_settime64 timerfd_create
		timerfd_gettime timerfd_gettime64 timerfd_settime timerfd_settime64`,
	"pairs of sockets, which processes of one program use", `
		getpeername getsockname getsockopt recvfrom recvmmsg recvmsg sendto shutdown`,
	"numbers", `
		getrandom`,
}

// leaving are the system calls by which a process leaves its group. Where no namespace holds it, it may not. onItself
// are those that can change other processes of its user, by an argument that is 0 for itself: there, it has to be 0.
var (
	leaving  = []string{"setpgid", "setsid"}
	onItself = map[string][]uint32{"prlimit64": {0}, "sched_setaffinity": {0}, "setpriority": {0, 1}}
)

// modes are the system calls that give a file its mode, and which argument that is.
var modes = map[string]uint32{"chmod": 1, "creat": 1, "fchmod": 1, "fchmodat": 2, "fchmodat2": 2, "mknod": 1,
	"mknodat": 2, "open": 2, "openat": 3}

// prctls are the orders of prctl that are allowed. Not among them is PR_SET_DUMPABLE, by which a process could not be
// measured any more.
var prctls = []uint32{
	unix.PR_SET_PDEATHSIG, unix.PR_GET_PDEATHSIG, unix.PR_GET_DUMPABLE, unix.PR_SET_NAME, unix.PR_GET_NAME,
	unix.PR_GET_SECCOMP, unix.PR_SET_KEEPCAPS, unix.PR_CAPBSET_READ, unix.PR_SET_TIMERSLACK, unix.PR_GET_TIMERSLACK,
	unix.PR_SET_CHILD_SUBREAPER, unix.PR_GET_CHILD_SUBREAPER, unix.PR_SET_NO_NEW_PRIVS, unix.PR_GET_NO_NEW_PRIVS,
	unix.PR_SET_THP_DISABLE, unix.PR_GET_THP_DISABLE, unix.PR_CAP_AMBIENT, unix.PR_GET_SPECULATION_CTRL, unix.PR_SET_VMA,
}

// namespaces are the bits of clone that make new ones.
const namespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWNS | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWTIME

// A rule allows a system call if all conditions hold; several rules may allow the same one.
type rule struct {
	name       string
	conditions []condition
}

// A condition is about an argument of a system call: it has none of some bits, or else it has one of them, or it is a
// number.
type condition struct {
	argument uint32
	test     bpf.JumpTest // what holds if it does not: JumpBitsSet, JumpBitsNotSet or JumpNotEqual
	value    uint32       // bits are looked for in the lower half of the argument; the upper half of a number is 0
}

// policy is what a program may call: one in a room may also leave its group.
func policy(here *arch.Info, room bool) (rules []rule) {
	given := func(name string, conditions ...condition) {
		if _, ok := here.SyscallNames[name]; ok {
			rules = append(rules, rule{name, conditions})
		}
	}
	for k := 1; k < len(allowed); k += 2 {
		for name := range strings.FieldsSeq(allowed[k]) {
			given(name)
		}
	}
	// Threads have the open files of their process, which are looked at.
	noSpace := condition{0, bpf.JumpBitsSet, namespaces}
	given("clone", noSpace, condition{0, bpf.JumpBitsSet, unix.CLONE_THREAD})
	given("clone", noSpace, condition{0, bpf.JumpBitsNotSet, unix.CLONE_FILES})
	// Datagrams could be sent elsewhere. The flags of clone3 are out of sight, so that libraries have to use clone.
	given("socketpair", condition{0, bpf.JumpNotEqual, unix.AF_UNIX}, condition{1, bpf.JumpBitsSet, unix.SOCK_DGRAM})
	// Other modes take disk that the size of a file does not show.
	given("fallocate", condition{1, bpf.JumpNotEqual, 0})
	// Pages that processes share without a file stay when none of them has mapped them, and nobody can see how many.
	given("mmap", condition{3, bpf.JumpBitsSet, unix.MAP_SHARED})
	given("mmap", condition{3, bpf.JumpBitsSet, unix.MAP_ANONYMOUS})
	// Files that others run as their owner (setuid, setgid) could stay in a folder that is for writing. open has a mode
	// only if it makes a file. The mode of openat2 is out of sight.
	for name, argument := range modes {
		given(name, condition{argument, bpf.JumpBitsSet, unix.S_ISUID | unix.S_ISGID})
		if strings.HasPrefix(name, "open") {
			given(name, condition{argument - 1, bpf.JumpBitsSet, unix.O_CREAT | unix.O_TMPFILE&^unix.O_DIRECTORY})
		}
	}
	for _, name := range leaving {
		if room {
			given(name)
		}
	}
	for name, arguments := range onItself {
		var zero []condition
		for _, argument := range arguments {
			if !room {
				zero = append(zero, condition{argument, bpf.JumpNotEqual, 0})
			}
		}
		given(name, zero...)
	}
	for _, order := range prctls {
		given("prctl", condition{0, bpf.JumpNotEqual, order})
	}
	return rules
}

// filter returns the program of the kernel that decides about system calls. Those with the numbers of another processor
// end the process. It is not the assembler of go-seccomp-bpf, which after a condition compares the argument, and not
// the call, with the numbers of the next calls.
func filter(room bool) ([]bpf.RawInstruction, error) {
	here, err := arch.GetInfo(runtime.GOARCH)
	if err != nil {
		return nil, err
	}
	load := func(offset uint32) bpf.Instruction { return bpf.LoadAbsolute{Off: offset, Size: 4} }
	const number, processor, arguments = 0, 4, 16 // in struct seccomp_data, of processors that are little-endian
	program := []bpf.Instruction{
		load(processor),
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(here.ID), SkipTrue: 1},
		bpf.RetConstant{Val: unix.SECCOMP_RET_KILL_PROCESS},
		load(number),
	}
	for _, r := range policy(here, room) {
		end := 1 + 4*len(r.conditions) // from the first condition to behind what allows the call
		nr := uint32(here.SyscallNames[r.name])
		program = append(program, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: nr, SkipTrue: uint8(end)})
		for _, c := range r.conditions {
			lower := arguments + 8*c.argument
			upper := bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: 0, SkipTrue: uint8(end - 4)}
			if c.test != bpf.JumpNotEqual { // bits are in the lower half
				upper.SkipTrue = 0
			}
			program = append(program, load(lower), bpf.JumpIf{Cond: c.test, Val: c.value, SkipTrue: uint8(end - 2)},
				load(lower+4), upper)
			end -= 4
		}
		program = append(program, bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW})
		if len(r.conditions) > 0 {
			program = append(program, load(number))
		}
	}
	return bpf.Assemble(append(program, bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)}))
}

// filterCode is the filter of a room as struct sock_filter has it.
func filterCode() (code []byte, err error) {
	raw, err := filter(true)
	for _, r := range raw {
		code = binary.NativeEndian.AppendUint16(code, r.Op)
		code = append(code, r.Jt, r.Jf)
		code = binary.NativeEndian.AppendUint32(code, r.K)
	}
	return code, err
}

// filterCalls filters the system calls of this process from now on.
func filterCalls() error {
	raw, err := filter(false)
	if err != nil {
		return err
	}
	filter := make([]unix.SockFilter, len(raw))
	for k, r := range raw {
		filter[k] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&program)))
	if e != 0 {
		return fmt.Errorf("seccomp: %w", e)
	}
	return nil
}
