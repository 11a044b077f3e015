package commands

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"blockyard/datasets/program"
	"blockyard/rpc/server/listen"
	"blockyard/rpc/wire/client"
)

// A pingCmd has the flags of "rpc ping". Its Run asks a server whether it is ready.
type pingCmd struct {
	Address string `arg:"" help:"Address of the server: unix:PATH, tcp:HOST:PORT, tls:HOST:PORT or http://HOST:PORT."`
	CA      string `name:"ca" type:"existingfile" placeholder:"FILE" help:"${ca_help}"`
	Token   string `env:"BLOCKYARD_TOKEN" placeholder:"TEXT" help:"Token that the server requires."`
}

// Help is printed with the flags.
func (*pingCmd) Help() string {
	return "http://HOST:PORT is the address of --http: then only its /healthz is asked, which needs no token."
}

// health asks for /healthz of a server with --http. Containers without a shell check their health so.
func health(ctx context.Context, address string, con *program.Console) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(address, "/")+"/healthz", nil)
	if err != nil {
		return err
	}
	reply, err := http.DefaultClient.Do(q)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s, want 200 OK: is it the address of --http?", q.URL, reply.Status)
	}
	_, err = fmt.Fprintln(con.Out, q.URL, "answers", reply.Status)
	return err
}

// Run prints the round-trip time and the statistics of the server.
func (c *pingCmd) Run(ctx context.Context, con *program.Console) error {
	if c.CA != "" && !strings.HasPrefix(c.Address, "tls:") {
		return program.Usage(fmt.Errorf("--ca is for an address that begins with tls:, not %s", c.Address))
	}
	if strings.HasPrefix(c.Address, "http://") {
		if c.Token != os.Getenv("BLOCKYARD_TOKEN") {
			return program.Usage(errors.New("--token has no effect with http://: its page needs none"))
		}
		return health(ctx, c.Address, con)
	}
	var trust *tls.Config
	if c.CA != "" {
		pool, err := listen.Authorities(c.CA)
		if err != nil {
			return err
		}
		trust = &tls.Config{RootCAs: pool}
	}
	conn, err := client.Dial(ctx, c.Address, c.Token, trust)
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
	fmt.Fprintf(con.Out, "%s answers in %v\n", c.Address, took)
	out := json.NewEncoder(con.Out)
	out.SetIndent("", "  ")
	return out.Encode(stats)
}
