//go:build unix

package commands

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"blockyard/datasets/program"
	"blockyard/datasets/program/web/webtest"

	"github.com/stretchr/testify/require"
)

// The address that is printed leads to the page; an interrupt ends the program cleanly.
func TestViewWeb(t *testing.T) {
	in, out := io.Pipe()
	status := make(chan int)
	go func() {
		args := []string{"view", "--web", sample + "#1", "--from", "7"}
		status <- run(args, &program.Console{In: strings.NewReader(""), Out: out, Err: io.Discard})
	}()
	line := must(bufio.NewReader(in).ReadString('\n'))
	require.Regexp(t, `^http://127\.0\.0\.1:\d+/#blockbattle\.jsonl:1/7\n$`, line)
	address, _, _ := strings.Cut(line, "#")
	webtest.Refuses(t, strings.Trim(address, "htp:/"), "/", http.StatusOK)
	reply := must(http.Get(address))
	page := must(io.ReadAll(reply.Body))
	reply.Body.Close()
	require.Contains(t, string(page), "Blockyard replays")
	require.NoError(t, syscall.Kill(syscall.Getpid(), syscall.SIGTERM))
	select {
	case s := <-status:
		require.Zero(t, s)
	case <-time.After(2 * time.Minute):
		t.Fatal("an interrupt does not end it")
	}
}
