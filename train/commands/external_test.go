package commands

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
	"github.com/stretchr/testify/require"

	"blockyard/env/envtest"
)

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
	require.Equal(t, bestSum(t, alone), bestSum(t, together))
}

// startNATS starts a NATS server with JetStream that lets in one user, and returns the file of the user's credentials.
func startNATS(t *testing.T) (address, creds string) {
	pair := func(create func() (nkeys.KeyPair, error)) (nkeys.KeyPair, string) {
		p := envtest.Must(create())
		public := envtest.Must(p.PublicKey())
		return p, public
	}
	operator, operatorID := pair(nkeys.CreateOperator)
	account, accountID := pair(nkeys.CreateAccount)
	_, systemID := pair(nkeys.CreateAccount)
	user, userID := pair(nkeys.CreateUser)
	a := jwt.NewAccountClaims(accountID)
	a.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: -1, DiskStorage: -1, Streams: -1, Consumer: -1}
	accounts := new(server.MemAccResolver)
	for _, claims := range []*jwt.AccountClaims{a, jwt.NewAccountClaims(systemID)} {
		text := envtest.Must(claims.Encode(operator))
		require.NoError(t, accounts.Store(claims.Subject, text))
	}
	userJWT := envtest.Must(jwt.NewUserClaims(userID).Encode(account))
	seed := envtest.Must(user.Seed())
	text := envtest.Must(jwt.FormatUserConfig(userJWT, seed))
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
