package broker

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"blockyard/datasets/program/disk"
)

// NewKey returns the public key of the private key in a file, which it creates with mode 0600 if there is none.
func NewKey(path string) (public string, err error) {
	seed, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		var pair nkeys.KeyPair
		if pair, err = nkeys.CreateUser(); err != nil {
			return "", err
		}
		if seed, err = pair.Seed(); err != nil {
			return "", err
		}
		err = disk.WriteText(path, 0o600, string(seed)+"\n")
	}
	if err != nil {
		return "", err
	}
	pair, err := nkeys.FromSeed(bytes.TrimSpace(seed))
	if err != nil {
		return "", fmt.Errorf("%s: not a key of this program: %w", path, err)
	}
	defer pair.Wipe()
	return pair.PublicKey()
}

// A Link says how to reach a broker.
type Link struct {
	URL   string // one or more addresses, separated by commas
	Creds string // file with a key that NewKey wrote, or with NATS credentials; "" for none
	CA    string // PEM file of the authorities that the broker's certificate is checked with; "": the system's
	Name  string // of this client, for operators of the broker

	Broker *Broker // this process's own, to be reached without the network; nil for another one
}

// A Conn is a connection to a broker.
type Conn = nats.Conn

// ErrNoBroker says that no broker answers.
var ErrNoBroker = nats.ErrNoServers

// Connect connects to a broker. The connection is made again whenever it is lost, until it is closed.
func Connect(l Link, log *slog.Logger) (*Conn, error) {
	o := []nats.Option{
		nats.Name(l.Name), nats.MaxReconnects(-1), nats.ReconnectWait(500 * time.Millisecond),
		nats.PingInterval(5 * time.Second), nats.MaxPingsOutstanding(2), nats.Timeout(10 * time.Second),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				log.Warn("the connection to the broker is lost, trying again", "error", err)
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) { log.Info("connected to the broker again") }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { log.Debug("broker", "error", err) }),
	}
	if l.Broker != nil {
		o = append(o, nats.InProcessServer(l.Broker.server))
	}
	if l.Creds != "" {
		auth, err := credentials(l.Creds)
		if err != nil {
			return nil, fmt.Errorf("--creds: %w", err)
		}
		o = append(o, auth)
	}
	if l.CA != "" {
		o = append(o, nats.RootCAs(l.CA))
	}
	nc, err := nats.Connect(l.URL, o...)
	switch {
	case err == nil:
		return nc, nil
	case !errors.Is(err, nats.ErrAuthorization) && !errors.Is(err, nats.ErrNkeysNotSupported):
		return nil, fmt.Errorf("no connection to the broker at %s: %w", l.URL, err)
	case l.Creds == "":
		return nil, fmt.Errorf("the broker at %s wants credentials: pass --creds FILE, "+
			"as in the line that the learner printed", l.URL)
	}
	return nil, fmt.Errorf("the broker at %s refuses the credentials in %s: "+
		"use the file that the learner of this run wrote (%w)", l.URL, l.Creds, err)
}

// credentials returns the option for a file with a key or with NATS credentials, which hold a JWT.
func credentials(path string) (nats.Option, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if bytes.Contains(data, []byte("BEGIN NATS USER JWT")) {
		return nats.UserCredentials(path), nil
	}
	if _, err := nkeys.FromSeed(bytes.TrimSpace(data)); err != nil {
		return nil, fmt.Errorf("%s holds neither a key nor NATS credentials: %w", path, err)
	}
	return nats.NkeyOptionFromSeed(path)
}
