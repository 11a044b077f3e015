package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"blockyard/rpc/client"
	"blockyard/rpc/server"
)

type pingCmd struct {
	Address string `arg:"" help:"Address of the server: unix:PATH, tcp:HOST:PORT or tls:HOST:PORT."`
	CA      string `name:"ca" type:"existingfile" placeholder:"FILE" help:"${ca_help}"`
	Token   string `env:"BLOCKYARD_TOKEN" placeholder:"TEXT" help:"Token that the server requires."`
}

// Run prints the round-trip time and the statistics of the server.
func (c *pingCmd) Run(ctx context.Context) error {
	var trust *tls.Config
	if c.CA != "" {
		pool, err := server.Authorities(c.CA)
		if err != nil {
			return err
		}
		trust = &tls.Config{RootCAs: pool}
	}
	conn, err := client.DialTLS(ctx, c.Address, c.Token, trust)
	if err != nil {
		return err
	}
	defer conn.Close()
	start := time.Now()
	if err := conn.Call("ping", nil); err != nil {
		return err
	}
	took := time.Since(start)
	var stats map[string]any
	if err := conn.Call("stats", &stats); err != nil {
		return err
	}
	fmt.Printf("%s answers in %v\n", c.Address, took)
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", "  ")
	return out.Encode(stats)
}
