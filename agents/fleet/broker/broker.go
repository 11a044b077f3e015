package broker

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"blockyard/datasets/program/disk"
)

// Options are the settings of an embedded broker.
type Options struct {
	Listen  string // HOST:PORT; port 0 selects a free one
	Dir     string // where streams are stored
	Key     string // public key that clients must prove to own; see NewKey
	Cert    string // PEM file of the certificate for TLS; "" for none
	CertKey string // PEM file of its private key
	Most    int64  // bytes that streams may take on disk; 0: what the disk has
}

// A Broker is a NATS server with JetStream in this process.
type Broker struct {
	server  *server.Server
	dir     string
	release func() error
	url     string
}

// brokerStart is how long a broker may take to answer.
const brokerStart = 30 * time.Second

// LargestMessage is what a message may hold, in bytes. Larger nets and results travel as objects.
const LargestMessage = 1 << 20

// Start starts an embedded broker. One process at a time can use its folder.
func Start(o Options) (*Broker, error) {
	host, port, err := net.SplitHostPort(o.Listen)
	n, numErr := strconv.Atoi(port)
	if err = errors.Join(err, numErr); err != nil || host == "" || n < 0 || n > 65535 {
		return nil, fmt.Errorf("broker address %q: want HOST:PORT, such as 127.0.0.1:4222", o.Listen)
	}
	if o.Key == "" {
		return nil, errors.New("a broker needs the public key of its clients")
	}
	if n == 0 {
		n = server.RANDOM_PORT
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, err
	}
	release, err := disk.Acquire(o.Dir + ".lock")
	if errors.Is(err, disk.ErrHeld) {
		return nil, fmt.Errorf("another learner drives this run: stop it, or start another run with --out (%w)", err)
	} else if err != nil {
		return nil, err
	}
	b := &Broker{release: release, dir: o.Dir}
	if err := b.start(o, host, n); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

func (b *Broker) start(o Options, host string, port int) error {
	c := &server.Options{
		ServerName: "blockyard", Host: host, Port: port, NoSigs: true, NoLog: true, MaxPayload: LargestMessage,
		JetStream: true, StoreDir: o.Dir, JetStreamMaxStore: o.Most, Nkeys: []*server.NkeyUser{{Nkey: o.Key}},
	}
	if o.Cert != "" {
		config, err := server.GenTLSConfig(&server.TLSConfigOpts{CertFile: o.Cert, KeyFile: o.CertKey})
		if err != nil {
			return fmt.Errorf("TLS: %w", err)
		}
		c.TLS, c.TLSConfig, c.TLSTimeout = true, config, 10
	}
	if port != server.RANDOM_PORT { // the server itself would only log that the port is in use
		l, err := net.Listen("tcp", o.Listen)
		if err != nil {
			return fmt.Errorf("broker address: %w: choose another with --listen HOST:PORT; port 0 selects a free one", err)
		}
		if err := l.Close(); err != nil {
			return err
		}
	}
	s, err := server.NewServer(c)
	if err != nil {
		return fmt.Errorf("broker: %w", err)
	}
	b.server = s
	s.Start()
	if !s.ReadyForConnections(brokerStart) || !s.JetStreamEnabled() {
		return fmt.Errorf("the broker did not start within %v: is the disk of %s full or not writable?", brokerStart, o.Dir)
	}
	b.url = "nats://" + s.Addr().String()
	if o.Cert != "" {
		b.url = "tls" + strings.TrimPrefix(b.url, "nats")
	}
	return nil
}

// URL is where workers find the broker.
func (b *Broker) URL() string { return b.url }

// probeBytes are written to find out whether there is room.
const probeBytes = 64 << 10

// Check returns why the broker cannot store messages, nil if it can. The server itself answers nobody then, and stores
// nothing until it is started again.
func (b *Broker) Check() error {
	probe := filepath.Join(b.dir, "probe")
	err := os.WriteFile(probe, make([]byte, probeBytes), 0o600)
	if removed := os.Remove(probe); err == nil {
		err = removed
	}
	if err == nil && !b.server.JetStreamEnabled() {
		err = errors.New("the server has switched JetStream off")
	}
	if err != nil {
		return fmt.Errorf("the broker cannot store messages in %s: free space on its disk, then continue the run with "+
			"--resume --cluster (%w)", b.dir, err)
	}
	return nil
}

// Close stops the broker.
func (b *Broker) Close() error {
	if b.server != nil {
		b.server.Shutdown()
		b.server.WaitForShutdown()
	}
	return b.release()
}
