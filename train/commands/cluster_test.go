package commands

import (
	"bufio"
	"context"
	"crypto/sha256"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/fleet/broker"
	"blockyard/env/envtest"
	"blockyard/train/selfplay"
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
		require.Equal(t, want, parse(t, "blockbattle "+line).Broker.Cluster, line)
	}
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

// connect connects to the learner's broker.
func (l *startedLearner) connect(t *testing.T) *broker.Conn {
	nc := envtest.Must((&broker.ClientFlags{Creds: l.join[3]}).Connect(l.join[1], "test", slog.New(slog.DiscardHandler)))
	t.Cleanup(nc.Close)
	return nc
}

// rest returns what a learner that has ended printed after its first line.
func (l *startedLearner) rest() string { return string(envtest.Must(io.ReadAll(l.out))) }

// bestSum is the SHA-256 of the best net of the run in a folder.
func bestSum(t *testing.T, folder string) [32]byte {
	return sha256.Sum256([]byte(read(filepath.Join(folder, selfplay.BestFile))))
}

// The example for Kubernetes starts workers with flags that exist.
func TestWorkersManifest(t *testing.T) {
	_, list, _ := strings.Cut(read("../../rpc/deploy/kubernetes/workers.yaml"), "args:\n")
	list, _, _ = strings.Cut(list, "env:")
	var args []string
	for _, a := range regexp.MustCompile(`- (\S+)`).FindAllStringSubmatch(list, -1) {
		args = append(args, a[1])
	}
	require.Contains(t, args, "join")
	require.NoError(t, envtest.Failed(Program().Parse(t.Context(), args)), "%q", args)
}
