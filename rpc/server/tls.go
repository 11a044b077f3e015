package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
)

// Credentials are the certificates of a TLS listener.
type Credentials struct {
	Cert, Key string // PEM files
	ClientCA  string // PEM file of the authorities that sign client certificates; "" if clients need none
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
	out := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	if c.ClientCA == "" {
		return out, nil
	}
	out.ClientAuth = tls.RequireAndVerifyClientCert
	out.ClientCAs, err = authorities(c.ClientCA)
	return out, err
}

// authorities loads a PEM file of certificates to trust.
func authorities(path string) (*x509.CertPool, error) {
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

// listenTLS listens for TLS. On an address that other machines can reach, clients need a token or a
// certificate.
func listenTLS(address, token string, c Credentials) (net.Listener, error) {
	config, err := c.Config()
	if err != nil {
		return nil, fmt.Errorf("listen tls:%s: %w", address, err)
	}
	addr, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen tls:%s: %w", address, err)
	}
	if token == "" && c.ClientCA == "" && !addr.IP.IsLoopback() {
		return nil, fmt.Errorf("listen tls:%s: other machines can reach this address: set a token (--token-file) or require certificates (--client-ca), or use 127.0.0.1", address)
	}
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", address)
	if err != nil {
		return nil, err
	}
	return &listener{Listener: l, name: "tls:" + l.Addr().String(), tls: config}, nil
}
