package broker

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

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

// Helps are the help texts of Flags.
var Helps = kong.Vars{
	"cluster": "Let worker processes play; see train join. With an address, such as nats://HOST:4222, use the NATS " +
		"cluster there instead of a broker in this process.",
	"listen": "Where the broker in this process listens, such as 0.0.0.0:4222 for workers on other machines. " +
		"Port 0 selects a free one.",
	"tls_cert": "Certificate of that broker, a PEM file.",
	"tls_key":  "Private key of the certificate.",
	"creds":    "Key or NATS credentials for the broker.",
	"tls_ca":   "Authorities that the broker's certificate is checked with, a PEM file. Default: the system's.",
}

// A Flag is --cluster, which may have a value: the next argument, if it is an address.
type Flag struct {
	On  bool
	URL string // "" for a broker in this process
}

// IsBool lets the flag stand alone.
func (Flag) IsBool() bool { return true }

// Decode implements kong.MapperValue.
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
