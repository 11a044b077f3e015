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
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
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
	read, write := envtest.Must2(os.Pipe())
	t.Cleanup(func() { _ = read.Close() })
	stdout, ended := os.Stdout, make(chan error, 1)
	os.Stdout = write
	go func() {
		err := commandUntil(ctx, args...)
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
func bestSum(folder string) [32]byte {
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

// A learner and a worker on a NATS server of somebody else, with NATS credentials, train the net of a run without workers.
// Other credentials are refused.
func TestExternalBroker(t *testing.T) {
	dir := t.TempDir()
	address, creds := startNATS(t)
	_, strangers := startNATS(t)
	alone, together := filepath.Join(dir, "alone"), filepath.Join(dir, "together")
	for _, line := range []string{"join " + address, "selfplay blockbattle --out " + dir + "/none --cluster " + address} {
		refuses(t, map[string]string{
			line:                           "wants credentials: pass --creds FILE",
			line + " --creds " + strangers: "refuses the credentials in " + strangers,
		})
	}
	require.NoError(t, command(t, runIn(alone, tiny)...))
	l := beginLearner(t, t.Context(), runIn(together, tiny, "--cluster", address, "--creds", creds)...)
	require.Equal(t, []string{"join", address, "--creds", creds}, l.join)
	require.NoError(t, command(t, append(l.join, "--name", "one", "--workers", "1")...))
	require.NoError(t, <-l.ended)
	require.Equal(t, bestSum(alone), bestSum(together))
}

// startNATS starts a NATS server with JetStream that lets in one user, and returns the file of the user's credentials.
func startNATS(t *testing.T) (address, creds string) {
	pair := func(create func() (nkeys.KeyPair, error)) (nkeys.KeyPair, string) {
		p := envtest.Must(create())
		return p, envtest.Must(p.PublicKey())
	}
	operator, operatorID := pair(nkeys.CreateOperator)
	account, accountID := pair(nkeys.CreateAccount)
	_, systemID := pair(nkeys.CreateAccount)
	user, userID := pair(nkeys.CreateUser)
	a := jwt.NewAccountClaims(accountID)
	a.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: -1, DiskStorage: -1, Streams: -1, Consumer: -1}
	accounts := new(server.MemAccResolver)
	for _, claims := range []*jwt.AccountClaims{a, jwt.NewAccountClaims(systemID)} {
		require.NoError(t, accounts.Store(claims.Subject, envtest.Must(claims.Encode(operator))))
	}
	userJWT := envtest.Must(jwt.NewUserClaims(userID).Encode(account))
	text := envtest.Must(jwt.FormatUserConfig(userJWT, envtest.Must(user.Seed())))
	creds = filepath.Join(t.TempDir(), "user.creds")
	require.NoError(t, os.WriteFile(creds, text, 0o600))
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true,
		TrustedOperators: []*jwt.OperatorClaims{jwt.NewOperatorClaims(operatorID)}, AccountResolver: accounts,
		SystemAccount: systemID, JetStream: true, StoreDir: t.TempDir()})
	require.NoError(t, err)
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	require.True(t, s.ReadyForConnections(time.Minute))
	return s.ClientURL(), creds
}
