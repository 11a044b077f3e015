package cage

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/elastic/go-seccomp-bpf/arch"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"blockyard/agents/contest"
	"blockyard/agents/contest/compile/compiletest"
	"blockyard/env/envtest"
)

// TestMissingWalls: a kernel without any one of the walls is told by its name, and require refuses it.
func TestMissingWalls(t *testing.T) {
	all, now := slices.Clone(walls), here
	t.Cleanup(func() { walls, here = all, now })
	for k, lacking := range all {
		for j := range walls {
			walls[j].up = func(*sandbox) error { return nil }
		}
		walls[k].up = func(*sandbox) error { return errLacks }
		missing := envtest.Must((&sandbox{}).build())
		require.Equal(t, []string{lacking.name}, missing)
		here = func() support { return support{missing: missing} }
		require.Equal(t, missing, Missing())
		require.EqualError(t, Require.Check(), "--isolate require: missing here: "+lacking.name)
		require.NoError(t, Auto.Check())
		require.NoError(t, Off.Check())
	}
	walls[0].up = func(*sandbox) error { return fmt.Errorf("broken") }
	_, err := (&sandbox{}).build()
	require.EqualError(t, err, all[0].name+": broken", "a wall that fails is no missing one: the program does not start")
}

// TestWithoutBubblewrap: where bubblewrap is not installed, or fails, the walls of rooms are missing, each by its name and
// with the reason, and programs are contained by the others.
func TestWithoutBubblewrap(t *testing.T) {
	empty, failing := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(failing, "bwrap"),
		[]byte("#!/bin/sh\nprintf 'bwrap: no permission\\nmore\\n' >&2\nexit 1\n"), 0o755))
	now := here
	t.Cleanup(func() { here = now })
	for path, why := range map[string]string{
		empty:                      "bubblewrap (bwrap) is not installed",
		failing + ":/usr/bin:/bin": "bubblewrap fails here: bwrap: no permission",
	} {
		t.Setenv("PATH", path)
		support := ask()
		require.Empty(t, support.bwrap)
		require.Equal(t, roomWalls[0]+": "+why, support.missing[0])
		for k, name := range roomWalls {
			require.Contains(t, support.missing[k], name)
		}
		here = ask
		c := &Cage{Limits: Bot}
		cmd, contained := envtest.Must2(c.Enclose(&contest.Spec{Argv: []string{"/bin/pwd"}}))
		out := envtest.Must(cmd.Output())
		contained.Leave()
		require.Regexp(t, regexp.MustCompile(`^`+os.TempDir()+`/cage-\d+/bot\n$`), string(out))
		require.NoFileExists(t, filepath.Dir(string(out)))
	}
}

// TestOldKernels asks each wall whether a kernel has it, with older versions of Landlock.
func TestOldKernels(t *testing.T) {
	real := landlockVersion
	t.Cleanup(func() { landlockVersion = real })
	version := regexp.MustCompile(`\(Landlock (\d+)\)$`)
	for _, w := range walls {
		var want int
		if m := version.FindStringSubmatch(w.name); m != nil {
			envtest.Must(fmt.Sscan(m[1], &want))
			for has := range want + 2 {
				landlockVersion = func() (int, error) { return has, nil }
				require.Equal(t, has < want, w.up(&sandbox{}) != nil, "%s on version %d", w.name, has)
			}
		}
	}
	landlockVersion = func() (int, error) { return 0, unix.ENOSYS }
	require.ErrorIs(t, landlocked(&sandbox{}), errLacks)
	require.ErrorIs(t, hasLandlock(4)(&sandbox{}), errLacks)
}

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

// TestFilterIsThePolicy: the program of the kernel allows what the policy says, for all calls, with arguments that it names,
// with a bit more or less, and random ones.
func TestFilterIsThePolicy(t *testing.T) {
	machine, r := envtest.Must(arch.GetInfo(runtime.GOARCH)), rand.New(rand.NewPCG(1, 2))
	for _, room := range []bool{true, false} {
		program, _ := bpf.Disassemble(envtest.Must(filter(room)))
		vm := envtest.Must(bpf.NewVM(program))
		rules, values := map[int][][]condition{}, []uint64{0, 1, math.MaxUint64}
		for _, r := range policy(machine, room) {
			nr := machine.SyscallNames[r.name]
			rules[nr], values = append(rules[nr], r.conditions), append(values, uint64(nr))
			for _, c := range r.conditions {
				v := uint64(c.value)
				values = append(values, v, v|1<<32, ^v, v&-v, v^1)
			}
		}
		for k := range 100_000 {
			words, args := []uint32{uint32(k % 600), uint32(machine.ID), 0, 0}, [6]uint64{}
			for a := range args {
				if args[a] = values[r.IntN(len(values))]; r.IntN(9) == 0 {
					args[a] = r.Uint64()
				}
				words = append(words, uint32(args[a]), uint32(args[a]>>32))
			}
			want := slices.ContainsFunc(rules[k%600], func(all []condition) bool {
				return !slices.ContainsFunc(all, func(c condition) bool {
					value := uint64(c.value)
					return map[bpf.JumpTest]bool{bpf.JumpNotEqual: args[c.argument] != value,
						bpf.JumpBitsSet: args[c.argument]&value != 0, bpf.JumpBitsNotSet: args[c.argument]&value == 0}[c.test]
				})
			})
			data := envtest.Must(binary.Append(nil, binary.BigEndian, words)) // as the machine of package bpf loads them
			got := envtest.Must(vm.Run(data))
			require.Equal(t, want, got == unix.SECCOMP_RET_ALLOW, "room %v, call %d, arguments %x: %x", room, k%600, args, got)
		}
	}
}

// TestSystemCalls makes all system calls of a room by their numbers, those that no kernel has yet and those of other
// numberings, too: what is not on the list of those allowed is not known.
func TestSystemCalls(t *testing.T) {
	machine := envtest.Must(arch.GetInfo(runtime.GOARCH))
	var may []string // some of them with certain arguments only
	for _, r := range policy(machine, true) {
		may = append(may, r.name)
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
			c := envtest.Must(contest.StartChild(contest.Spec{Argv: []string{"./attack", "calls", add}, Input: true,
				Cage: &Cage{Files: own, Limits: Bot}, Stdout: func(r io.Reader) { _, _ = io.Copy(&out, r) }}))
			envtest.Must(io.WriteString(c.In, strings.Join(list, "\n")))
			require.NoError(t, c.In.Close())
			require.True(t, c.Exit(hang))
			require.NoError(t, c.Kill())
			require.Contains(t, out.String(), fmt.Sprintf("of %d: contained", len(list)), "these are known")
		}
	})
}
