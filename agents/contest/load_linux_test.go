package contest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"blockyard/env/envtest"
)

// spinVariable makes the test's program a bot, or a part of one: what it does for every answer, as "kind duration".
const spinVariable = "BLOCKYARD_TEST_SPIN"

func init() {
	var kind, text string
	if n, _ := fmt.Sscan(os.Getenv(spinVariable), &kind, &text); n != 2 {
		return
	}
	d := envtest.Must(time.ParseDuration(text))
	work := func() { spin(d) }
	switch kind {
	case "part":
		work()
		os.Exit(0)
	case "sleep":
		work = func() { time.Sleep(d) }
	case "child":
		work = func() { _ = part(d).Run() }
	case "threads":
		background(spinForever, 12)
	case "nice":
		background(func() { _ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), 19); spinForever() }, 4)
		work = func() { time.Sleep(d) }
	case "hidden":
		signal.Ignore(syscall.SIGCHLD)
		background(spinForever, 1)
		work = func() { hidden(d) }
	}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); fmt.Println("done") {
		if in.Text() == "go" {
			work()
		}
	}
	os.Exit(0)
}

// spin computes until its thread has had a processor for so long.
func spin(d time.Duration) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	used := func() time.Duration {
		var t unix.Timespec
		_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t)
		return time.Duration(t.Nano())
	}
	for end := used() + d; used() < end; {
	}
}

func spinForever() { spin(24 * time.Hour) }

func background(what func(), threads int) {
	runtime.GOMAXPROCS(threads + 2)
	for range threads {
		go func() { runtime.LockOSThread(); what() }()
	}
}

// part is a child that computes for so long.
func part(d time.Duration) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), spinVariable+"=part "+d.String())
	return cmd
}

// hidden computes in children that are short, and that nobody waits for, four at a time.
func hidden(d time.Duration) {
	for range int(d / (40 * ms)) {
		var parts []*exec.Cmd
		for range 4 {
			cmd := part(10 * ms)
			_ = cmd.Start()
			parts = append(parts, cmd)
		}
		for _, cmd := range parts {
			for syscall.Kill(cmd.Process.Pid, 0) == nil {
				time.Sleep(ms)
			}
		}
	}
}

// TestTheClockBesideLoad: beside eight programs that only compute, a bot that computes for 300 ms of the 500 that it has
// is never late, and one that computes or sleeps for 600 ms is always, whatever it does to look held up. Without
// BLOCKYARD_LONG nothing computes beside, and bots answer once whose processor time alone is too much on any machine.
func TestTheClockBesideLoad(t *testing.T) {
	answers, long := 1, os.Getenv("BLOCKYARD_LONG") != ""
	if long {
		answers = 20
		for range 8 {
			cmd := part(time.Hour)
			require.NoError(t, cmd.Start())
			t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		}
	}
	self := envtest.Must(os.Executable())
	for _, c := range []struct {
		bot  string
		late bool
	}{
		{"spin 300ms", false}, {"spin 600ms", true}, {"sleep 600ms", true}, {"child 600ms", true}, {"nice 600ms", true},
		{"threads 600ms", true}, {"hidden 2400ms", true},
	} {
		if !long && c.bot != "spin 600ms" && c.bot != "threads 600ms" {
			continue
		}
		t.Run(strings.ReplaceAll(c.bot, " ", "-"), func(t *testing.T) {
			for k := range answers {
				p := envtest.Must(Program{Argv: []string{"/usr/bin/env", spinVariable + "=" + c.bot, self}, Cage: Trusted,
					Memory: 1 << 34}.Start(nil))
				envtest.Must(ask(t, p, "get ready", hang))
				p.Clock = Fair
				ctx, cancel := context.WithTimeout(t.Context(), hang)
				_, _, charged, err := p.Ask(ctx, []string{"go"}, 500*ms)
				cancel()
				require.NoError(t, p.Close())
				t.Logf("answer %d: charged %v of 500ms; %v; %v", k+1, charged.Round(ms), p.Used(), err)
				require.True(t, err == nil || errors.Is(err, ErrLate) || !long && errors.Is(err, ErrStalled), err)
				require.Equal(t, c.late, err != nil || charged > 500*ms)
			}
		})
	}
}
