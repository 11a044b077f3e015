package program

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A bar stays in one line of a terminal of 80 columns, whatever it shows.
func TestBarFitsTheTerminal(t *testing.T) {
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	require.NoError(t, err)
	defer keyboard.Close()
	number, err := unix.IoctlGetInt(int(keyboard.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetPointerInt(int(keyboard.Fd()), unix.TIOCSPTLCK, 0))
	screen, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetWinsize(int(screen.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}))
	shown := make(chan string)
	go func() {
		b, _ := io.ReadAll(keyboard) // ends with an error when the screen is closed
		shown <- string(b)
	}()
	for unit, total := range map[string]int{"": 10000, "games": 400000, "entrants": 32, "bytes": 1 << 30, "answers": -1} {
		bar := NewBar(screen, false, total, unit)
		for k := range 4 {
			bar.Show(k*max(0, total)/4, strings.Repeat("much to say ", 20))
			time.Sleep(110 * time.Millisecond) // a bar is not drawn more often
		}
		require.NoError(t, bar.Clear())
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
