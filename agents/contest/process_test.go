//go:build unix

package contest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/contest/compile/compiletest"
	"blockyard/env/envtest"
)

// start runs a shell script as a bot and collects its standard error, which is whole after Close.
func start(t *testing.T, script string) (*Process, *[]string) {
	said := new([]string)
	p := envtest.Must(Program{Argv: []string{"/bin/sh", "-c", script}, Cage: Trusted}.Start(func(line string) {
		*said = append(*said, line)
	}))
	t.Cleanup(func() { _ = p.Close() })
	return p, said
}

func ask(t *testing.T, p *Process, line string, limit time.Duration) (string, error) {
	got, _, _, err := p.Ask(t.Context(), []string{line}, limit)
	return got, err
}

// answer is what a bot answers in time.
func answer(t *testing.T, p *Process, line string) string { return envtest.Must(ask(t, p, line, hang)) }

// hang is long enough for any machine: a test that waits for it has failed.
const hang = 2 * time.Minute

// heard waits until the bot has written n bytes in all.
func heard(t *testing.T, p *Process, n int) {
	require.Eventually(t, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.total >= n
	}, hang, time.Millisecond)
}

func TestAskTakesTheFirstLineAfterTheRequest(t *testing.T) {
	p, _ := start(t, `while read x; do printf '%s\r\nextra %s\n' "$x" "$x"; done`)
	for _, want := range []string{"one", "two", "three"} {
		require.Equal(t, want, answer(t, p, want)) // the extra line came in the same chunk and was discarded
	}
}

func TestAskDiscardsALateAnswer(t *testing.T) {
	leave := filepath.Join(t.TempDir(), "leave")
	p, _ := start(t, `read x; while [ ! -e `+leave+` ]; do sleep 0.01; done; echo "late $x"
		read x; read x; echo "$x"; cat >/dev/null`)
	for _, limit := range []time.Duration{-time.Minute, 50 * time.Millisecond} { // its start may have taken all, and more
		require.ErrorIs(t, envtest.Failed(ask(t, p, "one", limit)), ErrLate)
	}
	require.NoError(t, os.WriteFile(leave, nil, 0o600))
	heard(t, p, len("late one\n"))
	require.Equal(t, "two", answer(t, p, "two"))
}

// A line that began before the request is no answer to it, even if it ends after.
func TestAskDiscardsAStaleBeginning(t *testing.T) {
	p, _ := start(t, `printf 'left,'; read x; printf 'left\nright\n'; cat >/dev/null`)
	heard(t, p, len("left,"))
	require.Equal(t, "right", answer(t, p, "one"))
}

func TestAskOfAProgramThatIsGone(t *testing.T) {
	for name, script := range map[string]string{
		"at once":              `exit 3`,
		"after a request":      `read x`,
		"closing its output":   `read x; exec >&-; sleep 60`,
		"in the middle":        `read x; printf 'left'`,
		"and its input before": `exec <&-; exec >&-; sleep 60`,
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := start(t, script)
			for range 2 {
				require.ErrorIs(t, envtest.Failed(ask(t, p, "one", hang)), ErrGone)
			}
		})
	}
}

func TestAskOfAProgramThatDoesNotRead(t *testing.T) {
	p, _ := start(t, `sleep 60`)
	require.ErrorIs(t, envtest.Failed(ask(t, p, strings.Repeat("x", 1<<20), 10*time.Millisecond)), ErrGone)
}

func TestAskEndsWithItsContext(t *testing.T) {
	p, _ := start(t, `sleep 60`)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	for _, line := range []string{"one", strings.Repeat("x", 1<<20)} {
		_, _, _, err := p.Ask(ctx, []string{line}, time.Minute)
		require.ErrorIs(t, err, context.DeadlineExceeded)
	}
}

func TestAskCutsALongLine(t *testing.T) {
	p, _ := start(t, `read x; head -c 3000000 /dev/zero | tr '\0' a; echo; read x; echo "$x"`)
	got, cut, _, err := p.Ask(t.Context(), []string{"one"}, hang)
	require.NoError(t, err)
	require.True(t, cut)
	require.Len(t, got, MaxLine)
	require.Equal(t, "two", answer(t, p, "two"))
}

// A bot that never stops writing is cut off, and costs no memory.
func TestAskOfAProgramThatFloods(t *testing.T) {
	p, _ := start(t, `yes $(head -c 8000 /dev/zero | tr '\0' x)`)
	var err error
	n := 0
	for until := time.Now().Add(hang); err == nil && time.Now().Before(until); {
		_, err = ask(t, p, "x", hang)
		n += 1 << 20
		heard(t, p, min(n, maxChatter))
	}
	require.ErrorIs(t, err, ErrGone)
}

func TestStandardErrorIsKeptWithinBounds(t *testing.T) {
	p, said := start(t, `echo one >&2; head -c 20000 /dev/zero | tr '\0' e >&2; echo >&2; echo two >&2
		read x; yes error | head -c 3000000 >&2; echo ok; printf last >&2`)
	require.Equal(t, "ok", answer(t, p, "one"))
	require.NoError(t, p.Close())
	lines := *said
	require.Equal(t, []string{"one", strings.Repeat("e", maxErrLine), "two"}, lines[:3])
	require.Equal(t, "(more of this is not kept)", lines[len(lines)-1])
	total := 0
	for _, l := range lines {
		total += len(l) + 1
	}
	require.Less(t, total, 2*maxErrors)
}

