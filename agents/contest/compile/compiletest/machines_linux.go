package compiletest

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"blockyard/env/envtest"
)

// Kinds of machines on which tests run again.
const (
	WithoutRooms = "no namespaces" // the kernel permits none
	OfUser       = "ordinary user" // who runs the tests
)

// Machine is a variable of the environment that says the kind of machine, of a process that runs a test again.
const Machine = "COMPILETEST_MACHINE"

const ordinaryUser = 65_533 // on no system somebody's

// become makes this machine one of its kind.
func become() error {
	if strings.Contains(os.Getenv(Machine), WithoutRooms) {
		return forbidNamespaces()
	}
	return nil
}

// forbidNamespaces makes this process one on a kernel that permits no namespaces and mounts.
func forbidNamespaces() error {
	const all = unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWNS | unix.CLONE_NEWIPC |
		unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP
	refused := seccomp.SyscallGroup{Action: seccomp.ActionErrno, Names: []string{"unshare", "mount", "setns", "fsopen"}}
	for bit := uint64(1); bit <= all; bit <<= 1 {
		if all&bit != 0 {
			refused.NamesWithCondtions = append(refused.NamesWithCondtions, seccomp.NameWithConditions{Name: "clone",
				Conditions: []seccomp.Condition{{Argument: 0, Operation: seccomp.BitsSet, Value: bit}}})
		}
	}
	return seccomp.LoadFilter(seccomp.Filter{NoNewPrivs: true, Flag: seccomp.FilterFlagTSync,
		Policy: seccomp.Policy{DefaultAction: seccomp.ActionAllow, Syscalls: []seccomp.SyscallGroup{refused}}})
}

// Everywhere runs a test here and again on machines of the other kinds. In the package, TestMain calls Run.
func Everywhere(t *testing.T, test func(t *testing.T)) {
	if os.Getenv(Machine) != "" {
		test(t)
		return
	}
	t.Run("here", test)
	kinds := []string{WithoutRooms}
	if os.Geteuid() == 0 {
		kinds = append(kinds, OfUser, OfUser+", "+WithoutRooms)
	}
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			Again(t, kind)
		})
	}
}

// Again runs the test in a process of its own, on a machine of some kind, with what was built in this one.
func Again(t *testing.T, kind string) {
	name, _, _ := strings.Cut(t.Name(), "/")
	home := envtest.Must(os.MkdirTemp("", "machine-"))
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(home)) })
	program := filepath.Join(home, "tests")
	self := envtest.Must(os.Executable())
	// Written here, it could still be open in a process that another test is starting, and would not start ("text busy").
	require.NoError(t, exec.Command("cp", self, program).Run())
	cmd := exec.Command(program, "-test.run=^"+name+"$", "-test.v", "-test.count=1")
	cmd.Env = append(os.Environ(), Machine+"="+kind, Built+"="+folder)
	if strings.Contains(kind, OfUser) {
		require.NoError(t, os.Chown(home, ordinaryUser, ordinaryUser))
		cmd.Env = append(cmd.Env, "HOME="+home, "TMPDIR="+home, "PATH=/usr/local/bin:/usr/bin:/bin")
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: ordinaryUser, Gid: ordinaryUser}}
	}
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	require.NoError(t, err)
	require.Contains(t, string(out), "--- PASS: "+name+" (")
}

// KillHost runs the test again in a process of its own, with further variables, waits until that has written a line and
// begun has become true, and kills it.
func KillHost(t *testing.T, begun func() bool, variables ...string) {
	t.Helper()
	name, _, _ := strings.Cut(t.Name(), "/")
	host := exec.Command(os.Args[0], "-test.run=^"+name+"$")
	host.Env = append(os.Environ(), variables...)
	out := envtest.Must(host.StdoutPipe())
	require.NoError(t, host.Start())
	line := envtest.Must(bufio.NewReader(out).ReadString('\n'))
	require.Equal(t, "ready\n", line)
	require.Eventually(t, begun, 2*time.Minute, 5*time.Millisecond)
	require.NoError(t, host.Process.Kill())
	require.Error(t, host.Wait())
}

// Public makes a folder for temporary files in which another user has folders, too.
func Public(t *testing.T) string {
	t.Helper()
	dir := envtest.Must(os.MkdirTemp("", "public-"))
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chmod(dir, 0o755))
	return dir
}
