// Package listen opens the addresses of a server: unix sockets, TCP and TLS.
package listen

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"blockyard/datasets/program/disk"
	"blockyard/rpc/session/limits"
)

// bufferSize is the size of a connection's socket buffers. It is small enough that the pages of a slab move from one
// core to another within the cache: with 4 MiB, slabs of 1 to 6 MB take a third more processor time.
const bufferSize = 256 << 10

// Listen listens on "unix:PATH", "tcp:HOST:PORT" or "tls:HOST:PORT", which needs credentials. On an
// address other than loopback, TCP requires a token, and TLS a token or client certificates. A unix
// socket has mode 0600, replaces a stale socket file, and is removed when the listener is closed. As long
// as it exists, so does PATH.lock, which is locked: at any time at most one server listens there.
func Listen(address string, tokens []limits.Token, c Credentials) (net.Listener, error) {
	network, rest, ok := strings.Cut(address, ":")
	var l *listener
	var err error
	switch {
	case ok && network == "unix" && rest != "":
		l, err = listenUnix(rest)
	case ok && network == "tcp":
		l, err = listenTCP(rest, nil, len(tokens) > 0, "set a token (--token-file)")
	case ok && network == "tls":
		var config *tls.Config
		if config, err = c.Config(); err == nil {
			l, err = listenTCP(rest, config, len(tokens) > 0 || c.ClientCA != "",
				"set a token (--token-file) or require certificates (--client-ca)")
		}
	default:
		err = errors.New("want unix:PATH, tcp:HOST:PORT or tls:HOST:PORT")
	}
	if err != nil {
		return nil, fmt.Errorf("listen %s: %w", address, err)
	}
	l.name = network + ":" + l.Addr().String()
	if network == "unix" {
		l.name = address
	}
	return l, nil
}

func listenUnix(path string) (*listener, error) {
	// Two servers that start at the same moment must not take the same stale file for theirs to remove.
	release, err := disk.Acquire(path + ".lock")
	if errors.Is(err, disk.ErrHeld) {
		return nil, fmt.Errorf("another server listens there: stop it or choose another path (%w)", err)
	}
	if err != nil {
		return nil, err
	}
	l, err := bindUnix(path)
	if err != nil {
		return nil, errors.Join(err, release())
	}
	l.release = release
	return l, nil
}

// bindUnix replaces a stale socket file. The caller holds the lock of path.
func bindUnix(path string) (*listener, error) {
	if err := removeStale(path); err != nil {
		return nil, err
	}
	// Bind under another name, set the mode, then move: the socket is never open to others.
	temporary := fmt.Sprintf("%s.%d", path, os.Getpid())
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: temporary, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	if err := errors.Join(os.Chmod(temporary, 0o600), os.Rename(temporary, path)); err != nil {
		return nil, errors.Join(err, l.Close(), os.Remove(temporary))
	}
	info, err := os.Lstat(path)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return &listener{Listener: l, path: path, made: info}, nil
}

// removeStale removes a socket file on which no server listens. Any other file at path is an error.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return errors.New("a file that is not a socket is in the way: remove it or choose another path")
	}
	conn, err := net.DialTimeout("unix", path, time.Second)
	switch {
	case err == nil:
		return errors.Join(errors.New("another server listens there: stop it or choose another path"), conn.Close())
	case errors.Is(err, syscall.ECONNREFUSED):
		return os.Remove(path)
	}
	return err
}

// listenTCP listens on an address that other machines can reach only if clients prove who they are.
func listenTCP(address string, config *tls.Config, closed bool, advice string) (*listener, error) {
	addr, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, err
	}
	if !closed && !addr.IP.IsLoopback() {
		return nil, fmt.Errorf("other machines can reach this address: %s or use 127.0.0.1", advice)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	return &listener{Listener: l, tls: config}, nil
}

// A listener remembers its address as clients write it, and tunes the connections it accepts.
type listener struct {
	net.Listener
	name string
	path string      // of a socket file
	made fs.FileInfo // the file as it was made
	tls  *tls.Config

	release func() error // ends the lock of path
}

// Name returns the address of a listener that Listen returned, as a client writes it.
func Name(l net.Listener) string { return l.(*listener).name }

func (l *listener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	Tune(conn)
	if l.tls != nil {
		conn = tls.Server(conn, l.tls) // the handshake happens at the first read, within HelloTimeout
	}
	return conn, nil
}

// Close implements net.Listener. It removes the socket file unless another file replaced it.
func (l *listener) Close() error {
	err := l.Listener.Close()
	if l.path == "" {
		return err
	}
	if info, statErr := os.Lstat(l.path); statErr == nil && os.SameFile(info, l.made) {
		err = errors.Join(err, os.Remove(l.path))
	}
	return errors.Join(err, l.release())
}

// Tune sets the socket buffers of a connection for slabs and disables Nagle's algorithm, if the kernel agrees.
func Tune(conn net.Conn) {
	if c, ok := conn.(interface {
		SetReadBuffer(int) error
		SetWriteBuffer(int) error
	}); ok {
		_ = c.SetReadBuffer(bufferSize)
		_ = c.SetWriteBuffer(bufferSize)
	}
	if c, ok := conn.(*net.TCPConn); ok {
		_ = c.SetNoDelay(true)
	}
}

// Credentials are the certificates of a TLS listener.
type Credentials struct {
	Cert, Key string // PEM files
	ClientCA  string // PEM file of the authorities that sign client certificates; "" if clients need none
	TLS12     bool   // also allow TLS 1.2; otherwise 1.3 only
}

// Config loads the files.
func (c Credentials) Config() (*tls.Config, error) {
	if c.Cert == "" || c.Key == "" {
		return nil, errors.New("TLS needs a certificate and its key: set --cert and --key")
	}
	pair, err := tls.LoadX509KeyPair(c.Cert, c.Key)
	if err != nil {
		return nil, fmt.Errorf("certificate %s, key %s: %w", c.Cert, c.Key, err)
	}
	out := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS13}
	if c.TLS12 {
		out.MinVersion = tls.VersionTLS12
	}
	if c.ClientCA == "" {
		return out, nil
	}
	out.ClientAuth = tls.RequireAndVerifyClientCert
	out.ClientCAs, err = Authorities(c.ClientCA)
	return out, err
}

// Authorities loads a PEM file of certificates to trust.
func Authorities(path string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s: no certificate found, want a PEM file", path)
	}
	return pool, nil
}
