package broker

import (
	_ "embed"
	"fmt"
	"strings"

	"blockyard/datasets/program"

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

//go:embed flags.toml
var flagTexts string

// Helps are the help texts of Flags.
var Helps = program.Texts(flagTexts)

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
