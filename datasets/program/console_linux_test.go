package program

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"blockyard/env/envtest"
)

// screen opens a terminal of 80 columns. After it is closed, shown has what was written to it.
func screen(t *testing.T) (screen *os.File, shown <-chan string) {
	keyboard := envtest.Closing(t, envtest.Must(os.OpenFile("/dev/ptmx", os.O_RDWR, 0)))
	number := envtest.Must(unix.IoctlGetInt(int(keyboard.Fd()), unix.TIOCGPTN))
	require.NoError(t, unix.IoctlSetPointerInt(int(keyboard.Fd()), unix.TIOCSPTLCK, 0))
	screen = envtest.Must(os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0))
	require.NoError(t, unix.IoctlSetWinsize(int(screen.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}))
	all := make(chan string, 1)
	go func() {
		b, _ := io.ReadAll(keyboard) // ends with an error when the screen is closed
		all <- string(b)
	}()
	return screen, all
}

// A bar stays in one line of a terminal of 80 columns, whatever it shows.
func TestBarFitsTheTerminal(t *testing.T) {
	screen, shown := screen(t)
	for unit, total := range map[string]int{"": 10000, "games": 400000, "entrants": 32, "bytes": 1 << 30, "answers": -1} {
		bar := NewBar(screen, false, total, unit)
		for k := range 4 {
			bar.Show(k*max(0, total)/4, strings.Repeat("much to say ", 20))
			time.Sleep(110 * time.Millisecond) // a bar is not drawn more often
		}
		bar.Close()
	}
	require.NoError(t, screen.Close())
	lines := 0
	for line := range strings.SplitSeq(strings.ReplaceAll(<-shown, "\x1b[2K", ""), "\r") {
		require.LessOrEqual(t, utf8.RuneCountInString(line), 80, line)
		require.NotContains(t, line, "\n")
		if strings.Contains(line, "much to say") {
			lines++
		}
	}
	require.Positive(t, lines)
}

// A bar runs from its beginning, not from the first unit that is done, and a line does not stand behind it.
func TestBarRuns(t *testing.T) {
	screen, shown := screen(t)
	bar := NewBar(screen, false, 3, "games")
	began := time.Now()
	require.Eventually(t, func() bool { return strings.Contains(bar.String(), "(0/3") }, time.Minute, time.Millisecond)
	passed := time.Since(began).Seconds()
	bar.Set(1)
	require.GreaterOrEqual(t, bar.State().SecondsSince, passed)
	bar.Line("a is refused: %s", "\x1b[2J")
	bar.Close()
	require.NoError(t, screen.Close())
	require.Regexp(t, ` {20}\ra is refused: \\u001b\[2J\r\n`, <-shown)
}

// Signals within a moment of the first one are the first: they do not end the process. They are sent to this thread, so
// that each has arrived when the call returns.
func TestSignalsOfOneMoment(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	terminate := func() { require.NoError(t, syscall.Tgkill(syscall.Getpid(), syscall.Gettid(), syscall.SIGTERM)) }
	var ignore func()
	waits := make(chan struct{})
	ctx, stop := heed(func(f func()) {
		ignore = f
		close(waits)
	})
	defer stop()
	terminate()
	<-ctx.Done()
	<-waits
	terminate() // it would end this test
	ignore()
}