// Close ends everything the bot started, though it ignores what it is told.
func TestCloseLeavesNothingBehind(t *testing.T) {
	goroutines, files := runtime.NumGoroutine(), openFiles()
	for k := range 3 {
		nap := fmt.Sprintf("600.%d%d", os.Getpid(), k)
		p, _ := start(t, `trap '' TERM INT HUP; sleep `+nap+` & read x; echo "$x"; sleep 600`)
		require.Equal(t, "one", answer(t, p, "one"))
		require.Eventually(t, func() bool { return len(running(nap)) == 1 }, hang, 5*time.Millisecond)
		require.NoError(t, p.Close())
		require.NoError(t, p.Close())
		require.Eventually(t, func() bool { return len(running(nap)) == 0 }, hang, 10*time.Millisecond)
		require.ErrorIs(t, syscall.Kill(p.child.cmd.Process.Pid, 0), syscall.ESRCH)
	}
	// Eventually runs its condition in a goroutine of its own.
	require.Eventually(t, func() bool { return runtime.NumGoroutine() <= goroutines+1 }, hang, 10*time.Millisecond)
	require.LessOrEqual(t, openFiles(), files)
}

// running returns the processes "sleep nap".
func running(nap string) []string { return compiletest.Running("sleep", nap) }

func openFiles() int { return len(envtest.Must(os.ReadDir("/dev/fd"))) }

func TestCommand(t *testing.T) {
	require.Equal(t, []string{"python3", "bot.py", "-x"}, Command(" python3  bot.py -x"))
	require.Equal(t, []string{"/bin/sh", "-c", "A=1 ./bot 'a b'"}, Command("A=1 ./bot 'a b'"))
	require.Empty(t, Command("  "))
}

// A program that does not exist, or the script that it runs, is found out before a game, in a line of shell too.
func TestFind(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("bot.py", nil, 0o600))
	for line, want := range map[string]string{
		"true": "", "sh -c true": "", "cat 'a b'": "", "while true; do echo x; done": "", "X=1 cat": "", "cd /tmp && ls": "",
		"sh bot.py none.py": "", "sh -e bot.py": "", "cat bot.py | cat": "", "cat 'none.py'": "", "cat -none.py": "",
		"sh none.py":              "program none.py: there is no such file for sh to run",
		"env sh -e dir/none.JS":   "program dir/none.JS: there is no such file for env to run",
		"/bin/sh none.jar x > y":  "program none.jar: there is no such file for /bin/sh to run",
		"no-such-bot":             "program no-such-bot: executable file not found in $PATH",
		"/no/such/bot x":          "program /no/such/bot: no such file or directory",
		"no-such-bot --level=3":   "program no-such-bot: neither a file nor a command of the shell",
		"./no-such-bot 'a' | cat": "program ./no-such-bot: neither a file nor a command of the shell",
	} {
		said := ""
		if err := Find(Command(line)); err != nil {
			said = err.Error()
		}
		require.Equal(t, want, said, line)
	}
}

// A program that is started for every turn is a file, blanks in its name included, or a command, and no shell runs it.
func TestFile(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, mode := range map[string]os.FileMode{"my bot": 0o755, "dropblox_ai": 0o755, "plain": 0o644, "bot.sh": 0o644} {
		require.NoError(t, os.WriteFile(name, nil, mode))
	}
	for line, want := range map[string]string{
		"dropblox_ai": "dropblox_ai", "./dropblox_ai": "dropblox_ai", "my bot": "my bot", "./my bot": "my bot",
		"sh bot.sh -x": "sh|bot.sh|-x", "": "no program named", "plain": "program plain: permission denied",
		"./none":      "program ./none: no such file or directory",
		"no-such-bot": "program no-such-bot: executable file not found in $PATH",
		"sh none.sh":  "program none.sh: there is no such file for sh to run",
	} {
		argv, err := File(line)
		if err != nil {
			require.EqualError(t, err, want)
			continue
		}
		require.True(t, filepath.IsAbs(argv[0]))
		argv[0] = filepath.Base(argv[0])
		require.Equal(t, want, strings.Join(argv, "|"))
	}
}

// TestABotThatHasAnsweredKnowsHowToFlush: it is only told that it was late.
func TestABotThatHasAnsweredKnowsHowToFlush(t *testing.T) {
	for _, replied := range []bool{false, true} {
		said := strings.Join((&Process{replied: replied}).Odd(ErrLate), "")
		require.Contains(t, said, "no answer: not a byte has arrived")
		require.Equal(t, !replied, strings.Contains(said, "must flush"))
	}
}

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
		c := envtest.Must(StartChild(Spec{Argv: []string{"/bin/sh", "-c", script}, Cage: Trusted}))
		require.True(t, c.Exit(hang))
		for range 2 {
			err := c.Kill()
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
