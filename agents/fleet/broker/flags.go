package broker

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
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

// Connect connects to the broker at an address.
func (f *ClientFlags) Connect(address, name string, log *slog.Logger) (*Conn, error) {
	return Connect(Link{URL: address, Creds: f.Creds, CA: f.TLSCA, Name: name}, log)
}

// A Site is a broker, in this process or external, and the connection to it.
type Site struct {
	*Conn
	Join string // the command line with which workers join

	own *Broker
	dir string // of it
}

// Embedded reports whether the broker is in this process, and ends with it.
func (s *Site) Embedded() bool { return s.own != nil }

// Check returns why an embedded broker cannot store messages; see Broker.Check.
func (s *Site) Check() error {
	if s.own == nil {
		return nil
	}
	return s.own.Check()
}

// keyFile holds the key of the workers, in the folder of the run.
const keyFile = "worker.nk"

// Open connects to the broker of the flags. An embedded one has its files, and the key of the workers, in a folder.
func (f *Flags) Open(folder, name string, log *slog.Logger) (*Site, error) {
	s := &Site{dir: filepath.Join(folder, "broker")}
	link := Link{URL: f.Cluster.URL, Creds: f.Creds, CA: f.TLSCA, Name: name}
	if link.URL == "" {
		link.Creds = filepath.Join(folder, keyFile)
		if err := s.embed(f, folder, link.Creds); err != nil {
			return nil, err
		}
		link.URL, link.Broker = s.own.URL(), s.own
	}
	var err error
	if s.Conn, err = Connect(link, log); err != nil {
		return nil, errors.Join(err, s.Close(false))
	}
	s.Join = "train join " + link.URL
	if link.Creds != "" {
		s.Join += " --creds " + link.Creds
	}
	if f.TLSCA != "" {
		s.Join += " --tls-ca " + f.TLSCA
	}
	return s, nil
}

func (s *Site) embed(f *Flags, folder, keyPath string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	key, err := NewKey(keyPath)
	if err != nil {
		return err
	}
	s.own, err = Start(Options{Listen: f.Listen, Dir: s.dir, Key: key, Cert: f.TLSCert, CertKey: f.TLSKey})
	return err
}

// Close ends the connection, and stops an embedded broker. finished says that its files are of no use any more.
func (s *Site) Close(finished bool) error {
	if s.Conn != nil {
		s.Conn.Close()
	}
	if s.own == nil {
		return nil
	}
	err := s.own.Close()
	if finished {
		err = errors.Join(err, os.RemoveAll(s.dir))
	}
	return err
}
