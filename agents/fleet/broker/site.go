// Package broker is a NATS server with JetStream, embedded or external, and the connection to it: its flags, its keys
// and its certificates. The server of a run and its workers exchange jobs and results there, which package fleet lists.
package broker

import (
	"bytes"
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"blockyard/datasets/program"
	"blockyard/datasets/program/disk"
)

// A Site is a broker, in this process or external, and the connection to it.
type Site struct {
	*Conn
	Address string // of the broker, for workers
	Join    string // the command line with which workers join

	server  *server.Server // nil for an external broker
	dir     string         // of its files
	release func() error   // of the folder
}

const (
	keyFile     = "worker.nk"      // holds the key of the workers, in the folder of the run
	ownKeyFile  = "learner.nk"     // holds the key of the run's process there, which may do everything
	brokerStart = 30 * time.Second // how long a broker may take to answer
	probeBytes  = 64 << 10         // are written to find out whether there is room
)

// Limits of a broker in this process.
const (
	mostStored  = 4 << 30 // bytes on disk, and in memory; those of a run are bounded by its streams
	mostClients = 4096    // connections
)

// LargestMessage is what a message may hold, in bytes. Larger nets and results travel as objects.
const LargestMessage = 1 << 20

// Open connects to the broker of the flags. One in this process has its files and keys in a folder, which is locked.
func (f *Flags) Open(folder, name string, log *slog.Logger) (*Site, error) {
	s := &Site{Address: f.Cluster.URL, dir: filepath.Join(folder, "broker")}
	client := f.ClientFlags
	var own []nats.Option
	creds := client.Creds
	switch there := s.Address != ""; {
	case there && (f.Listen != "" || f.TLSCert != "" || f.TLSKey != ""):
		return nil, errors.New("--listen, --tls-cert and --tls-key are of a broker in this process: leave them or the " +
			"address of --cluster out")
	case !there && creds != "":
		return nil, errors.New("--creds is for a broker elsewhere: give --cluster its address")
	case !there:
		creds, client.Creds = filepath.Join(folder, keyFile), filepath.Join(folder, ownKeyFile)
		if err := s.embed(f, creds, client.Creds, log); err != nil {
			return nil, errors.Join(err, s.Close(false))
		}
		own = append(own, nats.InProcessServer(s.server))
	}
	var err error
	if s.Conn, err = client.Connect(s.Address, name, log, own...); err != nil {
		return nil, errors.Join(err, s.Close(false))
	}
	s.Join = program.Named("train join ") + s.Address
	if creds != "" {
		s.Join += " --creds " + creds
	}
	if f.TLSCA != "" {
		s.Join += " --tls-ca " + f.TLSCA
	}
	return s, nil
}

// embed starts a broker in this process. Its keys are in files.
func (s *Site) embed(f *Flags, keyPath, ownPath string, log *slog.Logger) error {
	host, port, err := net.SplitHostPort(cmp.Or(f.Listen, "127.0.0.1:4222"))
	n, numErr := strconv.Atoi(port)
	if err = errors.Join(err, numErr); err != nil || host == "" || n < 0 || n > 65535 {
		return fmt.Errorf("broker address %q: want HOST:PORT, such as 127.0.0.1:4222", f.Listen)
	}
	n = cmp.Or(n, server.RANDOM_PORT)
	if err := errors.Join(os.MkdirAll(filepath.Dir(s.dir), 0o755), os.MkdirAll(s.dir, 0o700)); err != nil {
		return err
	}
	key, err := NewKey(keyPath)
	own, ownErr := NewKey(ownPath)
	if err = errors.Join(err, ownErr); err != nil {
		return err
	}
	s.release, err = disk.Acquire(s.dir + ".lock")
	if errors.Is(err, disk.ErrHeld) {
		return fmt.Errorf("another learner drives this run: stop it, or start another run with --out (%w)", err)
	} else if err != nil {
		return err
	}
	o := &server.Options{
		ServerName: "blockyard", Host: host, Port: n, NoSigs: true, NoLog: true, MaxPayload: LargestMessage,
		JetStream: true, StoreDir: s.dir, JetStreamMaxStore: cmp.Or(f.Most, mostStored), JetStreamMaxMemory: mostStored,
		MaxConn: mostClients, Nkeys: []*server.NkeyUser{{Nkey: own}, {Nkey: key, Permissions: ofWorkers()}},
	}
	scheme := "nats://"
	if f.TLSCert != "" {
		o.TLSConfig, err = server.GenTLSConfig(&server.TLSConfigOpts{CertFile: f.TLSCert, KeyFile: f.TLSKey})
		if err != nil {
			return fmt.Errorf("TLS: %w", err)
		}
		o.TLS, o.TLSTimeout, scheme = true, 10, "tls://"
	}
	if n != server.RANDOM_PORT { // the server itself would only log that the port is in use
		l, err := net.Listen("tcp", f.Listen)
		if err != nil {
			return fmt.Errorf("broker address: %w: choose another with --listen HOST:PORT; port 0 selects a free one", err)
		}
		l.Close()
	}
	if s.server, err = server.NewServer(o); err != nil {
		return fmt.Errorf("broker: %w", err)
	}
	s.server.Start()
	if !s.server.ReadyForConnections(brokerStart) || !s.server.JetStreamEnabled() {
		return fmt.Errorf("the broker did not start within %v: is the disk of %s full or not writable?", brokerStart, s.dir)
	}
	at, reached := reachable(s.server.Addr(), f.TLSCert != "")
	s.Address = scheme + at
	if reached && f.TLSCert == "" {
		log.Warn("without --tls-cert, whoever is between this machine and a worker can read and change what they send",
			"listen", f.Listen)
	}
	return nil
}

