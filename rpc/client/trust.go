package client

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
)

// Trust returns a configuration for DialTLS that trusts the certificates in a PEM file; nil, for
// the authorities of the system, if path is "".
func Trust(path string) (*tls.Config, error) {
	if path == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s: no certificate found, want a PEM file", path)
	}
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, nil
}
