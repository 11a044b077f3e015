// Package client is a Go client of the server: for tests, benchmarks and small tools. The methods,
// their options and the fields of a slab are those of ../../PROTOCOL.md.
package client

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"blockyard/rpc/wire"
)

// A Client is one connection. Only one goroutine may use it at a time.
type Client struct {
	conn net.Conn
	r    *bufio.Reader
	id   uint32
	// Timeout is how long a response may take; 0 is no limit. Dial sets 30 seconds.
	Timeout time.Duration
}

// Dial connects to "unix:PATH", "tcp:HOST:PORT" or "tls:HOST:PORT" and sends hello, with the token if it is not "". A
// nil config trusts the authorities of the system.
func Dial(ctx context.Context, address, token string, config *tls.Config) (_ *Client, err error) {
	network, rest, ok := strings.Cut(address, ":")
	var conn net.Conn
	switch {
	case ok && (network == "unix" || network == "tcp"):
		conn, err = (&net.Dialer{}).DialContext(ctx, network, rest)
	case ok && network == "tls":
		conn, err = (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", rest)
	default:
		err = fmt.Errorf("address %q: want unix:PATH, tcp:HOST:PORT or tls:HOST:PORT", address)
	}
	if err != nil {
		return nil, err
	}
	c := New(conn)
	c.Timeout = 30 * time.Second
	if err := c.Hello(token); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return c, nil
}

// Hello is the first request of a connection, with the token if it is not "".
func (c *Client) Hello(token string) error {
	hello := map[string]any{"proto": [2]int{3, 0}, "client": "blockyard-go"}
	if token != "" {
		hello["token"] = token
	}
	return c.Call("hello", nil, hello)
}

// New returns a client on a fresh connection. The caller sends Hello.
func New(conn net.Conn) *Client { return &Client{conn: conn, r: bufio.NewReader(conn)} }

// Close ends the session, all of whose handles the server frees. Between two calls, Conn has nothing to read.
func (c *Client) Close() error { return c.conn.Close() }

// Conn returns the connection. Between two calls, nothing is left to be read from it.
func (c *Client) Conn() net.Conn { return c.conn }

// Call sends a request, waits for the response and decodes its result into the value that into
// points to, unless into is nil. An error from the server is a *wire.Error.
func (c *Client) Call(method string, into any, params ...any) error {
	c.id++
	request, err := wire.AppendRequest(nil, c.id, method, params...)
	if err != nil {
		return err
	}
	if c.Timeout > 0 {
		if err := c.conn.SetDeadline(time.Now().Add(c.Timeout)); err != nil {
			return err
		}
	}
	if _, err := c.conn.Write(request); err != nil {
		return cmp.Or(c.receive(nil), err) // a server that refuses a request before it has read it whole has said why
	}
	return c.receive(into)
}

func (c *Client) receive(into any) error {
	id, failure, err := wire.ReadResponse(c.r, into)
	switch {
	case err != nil:
		return err
	case failure != nil:
		return failure
	case id != c.id:
		return fmt.Errorf("response to request %d, want %d: is another goroutine using the client?", id, c.id)
	}
	return nil
}

// Games are the environments of one handle.
type Games struct {
	c          *Client
	H          uint32  `msgpack:"h"`            // the handle
	NumEnvs    int     `msgpack:"num_envs"`     // number of games
	RowsPerEnv int     `msgpack:"rows_per_env"` // rows of a game
	Rows       int     `msgpack:"rows"`         // NumEnvs * RowsPerEnv
	Len        int     `msgpack:"slab_len"`     // bytes of the slab
	StateLen   int     `msgpack:"state_len"`    // bytes of a game's snapshot
	Layout     []Field `msgpack:"layout"`
	// Opponents are the specs that the field opponent counts from 0. set_opponents returns more of them.
	Opponents []string `msgpack:"opponents"`
	// Slab holds the result of the last Step or CallSlab, which overwrites it; nil before the first. See Field.
	Slab []byte `msgpack:"-"`
}

// A Field is one array of the slab.
type Field struct {
	Name  string `msgpack:"name"`
	DType string `msgpack:"dtype"` // as in NumPy: "|u1", "<f4"
	Shape []int  `msgpack:"shape"`
	Off   int    `msgpack:"off"` // from the start of the slab
	Len   int    `msgpack:"len"` // bytes
}

// Open opens games with the options of "open" in PROTOCOL.md. Reset them before anything else.
func (c *Client) Open(game string, options map[string]any) (*Games, error) {
	g, number := new(Games), any(1)
	if err := c.Call("open", g, game, options); err != nil {
		return nil, err
	}
	if n, ok := options["num_envs"]; ok {
		number = n
	}
	if err := g.check(fmt.Sprint(number)); err != nil {
		return nil, fmt.Errorf("open: the server says what cannot be of %v games: %w", number, err)
	}
	g.c = c
	return g, nil
}

// mostPerRow is more than any game has in a slab for a row, in bytes.
const mostPerRow = 1 << 20

// check returns an error unless g is what open may return for a number of games.
func (g *Games) check(number string) error {
	switch {
	case strconv.Itoa(g.NumEnvs) != number || g.RowsPerEnv < 1 || g.RowsPerEnv > 256 || g.Rows != g.NumEnvs*g.RowsPerEnv:
		return fmt.Errorf("%d with %d rows each, %d rows", g.NumEnvs, g.RowsPerEnv, g.Rows)
	case g.Len < 1 || g.Len > g.Rows*mostPerRow || g.StateLen < 1 || g.StateLen > mostPerRow || len(g.Layout) == 0:
		return fmt.Errorf("a slab of %d bytes with %d fields and states of %d bytes, want at most %d for a row",
			g.Len, len(g.Layout), g.StateLen, mostPerRow)
	}
	for _, f := range g.Layout {
		if !f.fits(g.Len) {
			return fmt.Errorf("field %.40q, %.4q of %.80v, is %d bytes at %d of %d",
				f.Name, f.DType, f.Shape, f.Len, f.Off, g.Len)
		}
	}
	return nil
}

// fits reports whether a field is an array within a slab of so many bytes.
func (f *Field) fits(slab int) bool {
	if len(f.DType) != 3 || f.DType[2] < '1' || f.DType[2] > '8' {
		return false
	}
	size := int(f.DType[2] - '0')
	for _, n := range f.Shape {
		if n < 0 || n > 0 && size > slab/n {
			return false
		}
		size *= n
	}
	return size == f.Len && f.Off >= 0 && f.Off <= slab-size
}

// Field returns the bytes of the slab's field with this name, nil if there is none.
func (g *Games) Field(name string) []byte {
	for _, f := range g.Layout {
		if f.Name == name && len(g.Slab) == g.Len {
			return g.Slab[f.Off : f.Off+f.Len]
		}
	}
	return nil
}

// Reset restarts the games with the options of "reset" in PROTOCOL.md, nil for none, and fills Slab.
func (g *Games) Reset(options map[string]any) error { return g.CallSlab("reset", options) }

// Step plays the actions, one little-endian uint16 per row, and fills Slab.
func (g *Games) Step(actions []byte) error { return g.CallSlab("step", actions) }

// StepAt plays the actions in the caller's memory and fills a slab there, in this process: see server.Local.
func (g *Games) StepAt(actions, slab unsafe.Pointer) error {
	local, ok := g.c.conn.(interface {
		Step(h uint32, actions, slab unsafe.Pointer) bool
	})
	switch {
	case !ok:
		return errors.New("only a server in this process steps to memory of the caller: share slots and call step_slot")
	case local.Step(g.H, actions, slab):
		return nil
	}
	g.c.id = 0
	return g.c.receive(nil)
}

// CallSlab calls a method whose result is the slab, such as restore, and fills Slab.
func (g *Games) CallSlab(method string, params ...any) error {
	if err := g.Call(method, &g.Slab, params...); err != nil {
		return err
	}
	if len(g.Slab) != g.Len {
		return fmt.Errorf("%s: a slab of %d bytes, want %d", method, len(g.Slab), g.Len)
	}
	return nil
}

// Call calls any other method whose first parameter is the handle.
func (g *Games) Call(method string, into any, params ...any) error {
	return g.c.Call(method, into, append([]any{g.H}, params...)...)
}

// Client returns the connection over which the games were opened.
func (g *Games) Client() *Client { return g.c }
