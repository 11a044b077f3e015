package cage

import (
	"fmt"
	"runtime"
	"slices"
	"unsafe"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// refused are the system calls that a contained program may not make, by what they are for. They fail with EPERM.
var refused = map[string][]string{
	"the network, and sockets of other programs": {
		"socket", "connect", "bind", "listen", "accept", "accept4", "socketcall",
	},
	"other processes": {
		"ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "pidfd_getfd", "kcmp", "perf_event_open",
		"migrate_pages", "move_pages",
	},
	"mounts, namespaces and the system": {
		"mount", "umount", "umount2", "pivot_root", "chroot", "move_mount", "fsopen", "fsconfig", "fsmount", "fspick",
		"open_tree", "mount_setattr", "unshare", "setns", "swapon", "swapoff", "reboot", "sethostname", "setdomainname",
		"init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "acct", "quotactl", "quotactl_fd",
		"syslog", "settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "iopl", "ioperm", "nfsservctl", "vhangup",
	},
	"files beside their paths": {
		"open_by_handle_at", "name_to_handle_at", "fanotify_init", "lookup_dcookie",
	},
	"keys, and memory that no limit counts": {
		"add_key", "request_key", "keyctl", "memfd_create", "memfd_secret", "shmget", "shmat", "msgget", "semget", "mq_open",
	},
	"parts of the kernel with many faults": {
		"io_uring_setup", "io_uring_enter", "io_uring_register", "bpf", "userfaultfd", "personality",
	},
}

// namespaces are the bits of clone that make new ones.
const namespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWNS | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

func policy(here *arch.Info) seccomp.Policy {
	deny := seccomp.SyscallGroup{Action: seccomp.ActionErrno | seccomp.Action(unix.EPERM)}
	for _, names := range refused {
		for _, name := range names {
			if _, ok := here.SyscallNames[name]; ok {
				deny.Names = append(deny.Names, name)
			}
		}
	}
	slices.Sort(deny.Names)
	given := func(name string, argument uint32, bits uint64) {
		deny.NamesWithCondtions = append(deny.NamesWithCondtions, seccomp.NameWithConditions{Name: name,
			Conditions: seccomp.ArgumentConditions{{Argument: argument, Operation: seccomp.BitsSet, Value: bits}}})
	}
	for bit := uint64(1); bit <= namespaces; bit <<= 1 {
		if namespaces&bit != 0 {
			given("clone", 0, bit)
		}
	}
	given("socketpair", 1, unix.SOCK_DGRAM) // the only ones that could be sent elsewhere
	// The flags of clone3 are out of sight, so that libraries have to use clone.
	old := seccomp.SyscallGroup{Action: seccomp.ActionErrno | seccomp.Action(unix.ENOSYS), Names: []string{"clone3"}}
	return seccomp.Policy{DefaultAction: seccomp.ActionAllow, Syscalls: []seccomp.SyscallGroup{old, deny}}
}

// filterCalls refuses system calls from now on. Those with the numbers of other processors end the program.
func filterCalls() error {
	here, err := arch.GetInfo(runtime.GOARCH)
	if err != nil {
		return err
	}
	p := policy(here)
	body, err := p.Assemble()
	if err != nil {
		return err
	}
	const archOffset = 4 // in struct seccomp_data
	all := append([]bpf.Instruction{
		bpf.LoadAbsolute{Off: archOffset, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(here.ID), SkipTrue: 1},
		bpf.RetConstant{Val: uint32(seccomp.ActionKillProcess)},
	}, body...)
	raw, err := bpf.Assemble(all)
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
