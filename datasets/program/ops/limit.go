package ops

import (
	"net"
	"sync"
)

// Limit returns a listener that has at most so many open connections. Others wait to be accepted.
func Limit(l net.Listener, most int) net.Listener {
	return &limitListener{l, make(chan struct{}, most)}
}

type limitListener struct {
	net.Listener
	places chan struct{}
}

// Accept implements net.Listener.
func (g *limitListener) Accept() (net.Conn, error) {
	g.places <- struct{}{}
	c, err := g.Listener.Accept()
	if err != nil {
		<-g.places
		return nil, err
	}
	return limitedConn{c, sync.OnceFunc(func() { <-g.places })}, nil
}

// A limitedConn is a connection that frees its place when it is closed.
type limitedConn struct {
	net.Conn
	free func()
}

// Close implements net.Conn.
func (c limitedConn) Close() error {
	c.free()
	return c.Conn.Close()
}
