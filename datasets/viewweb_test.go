package main

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestViewWebErrors(t *testing.T) {
	for args, want := range map[string]string{
		"--web none.jsonl":                     "no such file",
		"--web -":                              "standard input cannot be shown",
		"--web --listen 1.2.3.4.5:1 " + sample: "listen tcp",
		"--web --from 3 " + sample + " " + sample + "#1": "--from with several games",
		"--open " + sample:    "--open without --web",
		sample + " " + sample: "the terminal viewer shows one game",
	} {
		status, _, errs := call(append([]string{"view"}, strings.Fields(args)...)...)
		require.Equal(t, 1, status, args)
		require.Contains(t, errs, want, args)
	}
}

// The address that is printed leads to the page; an interrupt ends the program cleanly.
func TestViewWeb(t *testing.T) {
	in, out := io.Pipe()
	status := make(chan int)
	go func() {
		args := []string{"view", "--web", sample + "#1", "--from", "7"}
		status <- run(args, &streams{strings.NewReader(""), out, io.Discard})
	}()
	line, err := bufio.NewReader(in).ReadString('\n')
	require.NoError(t, err)
	require.Regexp(t, `^http://127\.0\.0\.1:\d+/#blockbattle\.jsonl:1/7\n$`, line)
	address, _, _ := strings.Cut(line, "#")
	reply, err := http.Get(address)
	require.NoError(t, err)
	page, err := io.ReadAll(reply.Body)
	require.NoError(t, err)
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
