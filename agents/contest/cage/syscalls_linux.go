package cage

import (
	"encoding/binary"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	seccomp "github.com/elastic/go-seccomp-bpf"
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
		access chdir chmod chown close close_range copy_file_range creat dup dup2 dup3 faccessat
		faccessat2 fadvise64 fadvise64_64 fchdir fchmod fchmodat fchmodat2 fchown fchownat fcntl fcntl64
		fdatasync fgetxattr flistxattr flock fstat fstat64 fstatat64 fstatfs fstatfs64 fsync ftruncate
		ftruncate64 futimesat getcwd getdents getdents64 getxattr inotify_add_watch inotify_init
		inotify_init1 inotify_rm_watch ioctl lchown lgetxattr link linkat listxattr llistxattr lseek
		_llseek lstat lstat64 mkdir mkdirat mknod mknodat newfstatat open openat openat2 pread64 preadv
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

// prctls are the orders of prctl that are allowed. Not among them is PR_SET_DUMPABLE, by which a process could not be
// measured any more.
var prctls = []uint64{
	unix.PR_SET_PDEATHSIG, unix.PR_GET_PDEATHSIG, unix.PR_GET_DUMPABLE, unix.PR_SET_NAME, unix.PR_GET_NAME,
	unix.PR_GET_SECCOMP, unix.PR_SET_KEEPCAPS, unix.PR_CAPBSET_READ, unix.PR_SET_TIMERSLACK, unix.PR_GET_TIMERSLACK,
	unix.PR_SET_CHILD_SUBREAPER, unix.PR_GET_CHILD_SUBREAPER, unix.PR_SET_NO_NEW_PRIVS, unix.PR_GET_NO_NEW_PRIVS,
	unix.PR_SET_THP_DISABLE, unix.PR_GET_THP_DISABLE, unix.PR_CAP_AMBIENT, unix.PR_GET_SPECULATION_CTRL, unix.PR_SET_VMA,
}

// namespaces are the bits of clone that make new ones.
const namespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWNS | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWTIME

// policy is what a program may call: one in a room may also leave its group.
func policy(here *arch.Info, room bool) seccomp.Policy {
	allow := seccomp.SyscallGroup{Action: seccomp.ActionAllow}
	var names []string
	if room {
		names = slices.Concat(leaving, slices.Collect(maps.Keys(onItself)))
	}
	for k := 1; k < len(allowed); k += 2 {
		names = slices.Concat(names, strings.Fields(allowed[k]))
	}
	for _, name := range names {
		if _, ok := here.SyscallNames[name]; ok {
			allow.Names = append(allow.Names, name)
		}
	}
	given := func(name string, conditions ...seccomp.Condition) {
		named := seccomp.NameWithConditions{Name: name, Conditions: conditions}
		allow.NamesWithCondtions = append(allow.NamesWithCondtions, named)
	}
	// Threads have the open files of their process, which are looked at.
	noSpace := seccomp.Condition{Argument: 0, Operation: seccomp.BitsNotSet, Value: namespaces}
	given("clone", noSpace, seccomp.Condition{Argument: 0, Operation: seccomp.BitsNotSet, Value: unix.CLONE_THREAD})
	given("clone", noSpace, seccomp.Condition{Argument: 0, Operation: seccomp.BitsSet, Value: unix.CLONE_FILES})
	// Datagrams could be sent elsewhere. The flags of clone3 are out of sight, so that libraries have to use clone.
	given("socketpair", seccomp.Condition{Argument: 0, Operation: seccomp.Equal, Value: unix.AF_UNIX},
		seccomp.Condition{Argument: 1, Operation: seccomp.BitsNotSet, Value: unix.SOCK_DGRAM})
	// Other modes take disk that the size of a file does not show.
	given("fallocate", seccomp.Condition{Argument: 1, Operation: seccomp.Equal, Value: 0})
	// Pages that processes share without a file stay when none of them has mapped them, and nobody can see how many.
	given("mmap", seccomp.Condition{Argument: 3, Operation: seccomp.BitsNotSet, Value: unix.MAP_SHARED})
	given("mmap", seccomp.Condition{Argument: 3, Operation: seccomp.BitsNotSet, Value: unix.MAP_ANONYMOUS})
	for name, arguments := range onItself {
		if room {
			break
		}
		var zero []seccomp.Condition
		for _, argument := range arguments {
			zero = append(zero, seccomp.Condition{Argument: argument, Operation: seccomp.Equal})
		}
		given(name, zero...)
	}
	for _, order := range prctls {
		given("prctl", seccomp.Condition{Argument: 0, Operation: seccomp.Equal, Value: order})
	}
	return seccomp.Policy{DefaultAction: seccomp.ActionErrno, Syscalls: []seccomp.SyscallGroup{allow}}
}

// filter returns the program of the kernel that decides about system calls. Those with the numbers of another processor
// end the process.
func filter(room bool) ([]bpf.RawInstruction, error) {
	here, err := arch.GetInfo(runtime.GOARCH)
	if err != nil {
		return nil, err
	}
	p := policy(here, room)
	body, err := p.Assemble()
	if err != nil {
		return nil, err
	}
	for k := range body { // the library refuses with EPERM
		if ret, ok := body[k].(bpf.RetConstant); ok && ret.Val == uint32(seccomp.ActionErrno)|uint32(unix.EPERM) {
			body[k] = bpf.RetConstant{Val: uint32(seccomp.ActionErrno) | uint32(unix.ENOSYS)}
		}
	}
	const archOffset = 4 // in struct seccomp_data
	return bpf.Assemble(append([]bpf.Instruction{
		bpf.LoadAbsolute{Off: archOffset, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(here.ID), SkipTrue: 1},
		bpf.RetConstant{Val: uint32(seccomp.ActionKillProcess)},
	}, body...))
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
