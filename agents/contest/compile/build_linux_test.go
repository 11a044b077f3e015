package compile

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/contest"
)

// TestMemory: a program that takes more than it may is ended, and told so.
func TestMemory(t *testing.T) {
	path := write(t, "big.py", "import time\nb = bytearray(300 << 20)\nb[::4096] = b'x' * len(b[::4096])\ntime.sleep(60)\n")
	bot, err := Submission(context.Background(), path, filepath.Join(t.TempDir(), "b"), contest.Uploads{}, Default)
	require.NoError(t, err)
	bot.Program.Memory = 100 << 20
	p, err := bot.Program.Start(nil)
	require.NoError(t, err)
	_, _, _, err = p.Ask(context.Background(), []string{"x"}, time.Minute)
	require.ErrorIs(t, err, contest.ErrGone)
	require.Regexp(t, `^the program was ended: it uses \d+ MiB of memory, want at most 100$`, p.Odd(err)[0])
	require.NoError(t, p.Close())
}