// Embedded reports whether the broker is in this process, and ends with it.
func (s *Site) Embedded() bool { return s.server != nil }

// Check returns why a broker in this process cannot store messages: the server itself answers nobody then.
func (s *Site) Check() error {
	if s.server == nil {
		return nil
	}
	probe := filepath.Join(s.dir, "probe")
	err := os.WriteFile(probe, make([]byte, probeBytes), 0o600)
	if removed := os.Remove(probe); err == nil {
		err = removed
	}
	if err == nil && !s.server.JetStreamEnabled() {
		err = errors.New("the server has switched JetStream off")
	}
	if err != nil {
		return fmt.Errorf("the broker cannot store messages in %s: free space on its disk, then continue the run with "+
			"--resume --cluster (%w)", s.dir, err)
	}
	return nil
}

// Close ends the connection, and stops a broker in this process. finished says that its files are of no use any more.
func (s *Site) Close(finished bool) (err error) {
	if s.Conn != nil {
		s.Conn.Close()
	}
	if s.server != nil {
		s.server.Shutdown()
		s.server.WaitForShutdown()
	}
	if s.release == nil {
		return nil
	}
	if err = s.release(); finished {
		err = errors.Join(err, os.RemoveAll(s.dir))
	}
	return err
}

// ofWorkers is what the key of workers allows: to look for runs, to take jobs, to read objects, to send results and
// signs of life, and to ask for the status. It creates and deletes no stream.
func ofWorkers() *server.Permissions {
	return &server.Permissions{
		Publish: &server.SubjectPermission{Allow: []string{
			"blockyard.*.hello", "blockyard.*.status", "blockyard.*.*.results", "$O.*.C.>", "$O.*.M.>", "$JS.ACK.>", "$JS.FC.>",
			"$JS.API.INFO", "$JS.API.STREAM.INFO.*", "$JS.API.STREAM.MSG.GET.*", "$JS.API.DIRECT.GET.>",
			"$JS.API.CONSUMER.INFO.>", "$JS.API.CONSUMER.MSG.NEXT.>",
			"$JS.API.CONSUMER.CREATE.KV_blockyard-runs.>", "$JS.API.CONSUMER.CREATE.*.*.$O.>", // to read
			"$JS.API.CONSUMER.DELETE.*.*",
		}, Deny: []string{"$JS.API.CONSUMER.DELETE.*.workers", "$JS.API.CONSUMER.DELETE.*.server"}}, // of queues
		Subscribe: &server.SubjectPermission{Allow: []string{"_INBOX.>"}},
	}
}

// reachable is the address of a listener as workers can reach it, and whether other machines can. One on every network
// has the name of this machine, which a certificate is for, or its first address.
func reachable(a net.Addr, byName bool) (address string, others bool) {
	tcp, ok := a.(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return a.String(), ok && !tcp.IP.IsLoopback()
	}
	host, err := os.Hostname()
	if all, none := net.InterfaceAddrs(); none == nil && (!byName || err != nil) {
		host = "127.0.0.1"
		for _, a := range all {
			if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() {
				host = n.IP.String()
				break
			}
		}
	}
	return net.JoinHostPort(host, strconv.Itoa(tcp.Port)), true
}

// NewKey returns the public key of the private key in a file, which it creates with mode 0600 if there is none.
func NewKey(path string) (public string, err error) {
	seed, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		var pair nkeys.KeyPair
		if pair, err = nkeys.CreateUser(); err == nil {
			seed, _ = pair.Seed() // a new pair has one
			err = disk.WriteText(path, 0o600, string(seed)+"\n")
		}
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

// A Conn is a connection to a broker, which is made again whenever it is lost; see Connect.
type Conn = nats.Conn

// ErrNoBroker says that no broker answers at the address.
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
	Cluster Flag `help:"${cluster}" placeholder:"NATS://HOST:PORT" group:"Many machines"`

	Listen string `needs:"cluster" help:"${listen}" placeholder:"HOST:PORT" group:"Many machines"`

	TLSCert string `needs:"cluster" name:"tls-cert" help:"${tls_cert}" placeholder:"FILE" group:"Many machines"`
	TLSKey  string `needs:"cluster" name:"tls-key" help:"${tls_key}" placeholder:"FILE" group:"Many machines"`
	ClientFlags

	Most int64 `kong:"-"` // bytes that a broker in this process may take on disk; 0: what the disk has
}

// ClientFlags are the flags of every program that connects to a broker: its credentials, and whom it trusts for TLS.
type ClientFlags struct {
	Creds string `needs:"cluster" help:"${creds}" placeholder:"FILE" group:"Many machines"`
	TLSCA string `needs:"cluster" name:"tls-ca" help:"${tls_ca}" placeholder:"FILE" group:"Many machines"`
}

//go:embed flags.toml
var flagTexts string

// Helps are the help texts of Flags and ClientFlags, for kong to put into the place of names such as ${creds}.
var Helps = program.Texts(flagTexts)

// A Flag is --cluster, which may have a value: the next argument, if it is an address.
type Flag struct {
	On  bool
	URL string // "" for a broker in this process
}

// IsBool tells kong that the flag needs no value.
func (Flag) IsBool() bool { return true }

// Decode implements kong.MapperValue: it takes the next argument only if that is an address. It refuses a value after
// "=" without "://".
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
