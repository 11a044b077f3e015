package client

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net"

	"golang.org/x/sys/unix"

	"blockyard/rpc/wire"
)

// Share appends to Slots memory that the server maps too: it reads actions there and writes slabs.
// The connection must be a unix socket.
func (g *Games) Share(slots int) error {
	var layout struct {
		Stride  int `msgpack:"stride"`
		Actions int `msgpack:"actions"`
		Len     int `msgpack:"len"`
	}
	fd, err := g.c.callForFile("share", &layout, g.H, slots)
	if err != nil {
		return err
	}
	memory, err := g.mapped(fd, layout.Len)
	if err != nil {
		return err
	}
	for at := 0; at < layout.Len; at += layout.Stride {
		slot := memory[at : at+layout.Stride]
		g.Slots = append(g.Slots, Slot{Slab: slot[:g.Len], Actions: slot[layout.Actions : layout.Actions+2*g.Rows]})
	}
	return nil
}

// ShareFinal returns memory to which the server writes the last observations of the games that a step ended,
// and its fields. The connection must be a unix socket, and the autoreset mode SameStep.
func (g *Games) ShareFinal() ([]byte, []Field, error) {
	var answer struct {
		Layout []Field `msgpack:"layout"`
		Len    int     `msgpack:"len"`
	}
	fd, err := g.c.callForFile("share_final", &answer, g.H)
	if err != nil {
		return nil, nil, err
	}
	memory, err := g.mapped(fd, answer.Len)
	return memory, answer.Layout, err
}

// mapped maps a file until the games are closed, and closes its descriptor.
func (g *Games) mapped(fd, size int) ([]byte, error) {
	defer unix.Close(fd)
	memory, err := unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mmap: %w", err)
	}
	if g.shared == nil {
		g.c.sharing = append(g.c.sharing, g)
	}
	g.shared = append(g.shared, memory)
	return memory, nil
}

func (g *Games) unshare() error {
	var errs []error
	for _, memory := range g.shared {
		errs = append(errs, unix.Munmap(memory))
	}
	g.shared, g.Slots = nil, nil
	return errors.Join(errs...)
}

// callForFile is Call for a method whose response carries a file descriptor.
func (c *Client) callForFile(method string, into any, params ...any) (fd int, err error) {
	conn, ok := c.conn.(*net.UnixConn)
	if !ok {
		return -1, errors.New("share: file descriptors can be passed over a unix socket only: dial unix:PATH")
	}
	if err := c.ask(method, params...); err != nil {
		return -1, err
	}
	fd = -1
	var message []byte
	for !wire.Whole(message) {
		part, oob := make([]byte, 4096), make([]byte, unix.CmsgSpace(4))
		n, oobn, _, _, err := conn.ReadMsgUnix(part, oob)
		if err != nil {
			return fd, err
		}
		message = append(message, part[:n]...)
		if got := fileIn(oob[:oobn]); got >= 0 {
			fd = got
		}
	}
	_, failure, err := wire.ReadResponse(bufio.NewReader(bytes.NewReader(message)), into)
	switch {
	case failure != nil:
		return fd, failure
	case err == nil && fd < 0:
		return fd, fmt.Errorf("%s: the response carries no file descriptor", method)
	}
	return fd, err
}

// fileIn returns the file descriptor in a control message, -1 if there is none.
func fileIn(oob []byte) int {
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return -1
	}
	for i := range messages {
		if fds, err := unix.ParseUnixRights(&messages[i]); err == nil && len(fds) > 0 {
			return fds[0]
		}
	}
	return -1
}
