//go:build unix

package contest

import (
	"bytes"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/env/envtest"
)

// A program that has left its process group is ended all the same.
func TestKillEndsAProgramThatHasLeftItsGroup(t *testing.T) {
	p, err := Program{Argv: []string{"python3", "-c", "import os, time\nos.setpgid(0, os.getpgid(os.getppid()))\n" +
		"input()\nprint('moved', flush=True)\ntime.sleep(600)"}, Cage: Trusted}.Start(nil)
	require.NoError(t, err)
	require.Equal(t, "moved", answer(t, p, "one"))
	require.NoError(t, p.Close())
	require.ErrorIs(t, syscall.Kill(p.child.cmd.Process.Pid, 0), syscall.ESRCH)
}

func TestKillSaysHowAProgramEnded(t *testing.T) {
	for script, want := range map[string]string{
		"exit 0": "", "exit 7": "exit status 7", "kill -9 $$": "signal: killed|exit status 137",
		"kill -15 $$": "signal: terminated|exit status 143", // see Trusted
	} {
		c, err := StartChild(Spec{Argv: []string{"/bin/sh", "-c", script}, Cage: Trusted})
		require.NoError(t, err)
		require.True(t, c.Exit(hang))
		for range 2 {
			err = c.Kill()
			if want == "" {
				require.NoError(t, err)
				continue
			}
			require.Regexp(t, "^("+want+")$", err.Error())
			require.True(t, errors.As(err, new(*exec.ExitError)))
		}
	}
}

// Terminate lets a program finish its output.
func TestTerminateAsks(t *testing.T) {
	var out bytes.Buffer
	begun := make(chan struct{})
	c := envtest.Must(StartChild(Spec{
		Cage: Trusted,
		Argv: []string{"/bin/sh", "-c", `trap 'echo bye; exit 3' TERM; echo up; while :; do sleep 0.01; done`},
		Stdout: func(r io.Reader) {
			_, _ = io.CopyN(&out, r, 3)
			close(begun)
			_, _ = io.Copy(&out, r)
		},
	}))
	<-begun
	c.Terminate()
	require.True(t, c.Exit(hang))
	require.EqualError(t, c.Kill(), "exit status 3")
	require.Equal(t, "up\nbye\n", out.String())
}

func TestFramesAndBoundedErrors(t *testing.T) {
	var frames, errs bytes.Buffer
	c := envtest.Must(StartChild(Spec{
		Cage:   Trusted,
		Argv:   []string{"/bin/sh", "-c", `cat <&3 >&4; head -c 5000 /dev/zero >&2; echo not a frame`},
		Stderr: PassOn(&errs, 1000), Frames: func(r io.Reader) { _, _ = io.Copy(&frames, r) },
	}))
	envtest.Must(c.In.WriteString("a frame"))
	require.NoError(t, c.In.Close())
	require.True(t, c.Exit(hang))
	require.NoError(t, c.Kill())
	require.Equal(t, "a frame", frames.String())
	require.Equal(t, strings.Repeat("\x00", 1000), errs.String())
}

// TestNoCageNoStart: a program without a cage does not start, by whatever way a Spec is made. Whatever the reason, a start
// that fails leaves no file and no goroutine.
func TestNoCageNoStart(t *testing.T) {
	files, goroutines := openFiles(), runtime.NumGoroutine()
	read := func(r io.Reader) { _, _ = io.Copy(io.Discard, r) }
	ran := filepath.Join(t.TempDir(), "ran")
	for range 3 {
		for want, s := range map[string]Spec{
			"program touch: it has no cage":                 {Argv: []string{"touch", ran}},
			"no command":                                    {Cage: Trusted},
			"fork/exec /nowhere: no such file or directory": {Argv: []string{"/nowhere"}, Cage: Trusted},
		} {
			s.Stdout, s.Stderr, s.Frames = read, read, read
			require.EqualError(t, envtest.Failed(StartChild(s)), want)
			require.EqualError(t, envtest.Failed(Program{Argv: s.Argv, Cage: s.Cage}.Start(nil)), "start bot: "+want)
		}
	}
	require.NoFileExists(t, ran)
	require.LessOrEqual(t, openFiles(), files)
	// The goroutine that tried to start a program ends a moment after its answer; Eventually runs one of its own.
	require.Eventually(t, func() bool { return runtime.NumGoroutine() <= goroutines+1 }, hang, 10*time.Millisecond)
}
