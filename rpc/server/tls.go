package server

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
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
