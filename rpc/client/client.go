// Package client speaks to a server from Go: for tests, measurements and small tools.
package client

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"blockyard/rpc/wire"
)

// A Client is one connection, for one goroutine.
type Client struct {
	conn    net.Conn
	r       *bufio.Reader
	id      uint32
	buf     []byte
	sharing []*Games
	until   time.Time // by when the present answers must have come
	// Timeout is how long an answer may take; 0 means for ever.
	Timeout time.Duration
}

// Dial connects to "unix:PATH" or "tcp:HOST:PORT" and says hello.
func Dial(ctx context.Context, address, token string) (*Client, error) {
	return DialTLS(ctx, address, token, nil)
}

// DialTLS is Dial that connects to "tls:HOST:PORT" too, trusting whom config says; nil
// trusts the system's authorities.
func DialTLS(ctx context.Context, address, token string, config *tls.Config) (*Client, error) {
	network, rest, ok := strings.Cut(address, ":")
	var conn net.Conn
	var err error
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
	if c, ok := conn.(interface{ SetReadBuffer(int) error }); ok {
		_ = c.SetReadBuffer(256 << 10) // what the kernel refuses is no error
	}
	c := New(conn)
	c.Timeout = 30 * time.Second
	hello := map[string]any{"proto": [2]int{1, 1}, "client": "blockyard-go"}
	if token != "" {
		hello["token"] = token
	}
	if err := c.Call("hello", nil, hello); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return c, nil
}

// New returns a client on a connection over which nothing has been said.
func New(conn net.Conn) *Client { return &Client{conn: conn, r: bufio.NewReader(conn)} }

// Close ends the session; the server frees what was opened in it. Slots are gone.
func (c *Client) Close() error {
	var errs []error
	for _, g := range c.sharing {
		errs = append(errs, g.unshare())
	}
	c.sharing = nil
	return errors.Join(append(errs, c.conn.Close())...)
}

// Call makes a request and decodes its result into the value that into points to, unless
// it is nil. What the server answers instead of a result is a *wire.Error.
func (c *Client) Call(method string, into any, params ...any) error {
	c.id++
	b, err := wire.AppendRequest(c.buf[:0], c.id, method, params...)
	if err != nil {
		return err
	}
	c.buf = b
	if err := c.send(); err != nil {
		return err
	}
	return c.receive(into)
}

func (c *Client) send() error {
	if now := time.Now(); c.Timeout > 0 && c.until.Sub(now) < c.Timeout { // in strides, as timers cost
		c.until = now.Add(c.Timeout + c.Timeout/4)
		if err := c.conn.SetDeadline(c.until); err != nil {
			return err
		}
	}
	_, err := c.conn.Write(c.buf)
	return err
}

func (c *Client) receive(into any) error {
	id, failure, err := wire.ReadResponse(c.r, into)
	switch {
	case err != nil:
		return err
	case failure != nil:
		return failure
	case id != c.id:
		return fmt.Errorf("the answer to request %d came for %d", id, c.id)
	}
	return nil
}

// Games are what a client opened together.
type Games struct {
	c    *Client
	H    uint32  `msgpack:"h"`
	Rows int     `msgpack:"rows"`
	Per  int     `msgpack:"rows_per_env"`
	N    int     `msgpack:"num_envs"`
	Len  int     `msgpack:"slab_len"`
	Unit int     `msgpack:"state_len"`
	All  []Field `msgpack:"layout"`
	// Slab is what the last answer said, Len bytes; see Field.
	Slab []byte `msgpack:"-"`
	mem  []byte
	// Slots are memory that the server sees too, after Share.
	Slots  []Slot `msgpack:"-"`
	shared [][]byte
}

// A Slot is room for one step.
type Slot struct {
	Slab    []byte
	Actions []byte // two bytes a row, little endian
}

// A Field is a part of the slab.
type Field struct {
	Name  string `msgpack:"name"`
	DType string `msgpack:"dtype"`
	Shape []int  `msgpack:"shape"`
	Off   int    `msgpack:"off"`
	Len   int    `msgpack:"len"`
}

// Open opens games with the options of PROTOCOL.md.
func (c *Client) Open(game string, options map[string]any) (*Games, error) {
	g := &Games{c: c}
	if err := c.Call("open", g, game, options); err != nil {
		return nil, err
	}
	const lead = 64 // keeps the slab aligned behind the head
	memory := make([]byte, lead+g.Len)
	g.mem, g.Slab = memory[lead-wire.HeadLen:], memory[lead:]
	return g, nil
}

// Field returns the part of the slab with this name, nil if there is none.
func (g *Games) Field(name string) []byte {
	for _, f := range g.All {
		if f.Name == name {
			return g.Slab[f.Off : f.Off+f.Len]
		}
	}
	return nil
}

// Step plays actions, two bytes a row, little endian, and fills Slab. It allocates
// nothing.
func (g *Games) Step(actions []byte) error {
	if err := g.Post(actions); err != nil {
		return err
	}
	return g.Wait()
}

// Post is the first half of Step; Wait, the second, must follow before anything else is
// asked over the connection.
func (g *Games) Post(actions []byte) error {
	c := g.c
	c.id++
	c.buf = wire.AppendStep(c.buf[:0], c.id, g.H, actions)
	return c.send()
}

// Wait waits for what Post asked for.
func (g *Games) Wait() error { return g.receive() }

// StepSlot plays the actions in slot k, and the server fills its slab. It allocates
// nothing.
func (g *Games) StepSlot(k int) error {
	if err := g.PostSlot(k); err != nil {
		return err
	}
	return g.WaitSlot()
}

// PostSlot is the first half of StepSlot, WaitSlot the second, as Post and Wait.
func (g *Games) PostSlot(k int) error {
	c := g.c
	c.id++
	c.buf = wire.AppendStepSlot(c.buf[:0], c.id, g.H, uint32(k))
	return c.send()
}

// WaitSlot waits for what PostSlot asked for.
func (g *Games) WaitSlot() error {
	c := g.c
	head, err := c.r.Peek(8)
	if err != nil {
		return err
	}
	if head[7] != 0xc0 {
		return c.receive(nil)
	}
	_, err = c.r.Discard(wire.DoneLen)
	return err
}

// Show calls a method that answers with the slab, such as reset, and fills Slab.
func (g *Games) Show(method string, params ...any) error {
	c := g.c
	c.id++
	b, err := wire.AppendRequest(c.buf[:0], c.id, method, append([]any{g.H}, params...)...)
	if err != nil {
		return err
	}
	c.buf = b
	if err := c.send(); err != nil {
		return err
	}
	return g.receive()
}

// Call calls any other method of the games' handle.
func (g *Games) Call(method string, into any, params ...any) error {
	return g.c.Call(method, into, append([]any{g.H}, params...)...)
}

// receive reads a slab, or the error in its place.
func (g *Games) receive() error {
	head, err := g.c.r.Peek(8)
	if err != nil {
		return err
	}
	if head[7] != 0xc0 {
		return g.c.receive(nil)
	}
	if _, err := io.ReadFull(g.c.r, g.mem); err != nil {
		return err
	}
	if n, ok := wire.ReadHead(g.mem, g.c.id); !ok || n != g.Len {
		return fmt.Errorf("the answer to request %d begins with % x", g.c.id, g.mem[:wire.HeadLen])
	}
	return nil
}

// Client returns the connection that the games were opened over.
func (g *Games) Client() *Client { return g.c }
