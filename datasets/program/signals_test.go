package program_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/datasets/program"
	"blockyard/env/envtest"
)

// TestMain lets the test binary be a program that hears the first signal and saves for a second, or goes on for ever.
func TestMain(m *testing.M) {
	if os.Getenv("BLOCKYARD_STUBBORN") == "" {
		os.Exit(m.Run())
	}
	ctx, stop := program.Context()
	defer stop()
	fmt.Println("ready")
	<-ctx.Done()
	fmt.Println("heard")
	if os.Getenv("BLOCKYARD_STUBBORN") == "saves" {
		time.Sleep(time.Second)
		fmt.Println("saved")
		return
	}
	for {
		time.Sleep(time.Hour)
	}
}

// TestTimeoutLosesNoSave: timeout signals a program, and then the group that the program is in. If the machine holds up
// timeout itself between the two, the second signal rightly ends the program: a long test, for quiet machines.
func TestTimeoutLosesNoSave(t *testing.T) {
	if os.Getenv("BLOCKYARD_LONG") == "" {
		t.Skip("long: set BLOCKYARD_LONG")
	}
	self := envtest.Must(os.Executable())
	outs := make(chan string, 64) // at once, so that some are held up between the two
	for range cap(outs) {
		go func() {
			p := exec.CommandContext(t.Context(), "timeout", "--preserve-status", "0.5", self)
			p.Env = append(os.Environ(), "BLOCKYARD_STUBBORN=saves")
			out, _ := p.Output()
			outs <- string(out)
		}()
	}
	for n := range cap(outs) {
		require.Equal(t, "ready\nheard\nsaved\n", <-outs, "run %d", n)
	}
}

// The first signal is heard, whatever the second is: it ends the process.
func TestSecondSignal(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no SIGTERM")
	}
	self := envtest.Must(os.Executable())
	for _, signals := range [][2]os.Signal{
		{os.Interrupt, os.Interrupt}, {syscall.SIGTERM, syscall.SIGTERM}, {os.Interrupt, syscall.SIGTERM},
	} {
		p := exec.CommandContext(t.Context(), self)
		p.Env = append(os.Environ(), "BLOCKYARD_STUBBORN=1")
		pipe := envtest.Must(p.StdoutPipe())
		require.NoError(t, p.Start())
		out := bufio.NewReader(pipe)
		says := func(want string) { require.Equal(t, want, envtest.Must(out.ReadString('\n'))) }
		says("ready\n")
		require.NoError(t, p.Process.Signal(signals[0]))
		says("heard\n")
		ended := make(chan error)
		go func() { ended <- p.Wait() }()
		var err error
		for again := time.Tick(50 * time.Millisecond); err == nil; { // the first signals may still come too early
			_ = p.Process.Signal(signals[1])
			select {
			case err = <-ended:
			case <-again:
			}
		}
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit)
		status := exit.Sys().(syscall.WaitStatus)
		require.True(t, status.Signaled(), "%v", status)
		require.Equal(t, signals[1], status.Signal())
	}
}
