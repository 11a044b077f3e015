package main

import (
	"bufio"
	"crypto/sha256"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"
)

// --cluster stands alone or has an address.
func TestClusterFlag(t *testing.T) {
	for line, want := range map[string]clusterFlag{
		"":                                  {},
		"--cluster":                         {on: true},
		"--cluster --seed 3":                {on: true},
		"--cluster nats://a:4222,nats://b":  {true, "nats://a:4222,nats://b"},
		"--cluster=tls://a:4222 --creds=me": {true, "tls://a:4222"},
	} {
		var p program
		k, err := kong.New(&p, helps)
		require.NoError(t, err)
		_, err = k.Parse(strings.Fields("selfplay blockbattle " + line))
		require.NoError(t, err, line)
		require.Equal(t, want, p.Selfplay.Cluster, line)
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

	read, write, err := os.Pipe()
	require.NoError(t, err)
	stdout := os.Stdout
	os.Stdout = write
	ended := make(chan error, 1)
	go func() { ended <- command(t, args("together", "--cluster", "--listen", "127.0.0.1:0")...) }()
	lines := bufio.NewScanner(read)
	require.True(t, lines.Scan())
	os.Stdout = stdout
	run, line, ok := strings.Cut(lines.Text(), ": train ")
	require.True(t, ok, lines.Text())
	require.Regexp(t, `^run \w+ waits for workers; on each machine$`, run)

	join := strings.Fields(line)
	require.NoError(t, command(t, append(join, "--name", "one", "--workers", "2")...))
	require.NoError(t, <-ended)
	require.NoError(t, write.Close())
	sum := func(name string) [32]byte {
		data, err := os.ReadFile(filepath.Join(dir, name, "best.safetensors"))
		require.NoError(t, err)
		return sha256.Sum256(data)
	}
	require.Equal(t, sum("alone"), sum("together"))
	require.NoDirExists(t, filepath.Join(dir, "together", "broker"))
	require.ErrorContains(t, command(t, append(join, "--patience", "0s")...), "no connection to the broker")
	require.ErrorContains(t, command(t, "cluster", "status", join[1]), "no connection to the broker")
}
