package commands

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"
	"github.com/stretchr/testify/require"
)

// A learner and a worker on a NATS server of its own process, with NATS credentials, train the net of a run without
// workers. Other credentials are refused.
func TestExternalBroker(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a NATS server")
	}
	dir := t.TempDir()
	operator, creds := newOperator(t, dir)
	_, strangers := newOperator(t, t.TempDir())
	address := startNATS(t, dir, operator)
	alone, together := filepath.Join(dir, "alone"), filepath.Join(dir, "together")
	for _, line := range []string{"join " + address, "selfplay blockbattle --out " + filepath.Join(dir, "none") + " --cluster " + address} {
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
	require.Equal(t, bestSum(t, alone), bestSum(t, together))
}

// newOperator returns the configuration of a NATS server that lets in one user, and the file of the user's credentials.
func newOperator(t *testing.T, dir string) (config, creds string) {
	t.Helper()
	pair := func(create func() (nkeys.KeyPair, error)) (nkeys.KeyPair, string) {
		p, err := create()
		require.NoError(t, err)
		public, err := p.PublicKey()
		require.NoError(t, err)
		return p, public
	}
	operator, operatorID := pair(nkeys.CreateOperator)
	account, accountID := pair(nkeys.CreateAccount)
	_, systemID := pair(nkeys.CreateAccount)
	user, userID := pair(nkeys.CreateUser)
	operatorJWT, err := jwt.NewOperatorClaims(operatorID).Encode(operator)
	require.NoError(t, err)
	a := jwt.NewAccountClaims(accountID)
	a.Limits.JetStreamLimits = jwt.JetStreamLimits{
		MemoryStorage: -1, DiskStorage: -1, Streams: -1, Consumer: -1,
	}
	accountJWT, err := a.Encode(operator)
	require.NoError(t, err)
	systemJWT, err := jwt.NewAccountClaims(systemID).Encode(operator)
	require.NoError(t, err)
	userJWT, err := jwt.NewUserClaims(userID).Encode(account)
	require.NoError(t, err)
	seed, err := user.Seed()
	require.NoError(t, err)
	text, err := jwt.FormatUserConfig(userJWT, seed)
	require.NoError(t, err)
	creds = filepath.Join(dir, "user.creds")
	require.NoError(t, os.WriteFile(creds, text, 0o600))
	return fmt.Sprintf("operator: %s\nsystem_account: %s\nresolver: MEMORY\nresolver_preload: { %s: %s, %s: %s }\n",
		operatorJWT, systemID, accountID, accountJWT, systemID, systemJWT), creds
}

// startNATS builds the NATS server that go.mod names and starts it with JetStream.
func startNATS(t *testing.T, dir, config string) (address string) {
	t.Helper()
	program := filepath.Join(dir, "nats-server.exe") // the ending is for Windows
	out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", program, "github.com/nats-io/nats-server/v2").CombinedOutput()
	require.NoError(t, err, string(out))
	host := freeAddress()
	file, log := filepath.Join(dir, "nats.conf"), filepath.Join(dir, "nats.log")
	config += fmt.Sprintf("log_file: %q\nlisten: %q\njetstream: { store_dir: %q }\n",
		filepath.ToSlash(log), host, filepath.ToSlash(filepath.Join(dir, "store")))
	require.NoError(t, os.WriteFile(file, []byte(config), 0o600))
	cmd := exec.Command(program, "--config", file)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	})
	waitFor(t, host)
	return "nats://" + host
}

// freeAddress returns an address on which nothing listens. Its port is below those that a system gives to connections, of
// which other tests open many: one of them could have the port before the test listens there.
func freeAddress() string {
	for {
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 10_000+rand.IntN(20_000))); err == nil {
			defer l.Close()
			return l.Addr().String()
		}
	}
}

// waitFor waits until something listens on an address.
func waitFor(t *testing.T, address string) {
	t.Helper()
	require.Eventually(t, func() bool {
		c, err := net.Dial("tcp", address)
		if err == nil {
			err = c.Close()
		}
		return err == nil
	}, time.Minute, 20*time.Millisecond, address)
}
