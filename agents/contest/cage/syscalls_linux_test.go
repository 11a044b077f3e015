package cage

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/elastic/go-seccomp-bpf/arch"
	"github.com/stretchr/testify/require"

	"blockyard/agents/contest"
	"blockyard/agents/contest/compile/compiletest"
)

// never are system calls that no program in a cage may make, whatever their arguments; some have no name in the library
// yet. That they fail shows that the list is one of what is allowed.
var never = []string{
	"ptrace", "mount", "umount2", "pivot_root", "chroot", "unshare", "setns", "swapon", "reboot", "sethostname", "init_module",
	"finit_module", "delete_module", "kexec_load", "add_key", "request_key", "keyctl", "bpf", "perf_event_open", "userfaultfd",
	"memfd_create", "memfd_secret", "io_uring_setup", "io_uring_enter", "io_uring_register", "process_vm_readv",
	"process_vm_writev", "process_madvise", "pidfd_getfd", "kcmp", "open_by_handle_at", "name_to_handle_at", "fanotify_init",
	"open_tree", "move_mount", "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr", "socket", "bind", "listen", "accept",
	"connect", "setsockopt", "sendmsg", "sendmmsg", "vmsplice", "shmget", "shmat", "msgget", "semget", "mq_open", "setxattr",
	"fsetxattr", "lsetxattr", "quotactl", "acct", "settimeofday", "clock_settime", "adjtimex", "iopl", "ioperm", "modify_ldt",
	"personality", "syslog", "seccomp", "landlock_create_ruleset", "landlock_restrict_self", "clone3", "vhangup", "lookup_dcookie",
	"move_pages", "migrate_pages", "sched_setscheduler", "sched_setattr", "ioprio_set",
}

// TestSystemCalls makes all system calls of a room by their numbers, those that no kernel has yet and those of other
// numberings, too: what is not on the list of those allowed is not known.
func TestSystemCalls(t *testing.T) {
	machine, err := arch.GetInfo(runtime.GOARCH)
	require.NoError(t, err)
	var may []string // some of them with certain arguments only
	for _, group := range policy(machine, true).Syscalls {
		may = append(may, group.Names...)
		for _, name := range group.NamesWithCondtions {
			may = append(may, name.Name)
		}
	}
	for _, name := range never {
		require.NotContains(t, may, name)
	}
	allowed := map[int]bool{335: true, 336: true} // for probes: newer kernels answer those themselves, by SIGILL
	for _, name := range may {
		allowed[machine.SyscallNames[name]] = true
	}
	var ask []string
	for n := range 600 {
		if !allowed[n] {
			ask = append(ask, fmt.Sprint(n))
		}
	}
	require.Contains(t, ask, "467", "open_tree_attr")
	require.Greater(t, len(ask), 300)
	compiletest.Everywhere(t, func(t *testing.T) {
		own := t.TempDir()
		place(t, attacker(t), own)
		for add, list := range map[string][]string{"0": ask, "1073741824": append(ask, "0", "1", "2", "56", "59")} { // x32
			var out strings.Builder
			c, err := contest.StartChild(contest.Spec{Argv: []string{"./attack", "calls", add}, Input: true,
				Cage: &Cage{Files: own, Limits: Bot}, Stdout: func(r io.Reader) { _, _ = io.Copy(&out, r) }})
			require.NoError(t, err)
			_, err = io.WriteString(c.In, strings.Join(list, "\n"))
			require.NoError(t, err)
			require.NoError(t, c.In.Close())
			require.True(t, c.Exit(hang))
			require.NoError(t, c.Kill())
			require.Contains(t, out.String(), fmt.Sprintf("of %d: contained", len(list)), "these are known")
		}
	})
}
