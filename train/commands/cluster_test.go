package commands

import (
	"bufio"
	"context"
	"crypto/sha256"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"blockyard/agents/fleet/broker"
	"blockyard/train/selfplay"

	"github.com/stretchr/testify/require"
)

// --cluster stands alone or has an address.
func TestClusterFlag(t *testing.T) {
	for line, want := range map[string]broker.Flag{
		"":                                  {},
		"--cluster":                         {On: true},
		"--cluster --seed 3":                {On: true},
		"--cluster nats://a:4222,nats://b":  {On: true, URL: "nats://a:4222,nats://b"},
		"--cluster=tls://a:4222 --creds=me": {On: true, URL: "tls://a:4222"},
	} {
		p := commandLine()
		_, err := p.Parse(t.Context(), strings.Fields("selfplay blockbattle "+line))
		require.NoError(t, err, line)
		require.Equal(t, want, p.Commands.(*table).Selfplay.Broker.Cluster, line)
	}
	require.ErrorContains(t, command(t, "selfplay", "blockbattle", "--cluster=host"), "want an address such as nats://HOST:4222")
	require.ErrorContains(t, command(t, "selfplay", "blockbattle", "--cluster", "--record", "x"), "workers send no games")
}

// A learner prints the line with which workers join. Its best net is that of a run without workers, byte for byte.
func TestSelfplayCluster(t *testing.T) {
	dir := t.TempDir()
	args := func(name string, more ...string) []string {
		return append(append([]string{"selfplay", "blockbattle", "--out", filepath.Join(dir, name)}, tiny...), more...)
	}
	require.NoError(t, command(t, args("alone")...))

	l := beginLearner(t, t.Context(), args("together", "--cluster", "--listen", "127.0.0.1:0")...)
	require.Regexp(t, `^run \w+ waits for workers; on each machine$`, l.line)
	require.NoError(t, command(t, append(l.join, "--name", "one", "--workers", "2")...))
	require.NoError(t, <-l.ended)
	require.Contains(t, l.rest(t), "the best net")
	require.Equal(t, bestSum(t, filepath.Join(dir, "alone")), bestSum(t, filepath.Join(dir, "together")))
	require.NoDirExists(t, filepath.Join(dir, "together", "broker"))
	require.ErrorContains(t, command(t, append(l.join, "--patience", "0s")...), "no connection to the broker")
	require.ErrorContains(t, command(t, "cluster", "status", l.join[1]), "no connection to the broker")
}

// A startedLearner is train selfplay --cluster in this process.
type startedLearner struct {
	line  string        // that it printed, before the command to join with
	join  []string      // that command, without "train": join ADDRESS --creds FILE
	out   *bufio.Reader // what it prints after the first line
	ended <-chan error
}

// beginLearner starts a learner and waits for its first line. Standard output is the learner's until it ends.
func beginLearner(t *testing.T, ctx context.Context, args ...string) *startedLearner {
	t.Helper()
	read, write, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { _ = read.Close() })
	stdout, ended := os.Stdout, make(chan error, 1)
	os.Stdout = write
	go func() {
		err := commandUntil(t, ctx, args...)
		os.Stdout = stdout
		_ = write.Close()
		ended <- err
	}()
	l := &startedLearner{out: bufio.NewReader(read), ended: ended}
	first, err := l.out.ReadString('\n')
	if err != nil {
		require.NoError(t, <-ended)
	}
	before, line, ok := strings.Cut(first, ": train ")
	require.True(t, ok, first)
	l.line, l.join = before, strings.Fields(line)
	return l
}

// rest returns what a learner that has ended printed after its first line.
func (l *startedLearner) rest(t *testing.T) string {
	t.Helper()
	text, err := io.ReadAll(l.out)
	require.NoError(t, err)
	return string(text)
}

// bestSum is the SHA-256 of the best net of the run in a folder.
func bestSum(t *testing.T, folder string) [32]byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder, selfplay.BestFile))
	require.NoError(t, err)
	return sha256.Sum256(data)
}
