package client

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
)

// Trust returns a config that trusts the certificates in a PEM file; nil, for the system's
// authorities, if path is empty.
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
		return nil, fmt.Errorf("%s has no certificates", path)
	}
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, nil
}
