package broker

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"blockyard/datasets/program"
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

// A Conn is a connection to a broker.
type Conn = nats.Conn

// ErrNoBroker says that no broker answers.
var ErrNoBroker = nats.ErrNoServers

// Connect connects to the broker at one or more addresses, separated by commas. name is that of this client, for
// operators of the broker. The connection is made again whenever it is lost, until it is closed.
func (f *ClientFlags) Connect(address, name string, log *slog.Logger, more ...nats.Option) (*Conn, error) {
	o := append(more,
		nats.Name(name), nats.MaxReconnects(-1), nats.ReconnectWait(500*time.Millisecond),
		nats.PingInterval(5*time.Second), nats.MaxPingsOutstanding(2), nats.Timeout(10*time.Second),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				log.Warn("the connection to the broker is lost, trying again", "error", err)
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) { log.Info("connected to the broker again") }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			if errors.Is(err, nats.ErrPermissionViolation) {
				log.Warn("the key does not allow this; that of a run's process is learner.nk", "error", err)
				return
			}
			log.Debug("broker", "error", err)
		}))
	if f.Creds != "" {
		auth, err := credentials(f.Creds)
		if err != nil {
			return nil, fmt.Errorf("--creds: %w", err)
		}
		o = append(o, auth)
	}
	if f.TLSCA != "" {
		o = append(o, nats.RootCAs(f.TLSCA))
	}
	nc, err := nats.Connect(address, o...)
	switch {
	case err == nil:
		return nc, nil
	case !errors.Is(err, nats.ErrAuthorization) && !errors.Is(err, nats.ErrNkeysNotSupported):
		return nil, fmt.Errorf("no connection to the broker at %s: %w", address, err)
	case f.Creds == "":
		return nil, fmt.Errorf("the broker at %s wants credentials: pass --creds FILE, "+
			"as in the line that the learner printed", address)
	}
	return nil, fmt.Errorf("the broker at %s refuses the credentials in %s: "+
		"use the file that the learner of this run wrote (%w)", address, f.Creds, err)
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

// Flags are the flags of a command whose games worker processes may play. Their help texts are in Helps.
type Flags struct {
	Cluster Flag   `help:"${cluster}" placeholder:"NATS://HOST:PORT" group:"Many machines"`
	Listen  string `help:"${listen}" default:"127.0.0.1:4222" placeholder:"HOST:PORT" group:"Many machines"`
	TLSCert string `name:"tls-cert" help:"${tls_cert}" placeholder:"FILE" group:"Many machines"`
	TLSKey  string `name:"tls-key" help:"${tls_key}" placeholder:"FILE" group:"Many machines"`
	ClientFlags

	Most int64 `kong:"-"` // bytes that a broker in this process may take on disk; 0: what the disk has
}

// ClientFlags are the flags of every client of a broker.
type ClientFlags struct {
	Creds string `help:"${creds}" placeholder:"FILE" group:"Many machines"`
	TLSCA string `name:"tls-ca" help:"${tls_ca}" placeholder:"FILE" group:"Many machines"`
}

//go:embed flags.toml
var flagTexts string

// Helps are the help texts of Flags.
var Helps = program.Texts(flagTexts)

// A Flag is --cluster, which may have a value: the next argument, if it is an address.
type Flag struct {
	On  bool
	URL string // "" for a broker in this process
}

// IsBool lets the flag stand alone.
func (Flag) IsBool() bool { return true }

func (f *Flag) Decode(ctx *kong.DecodeContext) error {
	f.On = true
	next := ctx.Scan.Peek()
	text, _ := next.Value.(string)
	if next.Type == kong.FlagValueToken || strings.Contains(text, "://") {
		ctx.Scan.Pop()
		if f.URL = text; !strings.Contains(text, "://") {
			return fmt.Errorf("%q: want an address such as nats://HOST:4222", text)
		}
	}
	return nil
}
